"""A lesson as its notebook has it: which cell is what.

What marks a part stands here and nowhere else: the tags `exercise` and `parameters`;
the words **Predict** and **Pitfall**; the heading of an exercise, the call of
its check, and what that said.
"""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import nbformat

from helpers.errors import DataError
from helpers.files import ROOT
from helpers.reading import read_json
from tools import notebook as nb

SECONDS = ROOT / "docs" / "book" / "seconds.txt"
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
EXERCISE = re.compile(r"^## (Exercise \d+: .*)$", re.M)
QUESTION = re.compile(r"\*\*Predict\b")
PITFALL = re.compile(r"^> \*\*Pitfall: (.+?)\*\*", re.M)
_HEADING = re.compile(r"^#+ (.+)$", re.M)
_SECTION = re.compile(r"^##? ", re.M)
_CALL = re.compile(r"\b(check_\w+)\((\w*)")
_REPORT = re.compile(r"Exercise \d+: .*")


class Exercise(NamedTuple):
    """One exercise of a lesson.

    Attributes:
      lesson: for example `01a_variable_scope`.
      title: for example `Exercise 1: siamese`.
      name: of the function or class to write.
      check: the name of its check in `helpers.checks.lesson_NN`.
      before: sources of the solutions that the answer builds on, as they come.
      answer: the solution's source, without the lines that mark it.
    """

    lesson: str
    title: str
    name: str
    check: str
    before: tuple[str, ...] = ()
    answer: str = ""

    @property
    def number(self) -> str:
        """The number of its lesson, such as `03a`."""
        return self.lesson.split("_")[0]

    @property
    def key(self) -> str:
        """Its lesson's number and its name."""
        return f"{self.number} {self.name}"

    @property
    def module(self) -> str:
        """Where its check is."""
        return f"helpers.checks.lesson_{self.number}"


class Question(NamedTuple):
    """One prediction that a lesson asks for.

    Attributes:
      heading: what it stands under.
      text: its paragraph, without the mark.
      cell: the place of its cell.
    """

    heading: str
    text: str
    cell: int


class Lesson:
    """A notebook, read once, and its parts.

    Args:
      path: of a lesson.
      notebook: what to take for it; read from the path if None.
    """

    def __init__(self, path: Path, notebook: nbformat.NotebookNode | None = None):
        self.path, self.number = path, nb.number(path)
        self.notebook = notebook or nbformat.read(path, as_version=4)
        self.cells = self.notebook.cells

    @functools.cached_property
    def solved(self) -> "Lesson":
        """Its solutions."""
        return Lesson(nb.solution(self.path))

    @functools.cached_property
    def title(self) -> str:
        """What its first line says."""
        return self.cells[0].source.splitlines()[0].removeprefix("# ")

    @functools.cached_property
    def exercises(self) -> list[Exercise]:
        """Its exercises, in its order."""
        calls = dict(reversed(call) for cell in self.cells for call in checked(cell))
        titles = iter([title for cell in self.cells for title in asked(cell)])
        before, found = [], []
        for cell in self.solved.cells:
            if cell.cell_type != "code" or checked(cell):
                continue
            if is_exercise(cell):
                answer = unmarked(cell.source)
                name = ast.parse(answer).body[0].name
                found.append(Exercise(self.path.stem, next(titles), name, calls[name],
                                      tuple(before), answer))
            before.append(cell.source)
        return found

    @functools.cached_property
    def questions(self) -> list[Question]:
        """The predictions that it asks for, in its order."""
        found, heading = [], ""
        for place, cell in enumerate(self.cells):
            if cell.cell_type != "markdown":
                continue
            for part in cell.source.split("\n\n"):
                heading = [heading, *_HEADING.findall(part)][-1]
                found += [Question(heading, text, place)
                          for text in QUESTION.split(part)[1:]]
        return found

    @functools.cached_property
    def parameters(self) -> list[str]:
        """The names that its cell of parameters sets, in order."""
        return [target.id for cell in self.cells if is_tagged(cell, "parameters")
                for line in ast.parse(cell.source).body if isinstance(line, ast.Assign)
                for target in line.targets if isinstance(target, ast.Name)]

    def practice(self) -> list[nbformat.NotebookNode]:
        """Returns copies of the cells from the first exercise to the last one's end."""
        start = self._first_exercise()
        cells = nbformat.from_dict({"cells": self.cells[start:]}).cells
        cells[0].source = cells[0].source[EXERCISE.search(cells[0].source).start():]
        last = max(k for k, cell in enumerate(cells) if asked(cell))
        for end in range(last + 1, len(cells)):
            if cells[end].cell_type == "markdown" and re.search(
                    r"^## ", cells[end].source, re.M):
                return cells[:end]
        return cells

    def taught(self) -> list[nbformat.NotebookNode]:
        """Returns its code cells before the first exercise."""
        return [cell for cell in self.cells[: self._first_exercise()]
                if cell.cell_type == "code"]

    def _first_exercise(self) -> int:
        return next(k for k, cell in enumerate(self.cells) if asked(cell))


def seconds_kept() -> dict[str, int]:
    """Returns how many seconds each lesson ran, by number, when it was timed last."""
    lines = SECONDS.read_text("utf-8").splitlines() if SECONDS.exists() else []
    return {number: int(seconds) for number, seconds in map(str.split, lines)}


def sections(cells: list[nbformat.NotebookNode]
             ) -> Iterator[list[nbformat.NotebookNode]]:
    """Yields the cells of each section; a cell with a heading begins one."""
    section: list[nbformat.NotebookNode] = []
    for cell in cells:
        if cell.cell_type == "markdown" and _SECTION.search(cell.source):
            if section:
                yield section
            section = []
        section.append(cell)
    yield section


def is_tagged(cell: nbformat.NotebookNode, tag: str) -> bool:
    """Returns whether a cell has a tag."""
    return tag in cell.metadata.get("tags", [])


def is_exercise(cell: nbformat.NotebookNode) -> bool:
    """Returns whether a cell is there for an answer, or holds one."""
    return cell.cell_type == "code" and is_tagged(cell, "exercise")


def exercise_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """Returns the cells of a notebook that are there for answers, in order."""
    return [cell for cell in notebook.cells if is_exercise(cell)]


def is_question(cell: nbformat.NotebookNode) -> bool:
    """Returns whether a cell asks for a prediction."""
    return cell.cell_type == "markdown" and bool(QUESTION.search(cell.source))


def pitfalls_in(cell: nbformat.NotebookNode) -> list[str]:
    """Returns the names of the pitfalls that a cell tells of."""
    return PITFALL.findall(cell.source) if cell.cell_type == "markdown" else []


def asked(cell: nbformat.NotebookNode) -> list[str]:
    """Returns the titles of the exercises whose text begins in a cell."""
    return EXERCISE.findall(cell.source) if cell.cell_type == "markdown" else []


def checked(cell: nbformat.NotebookNode) -> list[tuple[str, str]]:
    """Returns the checks that a cell calls, each with the name that it hands over."""
    return _CALL.findall(cell.source) if cell.cell_type == "code" else []


def said(cell: nbformat.NotebookNode) -> list[str]:
    """Returns the text of each output of a cell but progress and warnings, in order."""
    return [output.get("text") or output.get("data", {}).get("text/plain", "")
            for output in cell.get("outputs", []) if output.get("name") != "stderr"]


def reports(cell: nbformat.NotebookNode) -> list[tuple[str, str]]:
    """Returns what checks said under a cell: title of the exercise, and all of it."""
    return [(match.group(), text) for text in said(cell)
            if (match := _REPORT.match(text))]


def unmarked(answer: str) -> str:
    """Returns a solution's source without the lines that mark it."""
    return re.sub(rf"^ *(?:{BEGIN}|{END})\n?", "", answer, flags=re.M).rstrip()


def with_parameters(
    notebook: nbformat.NotebookNode, values: dict
) -> nbformat.NotebookNode:
    """Adds a cell that sets parameters, behind the one tagged `parameters`.

    That is papermill's convention, tags and place included; the cell of an earlier
    run gives way.

    Args:
      notebook: is changed, and returned. One without parameters stays as it is.
      values: by name; nothing is added where there are none.
    """
    tagged = [cell for cell in notebook.cells if is_tagged(cell, "parameters")]
    if not values or not tagged:
        return notebook
    notebook.cells = [cell for cell in notebook.cells if not is_injected(cell)]
    lines = [f"{name} = {value!r}" for name, value in values.items()]
    cell = nbformat.v4.new_code_cell(
        "\n".join(["# Parameters", *lines]), metadata={"tags": ["injected-parameters"]}
    )
    notebook.cells.insert(notebook.cells.index(tagged[-1]) + 1, cell)
    return notebook


def is_injected(cell: nbformat.NotebookNode) -> bool:
    """Returns whether a cell came from `with_parameters`."""
    return is_tagged(cell, "injected-parameters")


def read_cells(path: Path) -> list[nbformat.NotebookNode]:
    """Returns the cells of a notebook; of what is odd in them, nothing.

    Args:
      path: of a file that may hold anything.

    Raises:
      ValueError: it is no notebook of version 4; says why in a few words.
    """
    try:
        cells = read_json(path, {"cells": list})["cells"]
    except DataError as error:
        raise ValueError("cannot be read as a notebook: save it again in JupyterLab "
                         f"({str(error).removeprefix(f'{path}: ')})") from error
    return [_plain(cell) for cell in cells if isinstance(cell, dict)]


def _plain(cell: dict) -> nbformat.NotebookNode:
    tags = _dict(cell.get("metadata")).get("tags")
    outputs = cell.get("outputs")
    return nbformat.from_dict({
        "cell_type": str(cell.get("cell_type")), "source": _text(cell.get("source")),
        "metadata": {"tags": [tag for tag in tags if isinstance(tag, str)]
                     if isinstance(tags, list) else []},
        "outputs": [{"text": _text(output.get("text"))
                     or _text(_dict(output.get("data")).get("text/plain"))}
                    for output in map(_dict, outputs)]
        if isinstance(outputs, list) else []})


def _dict(value: object) -> dict:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    """Returns text, which a notebook may keep as a list of its lines."""
    lines = value if isinstance(value, list) else [value]
    return "".join(line for line in lines if isinstance(line, str))
