"""Old code from files: Python 2 and 3, notebooks, and a clear word for the rest."""

import ast
import contextlib
import json
import os
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tools.port import library, python2
from tools.port.edits import Edit, Places, Text, applied
from tools.port.names import Reader
from tools.port.syntax import Aliases, Use

ENDINGS = (".py", ".ipynb")
SKIPPED = {"__pycache__", "node_modules", "site-packages"}
# A magic before a line of Python leaves it where it stands, under an `if` as wide.
_TIMED = re.compile(r"^(\s*)(%(?:time|timeit|prun|memit))(?=\s+[^-\s])", re.M)
_MAGIC = re.compile(r"^(\s*)([%!?].*|.*\?)$", re.M)
_CELL = re.compile(r"^\s*%%(?:time|timeit|capture|prun|writefile)\b")


class Unreadable(Exception):
    """A file from which no name can be read; the message is the clear word."""


class Part(NamedTuple):
    """A file of Python, or a cell of a notebook.

    Attributes:
      cell: its number; `None` outside of notebooks.
      text: as it was found.
      edits: what makes Python 3 of it.
      tree: of the edited text; `None` where it cannot be parsed.
      uses: the names in it, at their places in the edited text.
      imports: its statements that import.
    """

    cell: int | None
    text: str
    edits: list[Edit]
    tree: ast.Module | None
    uses: list[Use]
    imports: list

    @property
    def edited(self) -> Text:
        """Returns the text of Python 3 to which places of the tree belong."""
        return Text(applied(self.text, self.edits))

    def places(self) -> list[tuple[int, int]]:
        """Returns line and column of each use in the text as it was found."""
        edited, moves, original = self.edited, Places(self.edits), Text(self.text)
        return [original.place(moves.before(edited.offset(use.line, use.column - 1)))
                for use in self.uses]


class Source(NamedTuple):
    """A file as it was read.

    Attributes:
      path: as it was asked for.
      parts: what is Python in it.
      words: what is to be said of the file: "Python 2", "syntax error in line 3".
      whole: whether every line could be parsed.
      names: what its own names stand for.
      neighbours: the files of the same folder that it imports.
    """

    path: Path
    parts: list[Part]
    words: list[str]
    whole: bool
    names: Aliases
    neighbours: list[Path]

    @property
    def uses(self) -> list[Use]:
        """Returns all names in order."""
        return [use for part in self.parts for use in part.uses]


def files_of(path: Path) -> Iterator[Path]:
    """Yields a file itself, or what is Python in a folder, in order.

    Raises:
      Unreadable: there is nothing at this path.
    """
    if path.is_file():
        yield path
    elif path.is_dir():
        for folder, inside, names in os.walk(path):
            inside[:] = sorted(d for d in inside
                               if d not in SKIPPED and not d.startswith("."))
            files = [Path(folder) / n for n in sorted(names) if n.endswith(ENDINGS)]
            yield from (file for file in files if file.is_file())  # no pipe, no socket
    else:
        raise Unreadable("there is no such file or folder")


class Project:
    """The files of a folder, each read once and before those that import it."""

    def __init__(self, paths: list[Path], root: Path, exists):
        """Reads them all.

        Args:
          paths: the files.
          root: the folder; imports are looked for in it and in each file's own.
          exists: as for `Reader`.
        """
        self.sources: dict[Path, Source] = {}
        self._exists = exists
        self._root = root if root.is_dir() else root.parent
        self._paths, self._open = set(paths), set[Path]()
        for path in paths:
            self.source(path)
        self.sources = {path: self.sources[path] for path in paths}

    def source(self, path: Path) -> Source:
        """Returns a file as it was read."""
        if path not in self.sources:
            self._open.add(path)
            self.sources[path] = self._read(path)
        return self.sources[path]

    def _find(self, path: Path, module: str, level: int) -> Path | None:
        """Returns the file that an import means, `None` for what lies elsewhere."""
        homes = [path.parent, *path.parent.parents]
        homes = homes[level - 1:level] if level else [
            home for home in homes if home == self._root or self._root in home.parents]
        for home in homes:
            place = home.joinpath(*filter(None, module.split(".")))
            for file in (place.with_name(place.name + ".py"), place / "__init__.py"):
                if file in self._paths and file != path:
                    return file
        return None

    def _read(self, path: Path) -> Source:
        neighbours: dict[Path, None] = {}

        def exports(module: str, level: int) -> Aliases | None:
            found = self._find(path, module, level)
            if found is None:
                return {} if level or self._is_folder(path, module) else None
            neighbours[found] = None
            if found in self._open and found not in self.sources:
                return {}  # two files that import each other
            return self.source(found).names

        words: list[str] = []
        reader = Reader(self._exists, library.gone, exports)
        try:
            text = _text(path, words)
            cells = list(_cells(text)) if path.suffix == ".ipynb" else [(None, text)]
        except Unreadable as error:
            return Source(path, [], [str(error)], False, {}, [])
        if _is_snippet("\n".join(code for _, code in cells)):
            reader.top.names["tf"] = "tf"
            words.append("no import: tf is taken for TensorFlow")
        parts = [_part(reader, cell, code, words) for cell, code in cells]
        words += [f"line {line}: {note}" for line, note in reader.notes]
        if not any(code.strip() for _, code in cells):
            words.append("empty")
        whole = all(part.tree for part in parts)
        return Source(path, parts, list(dict.fromkeys(words)), whole,
                      reader.top.names, list(neighbours))

    def _is_folder(self, path: Path, module: str) -> bool:
        place = Path(*module.split(".")) if module else Path(".")
        return bool(module) and any(
            (home / place).is_dir() for home in (path.parent, self._root))


def read(path: Path, exists) -> Source:
    """Reads one file; whatever is wrong with it becomes a word."""
    return Project([path], path, exists).source(path)


def _is_snippet(code: str) -> bool:
    """Whether code uses `tf.` and binds it nowhere, as a piece of a program does."""
    bound = r"\btf\s*=[^=]|\bas tf\b|import tf\b|import \*"
    return bool(re.search(r"(?<![\w.])tf\.\w", code) and not re.search(bound, code))


def _text(path: Path, words: list[str]) -> str:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror}") from error
    if b"\0" in raw[:65536]:
        raise Unreadable("binary, not Python: not read")
    try:
        coding, _ = tokenize.detect_encoding(iter(raw.splitlines(True)).__next__)
        text = raw.decode(coding)
    except (SyntaxError, UnicodeDecodeError, LookupError):
        text = raw.decode("latin-1")
        words.append("not UTF-8: read as Latin-1")
    return re.sub(r"\r\n?|\f", "\n", text.removeprefix("\ufeff"))


def code_cells(notebook: dict) -> list[tuple[int, dict, str]]:
    """Returns number, cell and key of the source of each cell of code."""
    cells = notebook["cells"] if "cells" in notebook else [
        cell for sheet in notebook["worksheets"] for cell in sheet["cells"]]
    return [(number, cell, "source" if "source" in cell else "input")
            for number, cell in enumerate(cells) if cell["cell_type"] == "code"]


def _cells(text: str) -> Iterator[tuple[int, str]]:
    """Yields the number of each code cell and its text."""
    if not text.strip():
        return
    try:
        for number, cell, key in code_cells(json.loads(text)):
            source = cell.get(key, "")
            yield number, source if isinstance(source, str) else "".join(source)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Unreadable("a damaged notebook: its JSON cannot be read") from error


def masked(code: str) -> str:
    """Returns a cell with its magics made harmless; what is Python keeps its place."""
    if re.match(r"\s*%%", code) and not _CELL.match(code):
        return ""
    code = _TIMED.sub(lambda found: f"{found[1]}if 1{':':>{len(found[2]) - 4}}", code)
    return _MAGIC.sub(lambda found: f"{found[1]}0".ljust(len(found[0])), code)


def _part(reader: Reader, cell: int | None, text: str, words: list[str]) -> Part:
    """Reads code into the reader."""
    code = text if cell is None else masked(text)
    where = "" if cell is None else f"cell {cell}: "
    edits: list[Edit] = []
    tree = None
    try:
        tree = python2.parse(code)
    except SyntaxError as error:
        first = error
        try:
            edits, tree = python2.translated(code)
            words.append("Python 2")
        except SyntaxError as second:
            edits = list(python2.syntax(code))
            first = second if edits else error
            words += ["Python 2"] if edits else []
            words.append(f"{where}syntax error in line {first.lineno}: read as far as "
                         "it goes")
    if tree:
        reader.read(tree)
    else:
        for start, block in _blocks(applied(code, edits)):
            with contextlib.suppress(SyntaxError):  # the one that is broken
                reader.read(ast.increment_lineno(python2.parse(block), start))
    part = Part(cell, text, edits, tree, _in_order(reader.uses), reader.imports)
    reader.uses, reader.imports = [], []
    return part


def _blocks(code: str) -> Iterator[tuple[int, str]]:
    """Yields top-level statements of broken code, with the lines that precede each."""
    lines, start = code.split("\n"), 0
    for number in range(1, len(lines) + 1):
        ends = number == len(lines) or (
            re.match(r"[^\s)\]}#]", lines[number])
            and not re.match(r"(else|elif|except|finally)\b", lines[number])
            and not lines[number - 1].startswith("@"))
        if ends:
            yield start, "\n".join(lines[start:number])
            start = number


def _in_order(uses: list[Use]) -> list[Use]:
    """Returns each place once, with its arguments where they are known."""
    places: dict[tuple, Use] = {}
    for use in sorted(uses, key=lambda use: (use.line, use.column, use.call is None)):
        places.setdefault((use.line, use.column, use.name), use)
    return list(places.values())
