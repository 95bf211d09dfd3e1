"""Line charts as SVG, for the frames of interactive figures.

Used in lessons 03c, 06a and 12a.
"""

from collections.abc import Iterable

import numpy as np

from helpers import svg

_LEFT, _RIGHT, _TOP, _FOOT = 64, 120, 16, 44  # margins, in pixels


class Chart:
    """Line chart that maps data coordinates to pixels and draws SVG.

    Attributes:
      size: Width and height of a frame in pixels, for `explore`.
    """

    def __init__(
        self, x: tuple[float, float], y: tuple[float, float], *, log: bool = False,
        size: tuple[int, int] = (720, 310),
    ):
        """Creates a chart from the ranges of its two axes.

        Args:
          x: Smallest and largest value on the horizontal axis.
          y: Smallest and largest value on the vertical axis. Values outside this range
            are drawn at the edge.
          log: Whether the vertical axis is logarithmic.
          size: Width and height of a frame in pixels.
        """
        self.size, self._log = size, log
        self._x, self._y = x, self._scaled(y)

    def axes(self, xs: Iterable[float], ys: Iterable[float], words: str) -> str:
        """Returns the SVG of the tick labels of both axes and of the axis title."""
        foot = self.size[1] - _FOOT
        across = [svg.text(self._right(x), foot + 18, f"{x:g}", "soft",
                           text_anchor="middle") for x in xs]
        up = [svg.text(_LEFT - 10, self._down(y) + 4, f"{y:g}", "soft",
                       text_anchor="end") for y in ys]
        return "".join([*across, *up, svg.text(_LEFT, foot + 38, words)])

    def line(self, xs: Iterable[float], ys: Iterable[float], css: str,
             width: float = 2, name: str = "", **options: object) -> str:
        """Returns the SVG of a line through points, with its label at the end.

        Args:
          xs: Horizontal coordinates, from left to right.
          ys: Vertical coordinates, as many as `xs`.
          css: Colour class, as in `svg`.
          width: Line width in pixels.
          name: Label at the end of the line, or "" for none.
          **options: SVG attributes.
        """
        across, down = self._right(np.asarray(xs)), self._down(np.asarray(ys))
        label = svg.text(across[-1] + 8, down[-1] + 4, name, css) if name else ""
        return svg.line(across, down, css, width, **options) + label

    def _right(self, x):
        share = (x - self._x[0]) / (self._x[1] - self._x[0])
        return _LEFT + share * (self.size[0] - _LEFT - _RIGHT)

    def _down(self, y):
        low, high = self._y
        share = np.clip((self._scaled(y) - low) / (high - low), 0, 1)
        return self.size[1] - _FOOT - share * (self.size[1] - _TOP - _FOOT)

    def _scaled(self, y):
        return np.log10(np.maximum(y, 1e-300)) if self._log else np.asarray(y)
