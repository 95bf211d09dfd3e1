"""Charts that several lessons share: timelines, strips, matrices, and trees."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.patches import Rectangle

from helpers.language import INK, SIGNED, SOFT, TOWER, fill
from helpers.plots.drawing import _clear, _word, cross

_SIGNED = LinearSegmentedColormap.from_list("signed", SIGNED)
_FRAMES = (INK, TOWER[2], TOWER[3])  # neither ochre nor blue

# From, to, a kind as `language.fill` takes it, and a word or "".
Span = tuple[float, float, object, str]


def lanes(
    ax: Axes, spans: Mapping[str, Sequence[Span]], *,
    kills: Sequence[tuple[str, float]] = (), unit: str = "seconds",
) -> None:
    """Draws a timeline with one horizontal lane per thread, process, or device.

    Args:
      ax: Axes to draw on. The first lane is at the top.
      spans: Spans `(from, to, kind, label)` by lane. As a kind, the number of a worker
        means that it works, `"waits"` that it waits or starts, and `"lost"` that it is
        lost.
      kills: Pairs `(lane, time)`, each of which is marked with a red cross.
      unit: Unit of the time axis.
    """
    names = list(spans)
    for k, name in enumerate(names):
        for start, end, kind, word in spans[name]:
            ax.barh(k, end - start, left=start, height=0.66, linewidth=0.8,
                    **fill(kind))
            _word(ax, (start + end) / 2, k, word, kind)
    for name, moment in kills:
        cross(ax, moment, names.index(name))
    ax.set_yticks(range(len(names)), names)
    ax.set(ylim=(len(names) - 0.5, -0.5), xlabel=unit)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def strip(
    ax: Axes, squares: Sequence[tuple[object, str]], *, x: float = 0, y: float = 0,
    name: str = "",
) -> None:
    """Draws a row of unit squares, such as records, steps, or bytes.

    The caller sets the axes with `ax.set(xlim=..., ylim=..., aspect="equal")`.

    Args:
      ax: Axes to draw on.
      squares: Kind of each square, as for `language.fill`, and its text.
      x: Left end of the strip.
      y: Bottom of the strip.
      name: Label at the left of the strip.
    """
    for k, (kind, text) in enumerate(squares):
        ax.add_patch(Rectangle((x + k + 0.04, y + 0.04), 0.92, 0.92, linewidth=0.8,
                               **fill(kind)))
        _word(ax, x + k + 0.5, y + 0.5, text, kind)
    ax.text(x - 0.3, y + 0.5, name, ha="right", va="center", fontsize=9)


def weights(
    ax: Axes, matrix: np.ndarray, *, columns: Mapping[str, int] | None = None,
    rows: Mapping[str, int] | None = None, digits: int | None = None,
) -> None:
    """Draws a matrix as coloured squares, with labelled blocks of rows and columns.

    Negative values are blue, positive ones are ochre, and 0 is white.

    Args:
      ax: Axes to draw on.
      matrix: Values `[rows, columns]`.
      columns: Number of columns of each block by its name, from the left. Blocks are
        framed, and each name has a colour that no square has.
      rows: Number of rows of each block by its name, from the top. Blocks are separated
        by dashed lines.
      digits: Number of digits of the values to print into the squares, or `None`.
    """
    matrix = np.asarray(matrix)
    limit = float(np.abs(matrix).max()) or 1.0
    ax.imshow(matrix, cmap=_SIGNED, vmax=limit, vmin=-limit, aspect="equal",
              interpolation="nearest")
    height, width = matrix.shape
    order = sorted(columns or {})
    left = -0.5
    for name, wide in (columns or {}).items():
        color = _FRAMES[order.index(name) % len(_FRAMES)]
        ax.add_patch(Rectangle((left, -0.5), wide, height, fill=False, linewidth=2.2,
                               edgecolor=color, clip_on=False, zorder=3))
        ax.text(left + wide / 2, -0.65, name, ha="center", va="bottom", fontsize=9,
                fontweight="bold", color=color)
        left += wide
    top = -0.5
    for name, high in (rows or {}).items():
        ax.text(-0.8, top + high / 2, name, ha="right", va="center", fontsize=9)
        top += high
        if top < height - 0.5:
            ax.plot([-0.5, width - 0.5], [top, top], color=INK, linewidth=1.2,
                    linestyle=(0, (3, 2)))
    for (r, c), value in np.ndenumerate(matrix) if digits is not None else ():
        ax.text(c, r, f"{value:.{digits}f}", ha="center", va="center", fontsize=8,
                color="white" if abs(value) > 0.6 * limit else INK)
    ax.set_axis_off()


def end_labels(ax: Axes, *, room: float = 0.25) -> None:
    """Labels each line at its right end, in place of a legend.

    The axis line ends where the data end, so no tick is below a label.

    Args:
      ax: Axes whose lines have a `label`. Labels that would overlap are moved apart.
      room: Share by which the axes become wider for the labels.
    """
    left, right = ax.get_xlim()
    log = ax.get_xscale() == "log"
    ax.set_xticks([tick for tick in ax.get_xticks() if left <= tick <= right],
                  minor=False)
    ax.spines["bottom"].set_bounds(left, right)
    ax.set_xlim(left, right * (right / left) ** room if log
                else right + room * (right - left))
    ends = []
    for line in ax.get_lines():
        points = np.asarray(line.get_xydata())
        if not str(line.get_label()).startswith("_") and len(points):
            point = points[-1]
            ends.append([*ax.transData.transform(point), point, line])
    line_height = 11 * ax.figure.dpi / 72
    ends.sort(key=lambda end: end[1])
    for below, above in zip(ends, ends[1:], strict=False):
        above[1] = max(above[1], below[1] + line_height)
    for _, height, point, line in ends:
        shift = height - ax.transData.transform(point)[1]
        ax.annotate(line.get_label(), point, (6, shift * 72 / ax.figure.dpi),
                    textcoords="offset points", va="center", fontsize=9,
                    color=to_hex(line.get_color()), annotation_clip=False)


def reference(ax: Axes, value: float, name: str) -> None:
    """Draws a labelled reference line, such as chance level or an earlier result."""
    ax.axhline(value, color=SOFT, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    ax.annotate(name, (1, value), (-2, 2), xycoords=("axes fraction", "data"),
                textcoords="offset points", ha="right", va="bottom", fontsize=9,
                color=SOFT, bbox={"facecolor": "none", "edgecolor": "none"})


def tree(
    ax: Axes, names: Mapping[str, str], *, kinds: Mapping[str, object] | None = None,
    title: str = "",
) -> None:
    """Draws names with slashes as a tree, with one line per part of a name.

    Args:
      ax: Axes to draw on. A quarter of an inch per line is enough.
      names: Note to write beside each name, such as its shape, by full name, such as
        `tower/conv/weights`. The tree has the same order.
      kinds: Kinds, as for `language.fill`, by full name or by prefix such as
        `tower/conv`. They colour the background of the lines below the prefix.
      title: Title of the tree.
    """
    lines = []
    for name in names:
        parts = name.split("/")
        for depth in range(1, len(parts) + 1):
            if (path := "/".join(parts[:depth])) not in lines:
                lines.append(path)
    widest = max(2 * path.count("/") + len(path.rsplit("/")[-1]) + len(
        names.get(path, "")) + 3 for path in lines)
    for k, path in enumerate(lines):
        depth, last = path.count("/"), path.rsplit("/")[-1]
        kind = next((kind for start, kind in (kinds or {}).items()
                     if f"{path}/".startswith(f"{start}/")), None)
        if kind is not None:
            ax.add_patch(Rectangle((2 * depth, -k - 0.95), widest - 2 * depth, 0.9,
                                   linewidth=0, **fill(kind) | {"edgecolor": "none"}))
        if depth:
            parent = lines.index(path.rsplit("/", 1)[0])
            ax.plot([2 * depth - 1.3, 2 * depth - 1.3, 2 * depth - 0.3],
                    [-parent - 0.95, -k - 0.5, -k - 0.5], color=SOFT,
                    linewidth=0.9, linestyle="-")
        leaf = path in names
        text = ax.text(2 * depth + 0.3, -k - 0.5, last if leaf else f"{last}/",
                       va="center", fontsize=9, family="monospace", color=INK,
                       fontweight="bold" if leaf else "normal")
        note = ax.text(widest - 0.3, -k - 0.5, names.get(path, ""), va="center",
                       ha="right", fontsize=8, color=SOFT if kind is None else INK)
        if kind is not None:
            _clear(text, kind)
            _clear(note, kind)
    ax.set(xlim=(-0.5, widest), ylim=(-len(lines) - 0.2, 0.2))
    ax.set_title(title)
    ax.set_axis_off()
