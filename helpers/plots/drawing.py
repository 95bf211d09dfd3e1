"""Shapes for diagrams: an empty sheet, boxes, arrows, queues, and crosses."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from helpers.language import INK, LOST, PAPER, SOFT, WIDTH, fill

Point = tuple[float, float]


def sheet(width: float = WIDTH, height: float = 3.2) -> tuple[Figure, Axes]:
    """Returns an empty figure whose axes are in inches, with (0, 0) at lower left."""
    fig, ax = plt.subplots(figsize=(width, height))
    fig.subplots_adjust(0, 0, 1, 1)
    ax.set(xlim=(0, width), ylim=(0, height))
    ax.axis("off")
    return fig, ax


def box(
    ax: Axes, x: float, y: float, text: str = "", kind: object = "plain", *,
    width: float = 1.2, height: float = 0.4, size: float = 9,
) -> None:
    """Draws a labelled box, such as a scope, an op, or a process.

    Args:
      ax: Axes to draw on.
      x: Horizontal position of the centre.
      y: Vertical position of the centre.
      text: Label, black, or white on a black box.
      kind: Kind of the box, as for `language.fill`.
      width: Width in units of `ax`.
      height: Height in units of `ax`.
      size: Font size in points.
    """
    ax.add_patch(FancyBboxPatch(
        (x - width / 2, y - height / 2), width, height, zorder=3,
        boxstyle=f"round,pad=0,rounding_size={height * 0.07}", linewidth=1,
        **fill(kind)))
    _word(ax, x, y, text, kind, size)


def arrow(
    ax: Axes, start: Point, end: Point, text: str = "", *, color: str = INK,
    width: float = 1.1,
) -> None:
    """Draws an arrow with an optional label at its middle.

    Args:
      ax: Axes to draw on.
      start: Start point.
      end: End point.
      text: Description of the data that flows, such as `w, 12 B`.
      color: Colour of the line and the text.
      width: Line width in points.
    """
    ax.add_patch(FancyArrowPatch(
        start, end, arrowstyle="-|>", mutation_scale=8 + 2 * width, color=color,
        linewidth=width, linestyle="-", shrinkA=0, shrinkB=0, zorder=2))
    if text:
        (xa, ya), (xb, yb) = start, end
        ax.text((xa + xb) / 2, (ya + yb) / 2, text, ha="center", va="center",
                fontsize=8, color=color, zorder=5,
                bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1})


def cross(ax: Axes, x: float, y: float) -> None:
    """Draws a red cross, which marks a killed process."""
    ax.plot([x], [y], "X", color=LOST, markersize=10, markeredgecolor=PAPER,
            zorder=6, clip_on=False)


def tank(
    ax: Axes, x: float, y: float, held: int, capacity: int, name: str, word: str = "",
    *, closed: bool = False,
) -> None:
    """Draws a queue as a tank with its fill level, name, and state.

    Args:
      ax: Axes to draw on; `sheet` has suitable units.
      x: Left side of the tank.
      y: Bottom of the tank.
      held: Number of items in the queue.
      capacity: Number of items that fit into the queue.
      name: Name of the queue.
      word: State of the queue, such as `full`, which is dotted, or `starves`, which is
        red and hatched.
      closed: Whether the outline is dashed.
    """
    width, height = 0.5, 0.8
    level = height * min(1, held / capacity)
    ax.add_patch(Rectangle((x, y), width, level, **fill(0) | {"edgecolor": "none"}))
    if word in ("full", "starves"):
        hatch = fill("waits" if word == "full" else "starves")
        ax.add_patch(Rectangle((x, y), width, height, linewidth=0,
                               **hatch | {"facecolor": "none"}))
    ax.add_patch(Rectangle((x, y), width, height, fill=False, edgecolor=INK,
                           linewidth=1.3, linestyle=(0, (2, 2)) if closed else "-"))
    right, line = x + width + 0.1, height / 3
    for k, (text, weight, color) in enumerate([
        (name, "bold", INK), (f"{held} of {capacity}", "normal", INK),
        (word, "bold", LOST if word == "starves" else SOFT),
    ]):
        ax.text(right, y + height - line * (k + 0.5), text, va="center", fontsize=9,
                fontweight=weight, color=color)


def _word(ax, x: float, y: float, text: str, kind: object, size: float = 8) -> None:
    """Writes a centred label, in white on black shapes."""
    label = ax.text(x, y, text, ha="center", va="center", fontsize=size, zorder=4,
                    color=PAPER if kind == "control" else INK)
    _clear(label, kind)


def _clear(text, kind: object) -> None:
    """Adds a white background to a text that a hatch would cross."""
    if "hatch" in fill(kind) and text.get_text():
        text.set_bbox({"facecolor": PAPER, "edgecolor": "none", "pad": 1})
