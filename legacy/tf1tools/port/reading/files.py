"""Reads files of Python 2, Python 3 and notebooks, as far as they can be parsed."""

import ast
import contextlib
import json
import math
import re
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tf1tools.port.rule import HOOKS
from tf1tools.port.text.edits import Edit, applied
from tf1tools.port.text.syntax import parse

ENDINGS = (".py", ".ipynb")
NOT_UTF_8 = "not UTF-8, so it was read as Latin-1"
SKIPPED = {"__pycache__", "node_modules", "site-packages"}
# A magic before a statement is replaced with an `if 1:` of the same width.
_TIMED = re.compile(r"^(\s*)(%(?:time|timeit|prun|memit))(?=\s+[^-\s])", re.M)
_MAGIC = re.compile(r"^(\s*)([%!?].*|.*\?)$", re.M)
_CELL = re.compile(r"^\s*%%(?:time|timeit|capture|prun|writefile)\b")


class Unreadable(Exception):
    """Error that a file contains no readable code; the message is the reason."""


class Parsed(NamedTuple):
    """Result of parsing a piece of code.

    Attributes:
      edits: Edits that convert the code to Python 3.
      tree: Syntax tree of the edited code, or `None` if it cannot be parsed.
      words: Remarks on the code.
      wrong: Line number and reason of the syntax error, if there is no tree.
    """

    edits: list[Edit]
    tree: ast.Module | None
    words: tuple[str, ...] = ()
    wrong: tuple[int, str] = (1, "")


def files_of(path: Path) -> Iterator[Path]:
    """Yields a file itself, or the Python files and notebooks in a folder.

    Raises:
      Unreadable: If there is no such file or folder.
    """
    if path.is_file():
        yield path
    elif path.is_dir():
        # Pipes and sockets are skipped, and so are links, which are copied as links.
        yield from (file for file in walk(path, _is_hidden)
                    if file.name.endswith(ENDINGS) and not file.is_symlink()
                    and file.is_file())
    else:
        raise Unreadable(f"No such file or directory: {path}")


def _is_hidden(path: Path) -> bool:
    """Returns whether a folder belongs to a tool instead of the program."""
    return path.is_dir() and (path.name in SKIPPED or path.name.startswith("."))


def walk(folder: Path, leave_out: Callable[[Path], bool]) -> Iterator[Path]:
    """Yields all paths in a folder in order, each folder before its contents.

    Links are yielded but not followed. There is no recursion, so folders may be nested
    to any depth.

    Args:
      folder: The folder.
      leave_out: Function that returns whether to skip a path and its contents.
    """
    ahead = [folder]
    while ahead:
        path = ahead.pop()
        if path is not folder:
            yield path
        if path.is_dir() and (path is folder or not path.is_symlink()):
            with contextlib.suppress(OSError):  # the folder is not readable
                inside = sorted(path.iterdir(), key=lambda each: (
                    each.is_dir() and not each.is_symlink(), each.name))
                ahead += [each for each in inside[::-1] if not leave_out(each)]


def is_snippet(code: str) -> bool:
    """Returns whether code uses `tf` without importing or assigning it."""
    bound = r"\btf\s*=[^=]|\bas tf\b|import tf\b|import \*"
    return bool(re.search(r"(?<![\w.])tf\.\w", code) and not re.search(bound, code))


class Decoded(NamedTuple):
    """Text of a file, with the encoding of its bytes."""

    text: str
    coding: str


def decoded(path: Path, words: list[str]) -> Decoded:
    """Decodes a file, as Latin-1 with a remark if its encoding is unknown.

    Args:
      path: Path of the file.
      words: List of remarks, to which a remark may be added.

    Raises:
      Unreadable: If the file cannot be read, or if it is not text.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise Unreadable(f"The file cannot be read: {error.strerror}.") from error
    if b"\0" in raw[:65536]:
        raise Unreadable("This is a binary file, not Python code.")
    try:
        coding, _ = tokenize.detect_encoding(iter(raw.splitlines(True)).__next__)
        coding = "utf-8" if coding == "utf-8-sig" else coding
        return Decoded(raw.decode(coding), coding)
    except (SyntaxError, UnicodeError, LookupError):  # a codec may raise any of them
        words.append(NOT_UTF_8)
        return Decoded(raw.decode("latin-1"), "latin-1")


def with_plain_newlines(text: str) -> str:
    """Converts all line endings to newlines, without moving any character.

    A line ending of two characters becomes a space and a newline. After a backslash,
    where no space is allowed, the space comes before the backslash. A byte-order mark
    at the beginning becomes a form feed, which Python ignores like a space.
    """
    if text.startswith("\ufeff"):
        text = "\f" + text[1:]
    for found, plain in (("\\\r\n", " \\\n"), ("\r\n", " \n"), ("\r", "\n")):
        text = text.replace(found, plain)
    return text


def code_cells(notebook: dict) -> list[tuple[int, dict, str]]:
    """Returns index, cell and source key of each code cell in a notebook."""
    cells = notebook["cells"] if "cells" in notebook else [
        cell for sheet in notebook["worksheets"] for cell in sheet["cells"]]
    return [(number, cell, "source" if "source" in cell else "input")
            for number, cell in enumerate(cells) if cell["cell_type"] == "code"]


def notebook(text: str) -> dict:
    """Parses a notebook, so that all that `port` reads or changes in it is there.

    Raises:
      Unreadable: If it is no notebook, or if it has a number that no float can hold.
    """
    try:
        found = json.loads(text, parse_float=_finite)
        found.get("metadata", {}).get("kernelspec", {}).get("name")
        for _, cell, key in code_cells(found):
            _source(cell, key)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Unreadable(
            f"This file is not a valid notebook ({type(error).__name__}: {error})."
        ) from error
    return found


def _finite(text: str) -> float:
    """Converts a number of JSON; as an infinity it would be no JSON in the copy."""
    if math.isinf(number := float(text)):
        raise ValueError(f"The number {text} is too large for a float.")
    return number


def _source(cell: dict, key: str) -> str:
    """Returns the text of a cell, which may be a list of its lines."""
    lines = cell.get(key, "")
    return "".join([lines] if isinstance(lines, str) else [*lines])


def cells(text: str) -> Iterator[tuple[int, str]]:
    """Yields the number of each code cell and its text."""
    if text.strip():
        for number, cell, key in code_cells(notebook(text)):
            yield number, _source(cell, key)


def masked(code: str) -> str:
    """Replaces IPython magics with harmless Python of the same length."""
    if re.match(r"\s*%%", code) and not _CELL.match(code):
        return ""
    code = _TIMED.sub(lambda found: f"{found[1]}if 1{':':>{len(found[2]) - 4}}", code)
    return _MAGIC.sub(lambda found: f"{found[1]}0".ljust(len(found[0])), code)


def parsed(code: str) -> Parsed:
    """Parses Python 3, or Python 2 after the rules have converted it."""
    tree, wrong = _tried(code)
    edits = [edit for hook in HOOKS["text"] for edit in hook.ask(code, tree)]
    if edits:
        tree, wrong = _tried(applied(code, edits))
    words = [f"syntax error in line {wrong[0]}: only parts could be read"] * (not tree)
    return Parsed(edits, tree, (*["Python 2"] * bool(edits), *words), wrong)


def _tried(code: str) -> tuple[ast.Module | None, tuple[int, str]]:
    """Returns the syntax tree, or else the line and reason of the syntax error."""
    try:
        return parse(code), (1, "")
    except SyntaxError as error:
        line = error.lineno or 1
        text = code.split("\n")[line - 1] if line <= code.count("\n") + 1 else ""
        word = re.search(r"\bimport\b.*\b(None|True|False|print|exec)\b", text)
        return None, (line, f"{word[1]} cannot be imported in Python 3" if word
                      else error.msg)


def pieces(code: str) -> Iterator[ast.Module]:
    """Yields the trees of those statements in broken code that can be parsed."""
    for start, block in _blocks(code):
        with contextlib.suppress(SyntaxError):  # skip the broken statement
            yield ast.increment_lineno(parse(block), start)


def _blocks(code: str) -> Iterator[tuple[int, str]]:
    """Yields the top-level statements of broken code, with their line offsets."""
    lines, start = code.split("\n"), 0
    for number in range(1, len(lines) + 1):
        ends = number == len(lines) or (
            re.match(r"[^\s)\]}#]", lines[number])
            and not re.match(r"(else|elif|except|finally)\b", lines[number])
            and not lines[number - 1].startswith("@"))
        if ends:
            yield start, "\n".join(lines[start:number])
            start = number
