"""The exercises of a lesson as its notebooks have them: names, checks and cells."""

import ast
import re
from pathlib import Path
from typing import NamedTuple

import nbformat

from helpers.errors import DataError
from helpers.reading import read_json
from tools import notebook as nb
from tools import stubs

HEADING = re.compile(r"^## (Exercise \d+: .*)$", re.M)
_CHECK = r"\b(check_\w+)\({name}\)"


class Cell(NamedTuple):
    """What counts of a cell in a file that anybody may have written.

    Attributes:
      kind: `code`, `markdown` or anything else.
      source: its text.
      tags: those that are text.
      said: the text of each output, in its order.
    """

    kind: str
    source: str
    tags: tuple[str, ...] = ()
    said: tuple[str, ...] = ()


def read_cells(path: Path) -> list[Cell]:
    """Returns the cells of a notebook; of what is odd in them, nothing.

    Args:
      path: of a file that may hold anything.

    Raises:
      ValueError: it is no notebook of version 4; says why in a few words.
    """
    try:
        cells = read_json(path, {"cells": list})["cells"]
        return [_cell(cell) for cell in cells if isinstance(cell, dict)]
    except DataError as error:
        raise ValueError("cannot be read as a notebook: save it again in JupyterLab "
                         f"({str(error).removeprefix(f'{path}: ')})") from error


def _cell(cell: dict) -> Cell:
    tags = _dict(cell.get("metadata")).get("tags")
    outputs = cell.get("outputs")
    outputs = map(_dict, outputs) if isinstance(outputs, list) else ()
    said = (_text(output.get("text"))
            or _text(_dict(output.get("data")).get("text/plain"))
            for output in outputs)
    return Cell(str(cell.get("cell_type")), _text(cell.get("source")),
                tuple(tag for tag in tags if isinstance(tag, str))
                if isinstance(tags, list) else (), tuple(said))


def _dict(value: object) -> dict:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    """Returns text, which a notebook may keep as a list of its lines."""
    lines = value if isinstance(value, list) else [value]
    return "".join(line for line in lines if isinstance(line, str))


class Exercise(NamedTuple):
    """One exercise of a lesson.

    Attributes:
      lesson: for example `01a_variable_scope`.
      title: for example `Exercise 1: siamese`.
      name: of the function or class to write.
      check: the name of its check in `helpers.checks.lesson_NN`.
    """

    lesson: str
    title: str
    name: str
    check: str


def exercises(lesson: Path) -> list[Exercise]:
    """Returns the exercises of a lesson, in its order."""
    solution = nbformat.read(nb.solution(lesson), as_version=4)
    cells = nbformat.read(lesson, as_version=4).cells
    text = "\n".join(cell.source for cell in cells)
    titles = HEADING.findall(text)
    found = []
    for title, cell in zip(titles, stubs.exercise_cells(solution), strict=True):
        name = ast.parse(cell.source).body[0].name
        check = re.search(_CHECK.format(name=name), text)
        found.append(Exercise(lesson.stem, title, name, check[1]))
    return found


def setup(lesson: Path) -> list[str]:
    """Returns the code cells of the solutions that come before the first exercise."""
    solution = nbformat.read(nb.solution(lesson), as_version=4)
    first = solution.cells.index(stubs.exercise_cells(solution)[0])
    return [c.source for c in solution.cells[:first] if c.cell_type == "code"]


def section(lesson: Path) -> list[nbformat.NotebookNode]:
    """Returns the cells of a lesson from its first exercise to the end of its last."""
    cells = nbformat.read(lesson, as_version=4).cells
    heads = [k for k, cell in enumerate(cells)
             if cell.cell_type == "markdown" and HEADING.search(cell.source)]
    start, last = heads[0], heads[-1]
    cells[start].source = cells[start].source[HEADING.search(
        cells[start].source).start():]
    for end in range(last + 1, len(cells)):
        other = re.search(r"^## ", cells[end].source, re.M)
        if cells[end].cell_type == "markdown" and other:
            break
    return cells[start:end]


def taught(lesson: Path) -> list[str]:
    """Returns what a lesson defines before its exercises and costs nothing to run.

    These are its imports, functions, classes and constants at the top level: what an
    answer may build on. Statements that compute are left out.
    """
    cells = nbformat.read(lesson, as_version=4).cells
    heads = [k for k, cell in enumerate(cells)
             if cell.cell_type == "markdown" and HEADING.search(cell.source)]
    statements = []
    for cell in cells[: heads[0]]:
        if cell.cell_type != "code":
            continue
        try:
            body = ast.parse(cell.source).body
        except SyntaxError:  # a cell with a line of IPython
            continue
        statements += [ast.unparse(node) for node in body if _is_cheap(node)]
    return list(dict.fromkeys(statements))


def _is_cheap(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef):
        return True
    if not isinstance(node, ast.Assign):
        return False
    try:
        ast.literal_eval(node.value)
    except ValueError:
        return False
    return True


def names_made(statement: str) -> set[str]:
    """Returns the names that one statement of `taught` defines."""
    node = ast.parse(statement).body[0]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(a.asname or a.name).split(".")[0] for a in node.names}
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    return {n.id for n in ast.walk(node)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def names_read(source: str) -> set[str]:
    """Returns every word of a source: a line of IPython may name anything."""
    return set(re.findall(r"\w+", source))


def needed(statements: list[str], source: str) -> list[str]:
    """Returns those statements that a source builds on, directly or not, in order."""
    made = [names_made(statement) for statement in statements]
    words, kept = names_read(source), set()
    while words:
        new = {k for k, names in enumerate(made) if k not in kept and names & words}
        kept |= new
        words = {word for k in new for word in names_read(statements[k])}
    return [statements[k] for k in sorted(kept)]
