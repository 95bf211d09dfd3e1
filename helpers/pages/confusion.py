"""Interactive figure of lesson 06b: a confusion matrix in several orders."""

import matplotlib.pyplot as plt
import numpy as np

from helpers import svg
from helpers.explore import Frame
from helpers.language import QUANTITY

SIZE = (560, 356)
_LEFT, _TOP, _SIDE, _MOST_NAMES, _FULL = 190, 10, 320, 40, 25
_PALETTE = 255 * plt.get_cmap(QUANTITY)(np.linspace(0, 1, _FULL + 1))[:, :3]


def confusion_frame(
    names: list[list[str]], labels: np.ndarray, answers: np.ndarray, word: int
) -> Frame:
    """Draws a confusion matrix with the classes sorted by one word.

    The caption says how many of the wrong answers have this word right.

    Args:
      names: Words of each class, the same number for all classes.
      labels: Correct class of each picture.
      answers: Class that the network predicted for each picture.
      word: Number of the word by which the classes are sorted, from 1.

    Taught in lesson 06b, 'What it learns first'.
    """
    parts = np.array(names)[:, word - 1]
    order = np.argsort(parts, kind="stable")
    counts = np.zeros([len(names)] * 2, int)
    np.add.at(counts, (labels, answers), 1)
    square = _SIDE / len(names)
    matrix = svg.picture(_LEFT, _TOP, counts[order][:, order].clip(0, _FULL), _PALETTE,
                         square)
    rows = "".join(svg.text(_LEFT - 8, _TOP + 12 + square * k, " ".join(names[at]),
                            "ink", text_anchor="end", font_size=12)
                   for k, at in enumerate(order[:_MOST_NAMES]))
    rows += svg.text(_LEFT, _TOP + _SIDE + 18, "columns, in this order: the answer",
                     "soft")
    blocks = ""
    for part in dict.fromkeys(parts[order]):
        first, count = np.flatnonzero(parts[order] == part)[0], (parts == part).sum()
        blocks += svg.box(_LEFT + square * first, _TOP + square * first, square * count,
                          square * count, "soft", fill="none", stroke="currentColor",
                          stroke_width=1.5)
    wrong = answers != labels
    kept = (parts[answers[wrong]] == parts[labels[wrong]]).sum()
    return Frame([rows, matrix, blocks],
                 f"{wrong.sum()} of {len(labels)} answers are wrong, and {kept} of "
                 f"these lie inside the outlined blocks: word {word} is right.")
