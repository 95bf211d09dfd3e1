"""Labelled boxes and arrows, for the interactive figures of graphs."""

import math
from collections.abc import Iterable

from helpers import svg

HIGH = 30  # height of a box in pixels


def wide(words: str) -> float:
    """Returns the width in pixels of a box with the given label."""
    return 16 + 7.3 * len(words) if len(words) > 2 else 34


def boxes(places: dict) -> str:
    """Returns the SVG of labelled boxes.

    Args:
      places: For each name, the x and y coordinates of the centre, the colour class,
        and the label. A box with the colour `ink` has a thick outline, because it
        represents a condition.
    """
    drawn = []
    for x, y, css, words in places.values():
        at = x - wide(words) / 2, y - HIGH / 2, wide(words), HIGH
        drawn += [svg.box(*at, "", fill="var(--paper)"),
                  svg.box(*at, css, rx=4, fill_opacity=0.22, stroke="currentColor",
                          stroke_width=2.5 if css == "ink" else 1),
                  svg.text(x, y + 4.5, words, "ink", text_anchor="middle")]
    return "".join(drawn)


def edges(
    places: dict, pairs: Iterable, width: float = 1.2, css: str = "soft"
) -> str:
    """Returns the SVG of arrows between boxes, with detours for backward edges.

    Args:
      places: Boxes, as for `boxes`.
      pairs: Pairs of names, from the start to the end of each arrow.
      width: Line width in pixels.
      css: Colour class. If it is empty, an arrow has the colour of its first box.
    """
    drawn = []
    for start, end in pairs:
        (x0, y0, own, one), (x1, y1, _, other) = places[start], places[end]
        if x0 == x1 and y1 < y0 - 99:  # backward edge
            side = -1 if x0 < 350 else 1
            out = x0 + 76 * side
            xs = [x0 + side * wide(one) / 2, out, out, x1 + side * wide(other) / 2]
            ys = [y0, y0, y1, y1]
        else:
            cut = [_rim(x1 - x0, y1 - y0, words) for words in (one, other)]
            xs = [x0 + (x1 - x0) * cut[0], x1 - (x1 - x0) * cut[1]]
            ys = [y0 + (y1 - y0) * cut[0], y1 - (y1 - y0) * cut[1]]
        drawn.append(pointer(xs, ys, css or own, width))
    return "".join(drawn)


def _rim(dx: float, dy: float, words: str) -> float:
    """Returns the share of a connecting line that lies inside its box."""
    halves = ((wide(words) / 2, dx), (HIGH / 2, dy))
    return min(half / abs(way) for half, way in halves if way)


def pointer(xs: list, ys: list, css: str, width: float) -> str:
    """Returns the SVG of a line through points that ends in an arrowhead."""
    turn = math.degrees(math.atan2(ys[-1] - ys[-2], xs[-1] - xs[-2]))
    return svg.line(xs, ys, css, width) + (
        f"<path class='{css}' fill='currentColor' d='M0 0L-9 4L-9 -4' transform='"
        f"translate({xs[-1]:.0f} {ys[-1]:.0f}) rotate({turn:.0f})'/>")


def bold(x: float, y: float, words: object, css: str, anchor: str = "middle") -> str:
    """Returns the SVG of a bold label whose value depends on the settings."""
    return svg.text(x, y, words, css, text_anchor=anchor, font_weight="bold",
                    font_size=16)
