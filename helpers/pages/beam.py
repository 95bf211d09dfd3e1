"""Draws the hypotheses of a beam search as a tree, for lesson 08c."""

import itertools
import math
from collections.abc import Sequence

from matplotlib.axes import Axes

from helpers.language import TOWER
from helpers.plots import box


def draw_beam(
    ax: Axes, kept: Sequence[tuple[float, Sequence[int]]], words: Sequence[str]
) -> None:
    """Draws the hypotheses of a beam search as a tree, one column per word.

    The best hypothesis is at the top, and thicker lines are more probable.

    Args:
      ax: The axes to draw on.
      kept: The log-probability and the ids of each hypothesis, `<S>` included,
        ordered by length, best first.
      words: The words by id.

    Taught in lesson 08c, 'The beam as a tree'.
    """
    places = {tuple(kept[0][1][:1]): (0.0, 0.0)}
    for length, rows in itertools.groupby(kept, key=lambda pair: len(pair[1])):
        for rank, (score, ids) in enumerate(rows):
            here = places[tuple(ids)] = (float(length - 1), -float(rank))
            probability = math.exp(score)
            ax.plot(*zip(places[tuple(ids[:-1])], here, strict=True), color=TOWER[0],
                    zorder=1, linestyle="-", linewidth=0.5 + 3 * probability)
            number = f"{probability:.2f}" if probability >= 0.005 else "< 0.01"
            box(ax, *here, f"{words[ids[-1]]}\n{number}", width=0.86, height=0.6,
                size=8)
    ax.autoscale_view()
    ax.axis("off")
