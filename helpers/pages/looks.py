"""Interactive figure of lesson 12b: the attention weights before each word.

Used in lesson 12b, 'Where does it look?'.
"""

from collections.abc import Sequence

import numpy as np
from PIL import Image

from helpers import svg
from helpers.explore import Frame

SIZE = (760, 360)  # of a frame
_LEFT, _WIDTH, _FLOOR, _TALL = 10, 52, 330, 100  # the bars: first, pitch, foot, height
_PICTURE, _LOOK, _TOP, _SIDE = 10, 222, 10, 192  # scene and look: left, left, top
_SHADES = 32
_MOST = 0.4  # attention weight of the darkest colour


def look_frame(
    pixels: np.ndarray, boxes: Sequence[Sequence[float]], words: Sequence[str],
    looks: np.ndarray, shares: np.ndarray, at: int,
) -> Frame:
    """Draws a picture, its caption, and the attention weights before one word.

    Args:
      pixels: A square picture, uint8 `[row, column, 3]`.
      boxes: The boxes of the objects, `[x, y, width, height]` in pixels.
      words: The words of the caption, with `</S>`.
      looks: The weights before each word, `[word, row, column]`.
      shares: The weight on each object, `[word, object]`.
      at: The index of the word whose weights are shown.

    Returns:
      The frame. Its first layer does not depend on `at`.
    """
    outlines = _outlines(boxes, len(pixels))
    image = Image.fromarray(pixels).quantize(48)
    palette = np.array(image.getpalette() or [], int).reshape(-1, 3).tolist()
    scene = svg.picture(_PICTURE, _TOP, np.asarray(image), palette, _SIDE / len(pixels))
    bars = "".join(map(_bar, range(len(words)), words, shares))
    dark = np.linspace(0, 1, _SHADES)[:, None]
    blues = ((1 - dark) * [247, 251, 255] + dark * [0, 70, 130]).astype(int).tolist()
    places = np.minimum(looks[at] / _MOST, 1) * (_SHADES - 1)
    look = svg.picture(_LOOK, _TOP, places.round(), blues, _SIDE / len(places))
    mark = svg.box(_LEFT + _WIDTH * at, _FLOOR - _TALL - 22, _WIDTH - 2, _TALL + 44,
                   "ink", fill="none", stroke="currentColor", stroke_width=2)
    listed = ", ".join(f"{share:.0%} on object {k}" for k, share in
                      enumerate(shares[at], 1))
    says = f"Before '{words[at]}': {listed}, {1 - shares[at].sum():.0%} elsewhere."
    return Frame([scene + _shifted(outlines, 0) + bars,
                  look + _shifted(outlines, _LOOK - _PICTURE) + mark], says)


def _outlines(boxes, side) -> str:
    scale = _SIDE / side
    pieces = []
    for k, (x, y, width, height) in enumerate(boxes):
        x, y = _PICTURE + scale * x, _TOP + scale * y
        for wide, colour in ((5, "#fff"), (2.5, "currentColor")):
            pieces.append(svg.box(x, y, scale * width, scale * height, "abc"[k],
                                  fill="none", stroke=colour, stroke_width=wide))
        pieces.append(svg.text(x + 3, max(y - 4, 13), k + 1, "", fill="#000",
                               stroke="#fff", stroke_width=4, paint_order="stroke",
                               font_weight="bold"))
    return "".join(pieces)


def _shifted(drawn: str, right: int) -> str:
    return f"<g transform='translate({right})'>{drawn}</g>" if right else drawn


def _bar(place, word, shares) -> str:
    """Draws a word below a bar that shows the attention weight on each object.

    A click on it chooses this word.
    """
    left, foot, pieces = _LEFT + _WIDTH * place, _FLOOR, []
    middle = left + _WIDTH / 2 - 1
    pieces.append(svg.box(left + 4, foot - _TALL, _WIDTH - 10, _TALL, "soft",
                          fill_opacity=0.15))
    for k, share in enumerate(shares):
        foot -= _TALL * share
        pieces.append(svg.box(left + 4, foot, _WIDTH - 10, _TALL * share, "abc"[k],
                              fill_opacity=0.6))
        if share > 0.15:
            pieces.append(svg.text(middle, foot + _TALL * share / 2 + 5,
                                   f"{k + 1}: {100 * share:.0f}", "ink",
                                   text_anchor="middle"))
    pieces.append(svg.text(middle, _FLOOR + 16, word, "ink", text_anchor="middle"))
    return svg.choice("".join(pieces), "word", place + 1)
