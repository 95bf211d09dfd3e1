"""Exercise stubs, made from the solutions: each solution is written once.

    python -m tools.stubs [NN ...]     # write the stubs into the lessons

In `notebooks/solutions/NN_topic.ipynb` a cell tagged `exercise` holds the answer
between two marker lines; the lesson's cell tagged `exercise` in the same place holds
the stub.
"""

import re
import sys
from pathlib import Path

import nbformat

from helpers.files import ROOT
from tools import notebook as nb

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
STUB = "### YOUR CODE HERE"


def stub(answer: str) -> str:
    """Returns the stub of an answer cell.

    Args:
      answer: source with one or more blocks between the two marker lines.

    Raises:
      ValueError: the cell has no such block.
    """
    pattern = re.compile(rf"^([ ]*){BEGIN}\n.*?^[ ]*{END}", re.M | re.S)
    text, blocks = pattern.subn(rf"\1{STUB}\n\1pass", answer)
    if not blocks:
        raise ValueError(f"no {BEGIN} ... {END} in: {answer.splitlines()[0]}")
    return text


def exercise_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """Returns the code cells tagged `exercise`, in order."""
    return [
        c for c in notebook.cells
        if c.cell_type == "code" and "exercise" in c.metadata.get("tags", [])
    ]


def write_stubs(lesson: Path) -> None:
    """Replaces the stubs of a lesson by those of its solutions."""
    answers = exercise_cells(nbformat.read(nb.solution(lesson), as_version=4))
    notebook = nbformat.read(lesson, as_version=4)
    cells = exercise_cells(notebook)
    for cell, answer in zip(cells, answers, strict=True):
        cell.source = stub(answer.source)
    nb.store(lesson, notebook)


if __name__ == "__main__":
    for path in nb.lessons(ROOT, sys.argv[1:]):
        write_stubs(path)
