"""The beginnings that a beam kept, as a tree: the figure of lesson 08c."""

import itertools
import math
from collections.abc import Sequence

from matplotlib.axes import Axes

from helpers.language import TOWER
from helpers.plots import box


def draw_beam(
    ax: Axes, kept: Sequence[tuple[float, Sequence[int]]], words: Sequence[str]
) -> None:
    """Draws a column of boxes for each word, the best above; thick lines are likely.

    Args:
      ax: where to.
      kept: of each beginning its log-probability and its ids, the start's first; by
        length, best first.
      words: by id.

    Taught in lesson 08c, 'The beam as a tree'.
    """
    places = {tuple(kept[0][1][:1]): (0.0, 0.0)}
    for length, rows in itertools.groupby(kept, key=lambda one: len(one[1])):
        for rank, (score, ids) in enumerate(rows):
            here = places[tuple(ids)] = (float(length - 1), -float(rank))
            chance = math.exp(score)
            ax.plot(*zip(places[tuple(ids[:-1])], here, strict=True), color=TOWER[0],
                    zorder=1, linestyle="-", linewidth=0.5 + 3 * chance)
            likely = f"{chance:.2f}" if chance >= 0.005 else "< .01"
            box(ax, *here, f"{words[ids[-1]]}\n{likely}", width=0.86, height=0.6,
                size=8)
    ax.autoscale_view()
    ax.axis("off")
