"""Figures of lesson 04a: the bytes of a record file, and undetected damage."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from helpers.language import LOST_TINT, PAPER
from helpers.plots import strip

_KINDS = (0, 1, "reference", 2)
_ROW = 24  # bytes


def draw_bytes(data: bytes, fields: Sequence[int], names: Sequence[str]) -> Figure:
    """Draws a square for each byte of a record file, in the colour of its field.

    Args:
      data: Contents of the file.
      fields: Index in `names` of the field of each byte.
      names: Names of the four fields: length, its checksum, payload, and its checksum.
        The payload is shown as text.

    Taught in lesson 04a, 'The bytes on disk'.
    """
    squares = [(_KINDS[field], chr(byte) if field == 2 else f"{byte:02x}")
               for byte, field in zip(data, fields, strict=True)]
    rows = range(-(-len(data) // _ROW))
    fig, ax = plt.subplots(figsize=(8, 2.4))
    for row in rows:
        strip(ax, squares[_ROW * row:_ROW * (row + 1)], y=-row,
              name=f"byte {_ROW * row}")
    for k, (kind, name) in enumerate(zip(_KINDS, names, strict=True)):
        strip(ax, [(kind, "")], x=(0, 4, 12, 17)[k], y=1.4)
        ax.text((0, 4, 12, 17)[k] + 1.3, 1.9, name, va="center", fontsize=8)
    ax.set(xlim=(-3, _ROW + 1.5), ylim=(-rows[-1], 2.6), aspect="equal")
    ax.axis("off")
    return fig


def draw_left(left: Mapping[str, tuple[int, str]], written: int) -> Figure:
    """Draws the records that survive in each writer's file after a kill.

    Args:
      left: For each writer, the number of readable records and the reader's answer.
      written: Number of records that were written.

    Taught in lesson 04a, 'Writers that stop half way'.
    """
    fig, ax = plt.subplots(figsize=(8, 1.8))
    for k, (name, (count, answer)) in enumerate(left.items()):
        strip(ax, [(0, "")] * count + [("lost", "")] * (written - count), y=-1.9 * k,
              name=name)
        ax.text(written + 0.5, 0.5 - 1.9 * k, f"{count} left, {answer}", va="center",
                fontsize=9)
    ax.set(xlim=(-14, written + 16), ylim=(-1.9 * len(left) + 1.5, 1.2), aspect="equal")
    ax.axis("off")
    return fig


def draw_damage(
    said: Sequence[Sequence[str]], damages: Sequence[str], readers: Sequence[str]
) -> Figure:
    """Draws a table of damages and readers, with undetected damage in red.

    Args:
      said: Answers `[damage, reader]`. Every answer except `"error"` counts as silent.
      damages: Names of the rows.
      readers: Names of the columns.

    Taught in lesson 04a, 'Damage to a shard'.
    """
    fig, ax = plt.subplots(figsize=(7.4, 1.9))
    marked = [[text if text == "error" else f"silent: {text}" for text in row]
              for row in said]
    ax.table(marked, rowLabels=list(damages), colLabels=list(readers), cellLoc="center",
             bbox=Bbox.from_bounds(0.1, 0, 0.9, 1),
             cellColours=[[PAPER if text == "error" else LOST_TINT for text in row]
                          for row in said])
    ax.axis("off")
    return fig
