"""Draws a TensorFlow graph as a Matplotlib figure."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping

import matplotlib.pyplot as plt
import tensorflow as tf
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Patch
from matplotlib.path import Path
from matplotlib.patheffects import withStroke

from helpers.language import INK, LOST, PAPER, SOFT, fill
from helpers.plots.collapse import LINE, Box, collapse
from helpers.plots.layout import Layout, layered
from helpers.tracing import short_device

# The number of a device, tower, or worker determines the colour of a box.
NUMBER = re.compile(r"(?:tower|worker|task|GPU|CPU)[_:](\d+)", re.I)

# A kind, as `language.fill` takes it, and a line of text below the box's own or "".
Mark = tuple[object, str]


def draw_graph(
    graph: tf.Graph,
    *,
    depth: int | Callable[[str], str] = 1,
    colour_by: str = "scope",
    hide: Collection[str] = ("save",),
    mark: Mapping[str, Mark] | None = None,
    edge_label: Mapping[tuple[str, str], str] | None = None,
) -> Figure:
    """Draws a graph with its inputs at the top and its outputs at the bottom.

    Ops are collapsed into their scopes. A variable that only one box uses is counted
    inside this box, and a variable that several boxes share is drawn separately, with a
    thick outline. The ops that belong to a variable (initializer, assignment, read) are
    part of it. Data flows along the arrows, and dashed arrows carry only order. Towers,
    workers, and devices have the colour of their number, and other boxes are grey.

    Args:
      graph: Graph to draw.
      depth: Number of name parts to keep (`"a/b/c"` is `"a"` at 1 and `"a/b"` at 2), or
        a function from an op's name to its box's name. The empty string leaves the op
        out.
      colour_by: `"scope"`, or `"device"` for a legend of the requested devices.
      hide: Outermost scopes that are left out.
      mark: Kinds and labels of some boxes, such as `{"log": ("lost", "NaN")}`. The kind
        is one of `language.fill`, and the label is added below the box's own. All other
        boxes become white. Arrows from a lost box are red.
      edge_label: Labels of arrows by `(from, to)`.

    Returns:
      The figure, for `plots.show`.

    Raises:
      ValueError: If a mark or a label refers to a box or an arrow that is not drawn.
    """
    boxes, edges = collapse(graph.as_graph_def(), depth, set(hide))
    mark, edge_label = mark or {}, edge_label or {}
    for wanted, there in ((mark, boxes), (edge_label, edges)):
        if unknown := [key for key in wanted if key not in there]:
            names = ", ".join(map(repr, there))
            raise ValueError(
                f"Unknown box or arrow {unknown[0]!r}. Choose one of {names}."
            )
    for name, (_, words) in mark.items():
        boxes[name].add_line(words)
    sizes = {name: (box.width, box.height) for name, box in boxes.items()}
    looks, legend = _looks(boxes, colour_by)
    if mark:
        looks, legend = {name: fill(mark[name][0] if name in mark else "plain")
                         for name in boxes}, {}
    lost = {name for name, (kind, _) in mark.items() if kind == "lost"}
    return _paint(boxes, edges, layered(sizes, edges), looks, legend, lost, edge_label)


def _paint(boxes, edges, layout: Layout, looks, legend, lost, edge_label) -> Figure:
    right = max(layout.centre[name][0] + box.width / 2 for name, box in boxes.items())
    right = max([right, *(x for x, _, _ in layout.passages.values())])
    bottom = min(layout.centre[name][1] - box.height / 2 for name, box in boxes.items())
    columns = max(1, min(len(legend), int(right / 1.15)))
    low = 0.22 * -(-len(legend) // columns) + 0.12 * bool(legend)
    # Rounded to tenths, because other versions of fonts or igraph differ slightly.
    width = round(right + 0.2, 1)
    fig, ax = plt.subplots(figsize=(width, 0.2 - bottom + low))
    fig.subplots_adjust(0, 0, 1, 1)
    ax.set_xlim(-0.1, width - 0.1)
    ax.set_ylim(bottom - 0.1 - low, 0.1)
    ax.axis("off")
    for (a, b), data in edges.items():
        _paint_arrow(ax, boxes[a], boxes[b], layout, data,
                     LOST if a in lost else SOFT, edge_label.get((a, b), ""))
    for name, box in boxes.items():
        _paint_box(ax, box, layout.centre[name], looks[name])
    if legend:
        handles = [Patch(**look, label=word) for word, look in legend.items()]
        ax.legend(handles=handles, loc="lower center", ncols=columns, frameon=False,
                  fontsize=9, borderpad=0, columnspacing=1.0, handletextpad=0.4)
    return fig


def _looks(boxes, colour_by) -> tuple[dict[str, dict], dict[str, dict]]:
    """Returns the fill of each box, and the legend, which is empty for scopes."""
    if colour_by == "scope":
        numbers = {name: NUMBER.search(name.split("/")[0]) for name in boxes}
        return {name: fill(int(match[1]) if match else "reference")
                for name, match in numbers.items()}, {}
    key = {}
    for name, box in boxes.items():
        devices = Counter(short_device(op.device) for op in box.ops or box.variables)
        asked = [device for device in devices if device]
        key[name] = asked[0] if len(asked) == 1 else (
            "several devices" if asked else "not pinned")
    taken: dict[int, str] = {}
    legend = {}
    for word in sorted(set(key.values())):
        match = NUMBER.search(word)
        number = int(match[1]) if match else len(key)
        if match or word not in ("several devices", "not pinned"):
            while number in taken:
                number += 1
            taken[number] = word
            legend[word] = fill(number)
        else:
            legend[word] = fill("reference" if word == "not pinned" else "plain")
    return {name: legend[word] for name, word in key.items()}, legend


def _paint_box(ax, box: Box, centre: tuple[float, float], look: dict) -> None:
    x, y = centre
    shape = "round,pad=0,rounding_size=0.14" if box.is_variable else (
        "round,pad=0,rounding_size=0.03")
    ax.add_patch(FancyBboxPatch(
        (x - box.width / 2, y - box.height / 2), box.width, box.height,
        boxstyle=shape, linewidth=2.0 if box.is_variable else 0.8, zorder=3, **look))
    for i, line in enumerate(box.lines):
        height = y + box.height / 2 - 0.07 - LINE * (i + 0.5)
        own = box.name.startswith(box.lines[0]) and line in box.name.split("\n")[0]
        color = INK if own or i == 0 or "hatch" in look else SOFT
        text = ax.text(x, height, line, ha="center", va="center", fontsize=9, zorder=4,
                       color=PAPER if look["facecolor"] == INK else color)
        if "hatch" in look:  # or the hatch would cross the letters
            text.set_bbox({"facecolor": PAPER, "edgecolor": "none", "pad": 0.5})


def _paint_arrow(ax, a: Box, b: Box, layout: Layout, data, color, label) -> None:
    """Draws a smooth arrow between two boxes through the gaps of the layout."""
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
        path=Path(path, codes), arrowstyle="-|>", mutation_scale=8, color=color,
        linewidth=1.6 if label or color == LOST else 0.9,
        linestyle="-" if data else (0, (4, 3)), zorder=2,
    ))
    if label:
        (xa, ya), (xb, yb) = way[0], way[1]
        ax.text((xa + xb) / 2, (ya + yb) / 2, label, ha="center", va="center",
                fontsize=8, zorder=5, color=color if color == LOST else INK,
                path_effects=[withStroke(linewidth=2.5, foreground=PAPER)])
