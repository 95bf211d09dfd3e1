"""SVG elements for the frames of interactive figures.

A colour is one of the page's classes: `ink`, `soft` (beside the point), `a` to `d`
(tower, worker, device 0 to 3) and `bad` (lost, dead, NaN, and nothing else). They
follow dark mode. Numbers are rounded to half a pixel: a page holds many of them.
"""

import base64
import html
import io
from collections.abc import Iterable, Sequence

import numpy as np
from PIL import Image


def text(x: float, y: float, words: object, css: str = "", **options: object) -> str:
    """Returns the SVG of a line of text.

    Args:
      x: of its beginning, or where `text_anchor` says.
      y: of its foot.
      words: anything; `<` and `&` are escaped.
      css: its colour.
      **options: attributes of SVG, `_` for `-`: `text_anchor="middle"`.
    """
    return (f"<text x='{_n(x)}' y='{_n(y)}'{_colour(css)}{_options(options)}>"
            f"{html.escape(str(words), quote=False)}</text>")


def line(
    xs: Iterable[float], ys: Iterable[float], css: str, width: float = 2,
    **options: object,
) -> str:
    """Returns the SVG of an open line through points.

    Args:
      xs: from left to right.
      ys: as many; they grow downwards.
      css: its colour.
      width: in pixels.
      **options: attributes of SVG, such as `stroke_dasharray="6 4"`.
    """
    points = "L".join(f"{_n(x)} {_n(y)}" for x, y in zip(xs, ys, strict=True))
    return (f"<path class='{css}' d='M{points}' fill='none' stroke='currentColor' "
            f"stroke-width='{width:g}'{_options(options)}/>")


def box(
    x: float, y: float, width: float, height: float, css: str, **options: object
) -> str:
    """Returns the SVG of a filled rectangle.

    Args:
      x: of its left side.
      y: of its top.
      width: in pixels.
      height: in pixels.
      css: its colour.
      **options: attributes of SVG, such as `fill_opacity=0.2` or `fill="none"`.
    """
    return (f"<rect x='{_n(x)}' y='{_n(y)}' width='{_n(width)}' height='{_n(height)}'"
            f"{_colour(css, options)}{_options(options)}/>")


def picture(
    x: float, y: float, values: np.ndarray,
    palette: Sequence[Sequence[int]] | np.ndarray,
    scale: float = 1,
) -> str:
    """Returns the SVG of a picture with indexed colours, one square per value.

    Args:
      x: of its left side.
      y: of its top.
      values: integers `[row, column]`, places in the palette.
      palette: up to 256 colours, red, green and blue of 0 to 255.
      scale: pixels of a square.
    """
    drawn, file = Image.fromarray(np.asarray(values, np.uint8), "P"), io.BytesIO()
    drawn.putpalette(bytes(np.asarray(palette, np.uint8).ravel()))
    drawn.save(file, "PNG", optimize=True)
    source = base64.b64encode(file.getvalue()).decode()
    return (f"<image x='{_n(x)}' y='{_n(y)}' width='{_n(scale * drawn.width)}' "
            f"height='{_n(scale * drawn.height)}' style='image-rendering: pixelated' "
            f"preserveAspectRatio='none' href='data:image/png;base64,{source}'/>")


def _n(number: float) -> str:
    return f"{round(2 * float(number)) / 2:g}"


def _colour(css: str, options: dict | None = None) -> str:
    filled = "" if options and "fill" in options else " fill='currentColor'"
    return f" class='{css}'{filled}" if css else ""


def _options(options: dict) -> str:
    return "".join(f" {name.replace('_', '-')}='{value}'"
                   for name, value in options.items())
