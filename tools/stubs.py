"""Generates the exercise stubs of the lessons from the solutions.

    python -m tools.stubs [NN ...]     # write the stubs into the lessons

Each solution is written only once, in `notebooks/solutions/NN_topic.ipynb`. There, a
cell tagged `exercise` holds the answer between two marker lines. The cell tagged
`exercise` in the same place of the lesson holds the stub.
"""

import re
import sys
from pathlib import Path

from helpers.files import ROOT
from tools import notebook as nb
from tools.cells import BEGIN, END, Lesson, exercise_cells

STUB = "### YOUR CODE HERE"


def stub(answer: str) -> str:
    """Replaces each solution block of an answer cell with a placeholder.

    Args:
      answer: Source code with one or more blocks between the marker lines.

    Raises:
      ValueError: If the source has no such block.
    """
    pattern = re.compile(rf"^([ ]*){BEGIN}\n.*?^[ ]*{END}", re.M | re.S)
    text, blocks = pattern.subn(rf"\1{STUB}\n\1pass", answer)
    if not blocks:
        raise ValueError(
            f"Answer {answer.splitlines()[0]!r} contains no block from {BEGIN} to "
            f"{END}. Add these two lines around the part that learners write."
        )
    return text


def write_stubs(path: Path) -> None:
    """Regenerates the exercise stubs of a lesson from its solutions."""
    lesson = Lesson(path)
    cells, answers = map(exercise_cells, (lesson.notebook, lesson.solved.notebook))
    for cell, answer in zip(cells, answers, strict=True):
        cell.source = stub(answer.source)
    nb.store(path, lesson.notebook)


if __name__ == "__main__":
    for path in nb.lessons(ROOT, sys.argv[1:]):
        write_stubs(path)
