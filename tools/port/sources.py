"""Old code from files: Python 2 and 3, notebooks, and a clear word for the rest."""

import ast
import json
import os
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tools.port import python2
from tools.port.names import Reader, Use, canonical

ENDINGS = (".py", ".ipynb")
SKIPPED = {"__pycache__", "node_modules", "site-packages"}
_IMPORT = re.compile(
    r"^\s*(?:import\s+(?P<module>tensorflow[\w.]*)(?:\s+as\s+(?P<local>\w+))?"
    r"|from\s+(?P<parent>tensorflow[\w.]*)\s+import\s+(?P<names>[\w ,]+))")


class Unreadable(Exception):
    """A file from which no name can be read; the message is the clear word."""


class Source(NamedTuple):
    """A file as it was read.

    Attributes:
      path: as it was asked for.
      uses: `(cell, use)` in order; the cell is `None` outside of notebooks.
      words: what is to be said of the file: "Python 2", "syntax error in line 3".
      whole: whether every line could be parsed.
    """

    path: Path
    uses: list[tuple[int | None, Use]]
    words: list[str]
    whole: bool


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


def read(path: Path, exists) -> Source:
    """Reads one file; whatever is wrong with it becomes a word.

    Args:
      path: any file.
      exists: as for `Reader`.
    """
    words: list[str] = []
    try:
        text = _text(path, words)
        cells = list(_cells(text)) if path.suffix == ".ipynb" else [(None, text)]
    except Unreadable as error:
        return Source(path, [], [str(error)], False)
    reader, found, whole = Reader(exists), [], True
    if _is_snippet("\n".join(code for _, code in cells)):
        reader.aliases["tf"] = "tf"
        words.append("no import: tf is taken for TensorFlow")
    for cell, code in cells:
        whole &= _read_cell(reader, code, words, cell)
        found += [(cell, use) for use in _in_order(reader.uses)]
        reader.uses = []
    words += [f"line {line}: {note}" for line, note in reader.notes]
    if not any(code.strip() for _, code in cells):
        words.append("empty")
    return Source(path, found, list(dict.fromkeys(words)), whole)


def _is_snippet(code: str) -> bool:
    """Whether code uses `tf.` and binds it nowhere, as a piece of a program does."""
    return bool(re.search(r"(?<![\w.])tf\.\w", code)
                and not re.search(r"\btf\s*=[^=]|\bas tf\b|import tf\b", code))


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


def _cells(text: str) -> Iterator[tuple[int, str]]:
    """Yields the number of each code cell and its Python, magics made harmless."""
    if not text.strip():
        return
    try:
        notebook = json.loads(text)
        cells = notebook["cells"] if "cells" in notebook else [
            cell for sheet in notebook["worksheets"] for cell in sheet["cells"]]
        for number, cell in enumerate(cells):
            if cell["cell_type"] == "code":
                source = cell.get("source", cell.get("input", ""))
                code = source if isinstance(source, str) else "".join(source)
                if not re.match(r"\s*%%(?!time|capture)", code):
                    yield number, re.sub(r"^(\s*)([%!?].*|.*\?)$", r"\1pass", code,
                                         flags=re.M)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Unreadable("a damaged notebook: its JSON cannot be read") from error


def _read_cell(reader: Reader, code: str, words: list[str], cell) -> bool:
    """Reads code into the reader; returns whether all of it could be parsed."""
    where = "" if cell is None else f"cell {cell}: "
    try:
        reader.read(python2.parse(code))
        return True
    except SyntaxError as error:
        first = error
    old = python2.looks_like(code) or isinstance(first, TabError)
    if old:
        words.append("Python 2")
        try:
            reader.read(python2.parse(python2.translated(code)))
            return True
        except SyntaxError as error:
            first = error
    words.append(f"{where}syntax error in line {first.lineno}: read as far as it goes")
    for start, block in _blocks(python2.translated(code) if old else code):
        _read_block(reader, start, block)
    return False


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


def _read_block(reader: Reader, start: int, block: str) -> None:
    """Reads one statement, or its lines where it cannot be parsed."""
    try:
        tree = python2.parse(block)
        reader.read(ast.increment_lineno(tree, start))
        return
    except SyntaxError:
        pass
    for number, line in enumerate(block.split("\n"), start + 1):
        _read_line(reader, number, line.split("#")[0])


def _read_line(reader: Reader, number: int, line: str) -> None:
    """Finds names by their spelling alone."""
    if found := _IMPORT.match(line):
        _read_import(reader, number, found)
        return
    for name in re.finditer(r"(?<![\w.'\"])[A-Za-z_]\w*(\s*\.\s*[A-Za-z_]\w*)*", line):
        parts = re.sub(r"\s", "", name[0]).split(".")
        if full := reader.aliases.get(parts[0]):
            use = Use(number, name.start() + 1, ".".join([full, *parts[1:]]), None)
            reader.uses += [use] if use.name not in ("tf", "tf.compat.v1") else []


def _read_import(reader: Reader, number: int, found: re.Match) -> None:
    if module := found["module"]:
        full = canonical(module)
        reader.aliases[found["local"] or "tensorflow"] = (
            full if found["local"] else "tf")
        if full not in ("tf", "tf.compat.v1"):
            reader.uses.append(Use(number, found.start("module") + 1, full, None))
        return
    for part in found["names"].split(","):
        name, _, local = part.strip().partition(" as ")
        full = f"{canonical(found['parent'])}.{name}"
        reader.aliases[local.strip() or name] = full
        reader.uses.append(Use(number, found.start("names") + 1, full, None))


def _in_order(uses: list[Use]) -> list[Use]:
    """Returns each place once, with its arguments where they are known."""
    places: dict[tuple, Use] = {}
    for use in sorted(uses, key=lambda use: (use.line, use.column, use.call is None)):
        places.setdefault((use.line, use.column, use.name), use)
    return list(places.values())
