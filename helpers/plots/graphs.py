"""A TensorFlow graph as a picture, inside the notebook, with no browser."""

from collections import Counter
from collections.abc import Callable, Collection

import matplotlib.pyplot as plt
import tensorflow as tf
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Patch
from matplotlib.path import Path

from helpers.plots.collapse import LINE, Box, collapse
from helpers.plots.layout import Layout, layered
from helpers.tracing import short_device

# Black text is read on each of them, and no two look alike to a colour-blind reader.
COLOURS = ("#a9cdf0", "#ffc27a", "#c9ffa6", "#cc99c2", "#ff8099", "#ffd9bf",
           "#ba8cff", "#ffa38c")
MIXED = "#e8e8e8"


def draw_graph(
    graph: tf.Graph,
    *,
    depth: int | Callable[[str], str] = 1,
    colour_by: str = "scope",
    hide: Collection[str] = ("save",),
) -> Figure:
    """Draws a graph from its inputs at the top to its results at the bottom.

    Ops are collapsed into their scopes. A variable that one box alone uses is
    counted inside that box; one that several boxes share is drawn by itself, with
    a thick rim. What belongs to a variable (initializer, assignment, read) is part
    of it. Data flows along the arrows; dashed arrows carry order only.

    Args:
      graph: what to draw.
      depth: how many parts of a name are kept (`"a/b/c"` is `"a"` at 1, `"a/b"` at
        2), or a function from an op's name to its box's; the empty string leaves
        the op out.
      colour_by: `"scope"`, or `"device"` with a legend of the devices asked for.
      hide: outermost scopes that are left out.

    Returns:
      The figure, for `plots.show`.
    """
    boxes, edges = collapse(graph.as_graph_def(), depth, set(hide))
    sizes = {name: (box.width, box.height) for name, box in boxes.items()}
    return _paint(boxes, edges, layered(sizes, edges), colour_by)


def _paint(boxes, edges, layout: Layout, colour_by) -> Figure:
    colour, legend = _colours(boxes, colour_by)
    right = max(layout.centre[name][0] + box.width / 2 for name, box in boxes.items())
    right = max([right, *(x for x, _, _ in layout.passages.values())])
    bottom = min(layout.centre[name][1] - box.height / 2 for name, box in boxes.items())
    columns = max(1, min(len(legend), int(right / 1.15)))
    low = 0.22 * -(-len(legend) // columns) + 0.12 * bool(legend)
    # Tenths of an inch: another release of a font or of igraph moves the last digits.
    width = round(right + 0.2, 1)
    fig, ax = plt.subplots(figsize=(width, 0.2 - bottom + low))
    fig.subplots_adjust(0, 0, 1, 1)
    ax.set_xlim(-0.1, width - 0.1)
    ax.set_ylim(bottom - 0.1 - low, 0.1)
    ax.axis("off")
    for (a, b), data in edges.items():
        _paint_arrow(ax, boxes[a], boxes[b], layout, data)
    for name, box in boxes.items():
        _paint_box(ax, box, layout.centre[name], colour[name])
    if legend:
        handles = [Patch(facecolor=c, edgecolor="0.3", label=d)
                   for d, c in legend.items()]
        ax.legend(handles=handles, loc="lower center", ncols=columns, frameon=False,
                  fontsize=9, borderpad=0, columnspacing=1.0, handletextpad=0.4)
    return fig


def _colours(boxes, colour_by):
    """Returns the colour of each box and the legend (empty for scopes)."""
    key = {}
    for name, box in boxes.items():
        devices = Counter(short_device(op.device) for op in box.ops or box.variables)
        if colour_by == "scope":
            key[name] = name.split("\n")[0].split("/")[0]
        else:
            asked = [device for device in devices if device]
            key[name] = asked[0] if len(asked) == 1 else "several" if asked else ""
    words = sorted(set(key.values()) - {"", "several"}) if colour_by == "device" else (
        list(dict.fromkeys(key.values())))
    table = {word: COLOURS[i % len(COLOURS)] for i, word in enumerate(words)}
    table |= {word: MIXED for word in key.values() if word not in table}
    names = {"": "not pinned", "several": "several devices"}
    legend = {} if colour_by == "scope" else {
        names.get(word, word): table[word] for word in sorted(table)}
    return {name: table[word] for name, word in key.items()}, legend


def _paint_box(ax, box: Box, centre: tuple[float, float], colour: str) -> None:
    x, y = centre
    shape = "round,pad=0,rounding_size=0.14" if box.is_variable else (
        "round,pad=0,rounding_size=0.03")
    ax.add_patch(FancyBboxPatch(
        (x - box.width / 2, y - box.height / 2), box.width, box.height,
        boxstyle=shape, facecolor=colour, edgecolor="0.25",
        linewidth=2.0 if box.is_variable else 0.8, zorder=3,
    ))
    for i, line in enumerate(box.lines):
        height = y + box.height / 2 - 0.07 - LINE * (i + 0.5)
        own = box.name.startswith(box.lines[0]) and line in box.name.split("\n")[0]
        ax.text(x, height, line, ha="center", va="center", fontsize=9,
                color="0.0" if own or i == 0 else "0.35", zorder=4)


def _paint_arrow(ax, a: Box, b: Box, layout: Layout, data: bool) -> None:
    """A smooth line from box to box through the gaps that the layout left for it."""
    (xa, ya), (xb, yb) = layout.centre[a.name], layout.centre[b.name]
    down = layout.row[a.name] < layout.row[b.name]
    if down:
        start, end = (xa, ya - a.height / 2), (xb, yb + b.height / 2)
    else:  # an edge back up closes a cycle: it leaves and enters at the side
        start, end = (xa + a.width / 2, ya), (xb + b.width / 2, yb)
    way = [start]
    for row in range(layout.row[a.name] + 1, layout.row[b.name]):
        x, y, tall = layout.passages[a.name, b.name, row]
        way += [(x, y + tall / 2), (x, y - tall / 2)]
    way.append(end)
    path, codes = [start], [Path.MOVETO]
    for (x0, y0), (x1, y1) in zip(way, way[1:], strict=False):
        bend = (y0 + y1) / 2
        middle = [(x0, bend), (x1, bend)] if down else [(x0 + 0.5, y0), (x1 + 0.5, y1)]
        path += [*middle, (x1, y1)]
        codes += [Path.CURVE4] * 3
    ax.add_patch(FancyArrowPatch(
        path=Path(path, codes), arrowstyle="-|>", mutation_scale=8, color="0.35",
        linewidth=0.9, linestyle="-" if data else (0, (4, 3)), zorder=2,
    ))
