"""Creates the reader's own copies of the lessons in `my/`.

A copy has no outputs. After each question, it has a cell for the reader's prediction.
It is created once and never overwritten. Its first cell links to the lesson with
outputs in `notebooks/`.
"""

import contextlib
import itertools
import re
from pathlib import Path

import nbformat
from nbformat import v4

from helpers.files import ROOT
from tools import notebook as nb
from tools.cells import is_question, read_cells

FOLDER = ROOT / "my"
HEAD = """Your own copy: write into it. To compare: [the lesson with its \
outputs](../notebooks/{name})."""
# Enter opens the cell in every Jupyter. In `course.py lab`, a click is enough. Markdown
# closes the emphasis only after a letter, in case somebody writes right behind it.
PREDICTION = ("*My prediction: click here, press Enter, write, then press "
              "Shift+Enter*")
TAG = "prediction"


def copied(lesson: Path) -> nbformat.NotebookNode:
    """Returns a lesson without outputs and with an answer cell after each question."""
    notebook = nb.cleared(nb.read(lesson))
    cells = []
    for cell in notebook.cells:
        cells.append(cell)
        if is_question(cell):
            cells.append(v4.new_markdown_cell(PREDICTION, metadata={"tags": [TAG]}))
    title, rest = cells[0].source.split("\n", 1)
    cells[0].source = f"{title}\n\n{HEAD.format(name=lesson.name)}\n{rest}"
    notebook.cells = cells
    return notebook


def copies(lessons: list[Path], *, fresh: bool = False) -> list[Path]:
    """Creates the missing copies of lessons and returns the paths of all copies.

    Args:
      lessons: Paths of the lessons.
      fresh: Whether to create each copy again. An existing copy is kept under another
        name, such as `03a_queues_and_coordinators.before-1.ipynb`.
    """
    paths = [FOLDER / lesson.name for lesson in lessons]
    for lesson, path in zip(lessons, paths, strict=True):
        if fresh and path.exists():
            before = _put_aside(path)
            print(
                f"Created {path.parent.name}/{path.name}. Your old copy is now "
                f"{before.parent.name}/{before.name}, and its exercises still count."
            )
        if not path.exists():
            nb.store(path, copied(lesson))
    return paths


def _put_aside(path: Path) -> Path:
    """Renames a copy to the next free name, and returns the new path.

    The name is reserved first, so that a second process cannot choose the same one.
    """
    numbers = [int(match[1]) for old in earlier(path)
               if (match := re.search(r"before-(\d+)", old.name))]
    for number in itertools.count(max(numbers, default=0) + 1):
        aside = path.with_name(f"{path.stem}.before-{number}.ipynb")
        with contextlib.suppress(FileExistsError):
            aside.touch(exist_ok=False)
            return path.replace(aside)
    raise AssertionError("There is always a next number.")


def predictions(path: Path) -> list[str]:
    """Returns the text of each prediction cell, or "" if it is empty.

    Raises:
      ValueError: If the file is not a notebook.
    """
    cells = read_cells(path)
    return [re.sub(r"\*My prediction[^*]*\*", "", cell.source).strip()
            for cell in cells if TAG in cell.metadata.get("tags", [])]


def earlier(path: Path) -> list[Path]:
    """Returns the renamed earlier versions of a copy, in no particular order."""
    return list(path.parent.glob(f"{path.stem}.before-*.ipynb"))


def newest(lesson: Path) -> Path:
    """Returns the reader's copy of a lesson, or the lesson if there is no copy."""
    path = FOLDER / lesson.name
    return path if path.exists() else lesson
