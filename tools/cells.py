"""Reads the structure of a lesson: exercises, questions, pitfalls and checks.

Only this module knows how these parts are marked: by the tags `exercise` and
`parameters`, by the words **Predict** and **Pitfall**, by the heading of an exercise,
and by the call of its check and the report of that check.
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
    """Exercise of a lesson, with its check and its solution.

    Attributes:
      lesson: File name of the lesson, such as `01a_variable_scope`.
      title: Heading, such as `Exercise 1: siamese`.
      name: Name of the function or class to write.
      check: Name of the check in `helpers.checks.lesson_NN`.
      before: Source of the code cells before the solution, in order.
      answer: Source of the solution, without the marker lines.
    """

    lesson: str
    title: str
    name: str
    check: str
    before: tuple[str, ...] = ()
    answer: str = ""

    @property
    def number(self) -> str:
        """The number of the exercise's lesson, such as `03a`."""
        return self.lesson.split("_")[0]

    @property
    def key(self) -> str:
        """The lesson's number and the function's name, such as `03a spread`."""
        return f"{self.number} {self.name}"

    @property
    def module(self) -> str:
        """The name of the module that contains the exercise's check."""
        return f"helpers.checks.lesson_{self.number}"


class Question(NamedTuple):
    """Prediction that a lesson asks the reader to make.

    Attributes:
      heading: Last heading before the question.
      text: Paragraph of the question, without the mark.
      cell: Index of the cell in the lesson.
    """

    heading: str
    text: str
    cell: int


class Lesson:
    """Lesson notebook that is read once and gives access to its parts.

    Args:
      path: Path of the lesson.
      notebook: Notebook to use in place of the file. By default, the file is read.
    """

    def __init__(self, path: Path, notebook: nbformat.NotebookNode | None = None):
        self.path, self.number = path, nb.number(path)
        self.notebook = notebook or nb.read(path)
        self.cells = self.notebook.cells

    @functools.cached_property
    def solved(self) -> "Lesson":
        """The lesson's notebook with solutions."""
        return Lesson(nb.solution(self.path))

    @functools.cached_property
    def title(self) -> str:
        """The title of the lesson, from its first line."""
        return self.cells[0].source.splitlines()[0].removeprefix("# ")

    @functools.cached_property
    def exercises(self) -> list[Exercise]:
        """The exercises of the lesson, in order."""
        calls = dict(reversed(call) for cell in self.cells for call in checked(cell))
        titles = iter([title for cell in self.cells for title in asked(cell)])
        before, exercises = [], []
        for cell in self.solved.cells:
            if cell.cell_type != "code" or checked(cell):
                continue
            if is_exercise(cell):
                answer = unmarked(cell.source)
                name = ast.parse(answer).body[0].name
                exercises.append(Exercise(self.path.stem, next(titles), name,
                                          calls[name], tuple(before), answer))
            before.append(cell.source)
        return exercises

    @functools.cached_property
    def questions(self) -> list[Question]:
        """The predictions that the lesson asks for, in order."""
        questions, heading = [], ""
        for place, cell in enumerate(self.cells):
            if cell.cell_type != "markdown":
                continue
            for part in cell.source.split("\n\n"):
                heading = [heading, *_HEADING.findall(part)][-1]
                questions += [Question(heading, text, place)
                          for text in QUESTION.split(part)[1:]]
        return questions

    @functools.cached_property
    def parameters(self) -> list[str]:
        """The names of the variables set in the lesson's parameter cells."""
        return [target.id for cell in self.cells if is_tagged(cell, "parameters")
                for line in ast.parse(cell.source).body if isinstance(line, ast.Assign)
                for target in line.targets if isinstance(target, ast.Name)]

    def practice(self) -> list[nbformat.NotebookNode]:
        """Returns copies of the cells from the first to the last exercise."""
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
        """Returns the code cells before the first exercise."""
        return [cell for cell in self.cells[: self._first_exercise()]
                if cell.cell_type == "code"]

    def _first_exercise(self) -> int:
        return next(k for k, cell in enumerate(self.cells) if asked(cell))


def seconds_kept() -> dict[str, int]:
    """Returns the last measured running time of each lesson, in seconds."""
    lines = SECONDS.read_text("utf-8").splitlines() if SECONDS.exists() else []
    return {number: int(seconds) for number, seconds in map(str.split, lines)}


def sections(cells: list[nbformat.NotebookNode]
             ) -> Iterator[list[nbformat.NotebookNode]]:
    """Yields the cells of each section, starting at a level-1 or level-2 heading."""
    section: list[nbformat.NotebookNode] = []
    for cell in cells:
        if cell.cell_type == "markdown" and _SECTION.search(cell.source):
            if section:
                yield section
            section = []
        section.append(cell)
    yield section


def is_tagged(cell: nbformat.NotebookNode, tag: str) -> bool:
    """Returns whether a cell has the given tag."""
    return tag in cell.metadata.get("tags", [])


def is_exercise(cell: nbformat.NotebookNode) -> bool:
    """Returns whether a cell is the answer cell of an exercise."""
    return cell.cell_type == "code" and is_tagged(cell, "exercise")


def exercise_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """Returns the answer cells of a notebook, in order."""
    return [cell for cell in notebook.cells if is_exercise(cell)]


def is_question(cell: nbformat.NotebookNode) -> bool:
    """Returns whether a cell asks for a prediction."""
    return cell.cell_type == "markdown" and bool(QUESTION.search(cell.source))


def pitfalls_in(cell: nbformat.NotebookNode) -> list[str]:
    """Returns the titles of the pitfalls that a cell describes."""
    return PITFALL.findall(cell.source) if cell.cell_type == "markdown" else []


def asked(cell: nbformat.NotebookNode) -> list[str]:
    """Returns the titles of the exercises whose text begins in a cell."""
    return EXERCISE.findall(cell.source) if cell.cell_type == "markdown" else []


def checked(cell: nbformat.NotebookNode) -> list[tuple[str, str]]:
    """Returns the checks that a cell calls, each with the name of its argument."""
    return _CALL.findall(cell.source) if cell.cell_type == "code" else []


def said(cell: nbformat.NotebookNode) -> list[str]:
    """Returns the text of each output of a cell, without standard error."""
    return [output.get("text") or output.get("data", {}).get("text/plain", "")
            for output in cell.get("outputs", []) if output.get("name") != "stderr"]


def reports(cell: nbformat.NotebookNode) -> list[tuple[str, str]]:
    """Returns the exercise title and full text of each check report in a cell."""
    return [(match.group(), text) for text in said(cell)
            if (match := _REPORT.match(text))]


def unmarked(answer: str) -> str:
    """Removes the marker lines from a solution's source code."""
    return re.sub(rf"^ *(?:{BEGIN}|{END})\n?", "", answer, flags=re.M).rstrip()


def with_parameters(
    notebook: nbformat.NotebookNode, values: dict
) -> nbformat.NotebookNode:
    """Adds a cell that sets parameters after the cell tagged `parameters`.

    The tags and the place of the new cell follow the convention of papermill. The new
    cell replaces the one of an earlier run.

    Args:
      notebook: Notebook to change in place. Without parameters, it is not changed.
      values: Values by name. If there are none, no cell is added.

    Returns:
      The same notebook.
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
    """Returns whether a cell was added by `with_parameters`."""
    return is_tagged(cell, "injected-parameters")


def read_cells(path: Path) -> list[nbformat.NotebookNode]:
    """Reads the cells of a notebook and ignores malformed parts.

    Args:
      path: Path of a file with any contents.

    Raises:
      ValueError: If the file is not a notebook of version 4. The message gives the
        reason.
    """
    try:
        cells = read_json(path, {"cells": list}, (
            "Keep it, and make a new copy with: course.py lab --fresh"))["cells"]
    except DataError as error:
        raise ValueError(str(error)) from error
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
    """Joins a notebook text, which may be stored as a list of lines."""
    lines = value if isinstance(value, list) else [value]
    return "".join(line for line in lines if isinstance(line, str))
