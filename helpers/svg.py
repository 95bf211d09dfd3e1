"""SVG elements for the frames of interactive figures.

A colour is one of the classes of the figure: `ink`, `soft` (secondary), `a` to `d`
(tower, worker, or device 0 to 3), and `bad` (lost, dead, or NaN, and nothing else). The
colours follow dark mode. Coordinates are rounded to half a pixel, because a figure
contains many of them.
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
      x: Left end, or the position that `text_anchor` defines.
      y: Baseline.
      words: Text, or any object. The characters `<` and `&` are escaped.
      css: Colour class.
      **options: SVG attributes, with `_` for `-`, such as `text_anchor="middle"`.
    """
    return (f"<text x='{_n(x)}' y='{_n(y)}'{_colour(css)}{_options(options)}>"
            f"{html.escape(str(words), quote=False)}</text>")


def line(
    xs: Iterable[float], ys: Iterable[float], css: str, width: float = 2,
    **options: object,
) -> str:
    """Returns the SVG of an open line through points.

    Args:
      xs: Horizontal coordinates, from left to right.
      ys: Vertical coordinates, as many as `xs`, which grow downwards.
      css: Colour class.
      width: Line width in pixels.
      **options: SVG attributes, such as `stroke_dasharray="6 4"`.
    """
    points = "L".join(f"{_n(x)} {_n(y)}" for x, y in zip(xs, ys, strict=True))
    return (f"<path class='{css}' d='M{points}' fill='none' stroke='currentColor' "
            f"stroke-width='{width:g}'{_options(options)}/>")


def box(
    x: float, y: float, width: float, height: float, css: str, **options: object
) -> str:
    """Returns the SVG of a filled rectangle.

    Args:
      x: Left side.
      y: Top.
      width: Width in pixels.
      height: Height in pixels.
      css: Colour class.
      **options: SVG attributes, such as `fill_opacity=0.2` or `fill="none"`.
    """
    return (f"<rect x='{_n(x)}' y='{_n(y)}' width='{_n(width)}' height='{_n(height)}'"
            f"{_colour(css, options)}{_options(options)}/>")


def choice(drawn: str, control: str, value: object) -> str:
    """Returns a part of a drawing that chooses a value when it is clicked.

    The control itself remains, so the keyboard reaches the same value.

    Args:
      drawn: SVG of the part.
      control: Label of the control.
      value: Value of the control.
    """
    label, word = (html.escape(str(words)) for words in (control, value))
    return f"<g data-control='{label}' data-value='{word}'>{drawn}</g>"


def picture(
    x: float, y: float, values: np.ndarray,
    palette: Sequence[Sequence[int]] | np.ndarray,
    scale: float = 1,
) -> str:
    """Returns the SVG of a picture with indexed colours, one square per value.

    Args:
      x: Left side.
      y: Top.
      values: Indices into the palette, integers `[row, column]`.
      palette: Up to 256 colours, each with red, green, and blue from 0 to 255.
      scale: Width of a square in pixels.
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
