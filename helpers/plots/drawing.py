"""What placed drawings are made of: a sheet, boxes, arrows, tanks, a cross."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from helpers.language import INK, LOST, PAPER, SOFT, WIDTH, fill

Point = tuple[float, float]


def sheet(width: float = WIDTH, height: float = 3.2) -> tuple[Figure, Axes]:
    """Returns an empty figure whose units are inches, (0, 0) at the lower left."""
    fig, ax = plt.subplots(figsize=(width, height))
    fig.subplots_adjust(0, 0, 1, 1)
    ax.set(xlim=(0, width), ylim=(0, height))
    ax.axis("off")
    return fig, ax


def box(
    ax: Axes, x: float, y: float, text: str = "", kind: object = "plain", *,
    width: float = 1.2, height: float = 0.4, thick: bool = False, size: float = 9,
) -> None:
    """Draws a box round a text: a scope, an op, a process.

    Args:
      ax: where to.
      x: of its middle.
      y: of its middle.
      text: black, or white on what is black.
      kind: as `language.fill` takes it.
      width: in units of `ax`.
      height: the same.
      thick: a thick round rim: a variable.
      size: of the text, in points.
    """
    ax.add_patch(FancyBboxPatch(
        (x - width / 2, y - height / 2), width, height, zorder=3,
        boxstyle=f"round,pad=0,rounding_size={height * (0.3 if thick else 0.07)}",
        linewidth=2.2 if thick else 1, **fill(kind)))
    label = ax.text(x, y, text, ha="center", va="center", fontsize=size, zorder=4,
                    color=PAPER if kind == "control" else INK)
    _clear(label, kind)


def arrow(
    ax: Axes, start: Point, end: Point, text: str = "", *, color: str = INK,
    order: bool = False, bend: float = 0.0, width: float = 1.1,
) -> None:
    """Draws an arrow, with a text at its middle.

    Args:
      ax: where to.
      start: where data or order comes from.
      end: where it goes.
      text: what flows, such as `w, 12 B`.
      color: of line and text.
      order: dashed: nothing flows, one waits for the other.
      bend: to the right of its way, as a share of its length.
      width: of the line, in points.
    """
    ax.add_patch(FancyArrowPatch(
        start, end, arrowstyle="-|>", mutation_scale=8 + 2 * width, color=color,
        linewidth=width, linestyle=(0, (4, 3)) if order else "-", shrinkA=0, shrinkB=0,
        connectionstyle=f"arc3,rad={bend}", zorder=2))
    if text:
        (xa, ya), (xb, yb) = start, end
        middle = (xa + xb) / 2 + bend * (yb - ya) / 2, (ya + yb) / 2 - (
            bend * (xb - xa) / 2)
        ax.text(*middle, text, ha="center", va="center", fontsize=8, color=color,
                zorder=5, bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1})


def cross(ax: Axes, x: float, y: float, text: str = "") -> None:
    """Draws a kill: a red cross, its words beside it."""
    ax.plot([x], [y], "X", color=LOST, markersize=10, markeredgecolor=PAPER,
            zorder=6, clip_on=False)
    if text:
        ax.annotate(text, (x, y), (8, 0), textcoords="offset points", va="center",
                    color=LOST, fontsize=9, fontweight="bold", zorder=6)


def tank(
    ax: Axes, x: float, y: float, held: int, capacity: int, name: str, word: str = "",
    *, kind: object = 0, closed: bool = False, width: float = 0.5, height: float = 0.8,
) -> None:
    """Draws a queue: a tank, its level, its name, n of N and one word.

    Args:
      ax: where to; `sheet` has fitting units.
      x: of its left side.
      y: of its bottom.
      held: the number of its items.
      capacity: how many it can hold.
      name: of the queue.
      word: how it stands, such as `full` or `starves`; `starves` is red and striped,
        `full` dotted.
      kind: of its items, as `language.fill` takes it.
      closed: a dashed rim.
      width: of the tank, in units of `ax`.
      height: the same.
    """
    level = height * min(1, held / capacity)
    ax.add_patch(Rectangle((x, y), width, level, **fill(kind) | {"edgecolor": "none"}))
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


def _clear(text, kind: object) -> None:
    """Puts paper under a text that a hatch would cross."""
    if "hatch" in fill(kind) and text.get_text():
        text.set_bbox({"facecolor": PAPER, "edgecolor": "none", "pad": 1})
