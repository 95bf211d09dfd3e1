"""A TensorFlow graph as a picture, inside the notebook, with matplotlib only."""

import textwrap
from collections import Counter, defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import matplotlib.pyplot as plt
import tensorflow as tf
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Patch
from matplotlib.path import Path
from matplotlib.textpath import TextPath

from helpers.tracing import short_device

VARIABLES = {"VarHandleOp", "VariableV2", "Variable"}
COLOURS = ("#cfe3f5", "#fbe0bd", "#d3ebcd", "#e6d8ee", "#f7d3d6", "#f3efb5",
           "#cdeeea", "#e3d5c8")
MIXED = "#e8e8e8"
ROW, GAP, LINE = 0.42, 0.22, 0.165  # inches: between rows, boxes, lines of text


@dataclass
class _Box:
    """One thing in the picture: an op, a collapsed scope, or variables."""

    name: str
    ops: list = field(default_factory=list)
    variables: list = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0
    x: float = 0.0
    y: float = 0.0
    row: int = 0

    @property
    def is_variable(self) -> bool:
        return bool(self.variables) and not self.ops


def draw_graph(
    graph: tf.Graph | tf.compat.v1.GraphDef,
    *,
    depth: int | Callable[[str], str] = 1,
    colour_by: str = "scope",
    hide: str | Collection[str] = ("save",),
) -> Figure:
    """Draws a graph from its inputs at the top to its results at the bottom.

    Ops are collapsed into their scopes. A variable that one box alone uses is
    counted inside that box; one that several boxes share is drawn by itself, with
    a thick rim. What belongs to a variable (initializer, assignment, read) is part
    of it. Data flows along the arrows; dashed arrows carry order only.

    Args:
      graph: a graph or its GraphDef.
      depth: how many parts of a name are kept (`"a/b/c"` is `"a"` at 1, `"a/b"` at
        2), or a function from an op's name to its box's; the empty string leaves
        the op out.
      colour_by: `"scope"`, or `"device"` with a legend of the devices asked for.
      hide: outermost scopes that are left out, one or several.

    Returns:
      The figure, for `plots.show`.

    Raises:
      ValueError: nothing is left to draw, or `colour_by` is another word.
    """
    if colour_by not in ("scope", "device"):
        raise ValueError(f"draw_graph: colour_by is scope or device, not {colour_by}")
    definition = graph.as_graph_def() if isinstance(graph, tf.Graph) else graph
    hidden = {hide} if isinstance(hide, str) else set(hide)
    boxes, edges = _collapse(definition, depth, hidden)
    if not boxes:
        raise ValueError("draw_graph: the graph holds no op to draw")
    for box in boxes.values():
        _label(box)
    rows = _ordered_rows(boxes, edges)
    chains = _place(boxes, rows)
    return _paint(boxes, edges, chains, colour_by)


def _collapse(definition, depth, hide):
    """Returns the boxes by name and the edges `{(from, to): is_data}`."""
    ops = {op.name: op for op in definition.node}
    owner = _variable_owners(ops)
    ops = _without_initialization(ops, owner)
    box_of = {}
    for name in ops:
        group = _group(name, depth)
        if name.split("/")[0] not in hide and group and name not in owner:
            box_of[name] = group
    users = defaultdict(set)
    for name, group in box_of.items():
        for source, data in _inputs(ops[name]):
            if data and source in owner:
                users[owner[source]].add(group)
    boxes = {group: _Box(group) for group in box_of.values()}
    for name, group in box_of.items():
        boxes[group].ops.append(ops[name])
    for variable, groups in users.items():
        place = _variable_box(variable, groups, boxes, depth)
        boxes[place].variables.append(ops[variable])
        box_of[variable] = place
    box_of |= {name: box_of[v] for name, v in owner.items() if v in box_of}
    edges = {}
    for name, op in ops.items():
        for source, data in _inputs(op):
            a, b = box_of.get(source), box_of.get(name)
            if a and b and a != b and name not in owner:
                edges[a, b] = edges.get((a, b), False) or data
    return boxes, edges


def _variable_owners(ops) -> dict[str, str]:
    """Maps a variable's own ops (handle, initializer, read ...) to its name."""
    handles = {name for name, op in ops.items() if op.op in VARIABLES}
    owner = {}
    for name in ops:
        parts = name.split("/")
        for length in range(1, len(parts) + 1):
            if "/".join(parts[:length]) in handles:
                owner[name] = "/".join(parts[:length])
    return owner


def _without_initialization(ops, owner):
    """Leaves out what only waits for variables' own assignments, such as `init`."""
    left = dict(ops)
    while True:
        idle = [
            name for name, op in left.items()
            if op.op == "NoOp" and op.input
            and all(owner.get(source) or source not in left
                    for source, _ in _inputs(op))
        ]
        if not idle:
            return left
        for name in idle:
            del left[name]


def _variable_box(variable, groups, boxes, depth) -> str:
    """Into its only user's box; else into one of all that the same boxes share."""
    if len(groups) == 1:
        return next(iter(groups))
    scope = _group(variable, depth)
    if scope == variable or "/" not in variable:
        name = variable
    else:
        name = f"{scope}\n" + "\n".join(sorted(groups))
    boxes.setdefault(name, _Box(name))
    return name


def _group(name: str, depth) -> str:
    return depth(name) if callable(depth) else "/".join(name.split("/")[:depth])


def _inputs(op):
    """Yields `(name of the op that is read, whether data flows)`."""
    for text in op.input:
        yield text.lstrip("^").split(":")[0], not text.startswith("^")


def _label(box: _Box) -> None:
    """Writes the name and, below it, what is inside."""
    name = box.name.split("\n")[0]
    box.lines = textwrap.wrap(name.replace("/", "/ "), 22, break_on_hyphens=False)
    box.lines = [line.replace("/ ", "/") for line in box.lines]
    if len(box.ops) == 1 and not box.variables:
        if box.ops[0].op.lower() != name.rsplit("/")[-1].lower():
            box.lines.append(box.ops[0].op)
    elif box.ops:
        box.lines.append(f"{len(box.ops)} ops")
    if len(box.variables) == 1 and box.is_variable:
        sides = [side.size for side in box.variables[0].attr["shape"].shape.dim]
        box.lines.append(f"variable {sides}")
    elif box.variables:
        plural = "s" if len(box.variables) > 1 else ""
        box.lines.append(f"{len(box.variables)} variable{plural}")
    box.width = max(_text_width(line) for line in box.lines) + 0.22
    box.height = LINE * len(box.lines) + 0.14


def _text_width(text: str) -> float:
    """Inches at 9 points."""
    return TextPath((0, 0), text or " ", size=9).get_extents().width / 72


def _ordered_rows(boxes, edges):
    """Returns rows of keys: boxes, and `(from, to, row)` where an edge passes by."""
    forward = _without_cycles(list(boxes), edges)
    _longest_path(boxes, forward)
    rows = [[] for _ in range(1 + max(box.row for box in boxes.values()))]
    for name, box in boxes.items():
        rows[box.row].append(name)
    above, below = defaultdict(list), defaultdict(list)
    for a, b in forward:
        stops = [(a, b, row) for row in range(boxes[a].row + 1, boxes[b].row)]
        for stop in stops:
            rows[stop[2]].append(stop)
        chain = [a, *stops, b]
        for one, other in zip(chain, chain[1:], strict=False):
            below[one].append(other)
            above[other].append(one)
    return _fewest_crossings(rows, above, below), above, below


def _without_cycles(names, edges):
    """Drops the edges that close a cycle, found depth first, in the graph's order."""
    after, state, kept = defaultdict(list), {}, []
    for a, b in edges:
        after[a].append(b)
    for root in names:
        stack = [(root, iter(after[root]))] if root not in state else []
        state.setdefault(root, "open")
        while stack:
            name, targets = stack[-1]
            target = next(targets, None)
            if target is None:
                state[name] = "done"
                stack.pop()
            elif state.get(target) != "open":
                kept.append((name, target))
                if target not in state:
                    state[target] = "open"
                    stack.append((target, iter(after[target])))
    return kept


def _longest_path(boxes, forward) -> None:
    """Gives each box its row; what has no input stands right above its first user."""
    before, after = defaultdict(list), defaultdict(list)
    for a, b in forward:
        before[b].append(a)
        after[a].append(b)
    waiting = {name: len(before[name]) for name in boxes}
    ready = [name for name in boxes if not waiting[name]]
    for name in ready:  # grows while we walk it
        for target in after[name]:
            boxes[target].row = max(boxes[target].row, boxes[name].row + 1)
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    for name in boxes:
        if not before[name] and after[name]:
            boxes[name].row = min(boxes[target].row for target in after[name]) - 1


def _fewest_crossings(rows, above, below):
    """Barycenter sweeps down and up; the best order seen is kept."""
    best, fewest = [list(row) for row in rows], _crossings(rows, below)
    for sweep in range(12):
        down = sweep % 2 == 0
        order = rows if down else rows[::-1]
        near = above if down else below
        for fixed, free in zip(order, order[1:], strict=False):
            place = {name: i for i, name in enumerate(fixed)}
            old = {name: i for i, name in enumerate(free)}

            def middle(name, place=place, old=old, near=near):
                seen = [place[n] for n in near[name] if n in place]
                return sum(seen) / len(seen) if seen else old[name]

            free.sort(key=middle)
        now = _crossings(rows, below)
        if now < fewest:
            best, fewest = [list(row) for row in rows], now
    return best


def _crossings(rows, below) -> int:
    total = 0
    for upper, lower in zip(rows, rows[1:], strict=False):
        place = {name: i for i, name in enumerate(lower)}
        ends = [sorted(place[n] for n in below[name] if n in place) for name in upper]
        seen: list[int] = []
        for targets in ends:
            total += sum(other > target for target in targets for other in seen)
            seen += targets
    return total


def _place(boxes, ordered):
    """Sets x and y of the boxes; returns where each edge passes, by key."""
    rows, above, below = ordered
    width = {key: boxes[key].width if key in boxes else 0.12
             for row in rows for key in row}
    x = {}
    for row in rows:
        edge = 0.0
        for key in row:
            x[key] = edge + width[key] / 2
            edge += width[key] + GAP
    for sweep in range(40):
        for row in rows if sweep % 2 else rows[::-1]:
            _settle(row, x, width, above, below)
    left = min(x[key] - width[key] / 2 for key in x)
    top, points = 0.0, {}
    for row in rows:
        tall = max((boxes[key].height for key in row if key in boxes), default=0.2)
        for key in row:
            points[key] = (x[key] - left, -top - tall / 2, tall)
            if key in boxes:
                boxes[key].x, boxes[key].y = points[key][:2]
        top += tall + ROW
    return points


def _settle(row, x, width, above, below) -> None:
    """Moves each key of a row towards its neighbours' mean, order and gaps kept."""
    wish = []
    for key in row:
        near = [x[n] for n in above[key] + below[key]]
        wish.append(sum(near) / len(near) if near else x[key])
    # Blocks of keys that touch move together (pool adjacent violators).
    offset, blocks = 0.0, []
    offsets = []
    for i, key in enumerate(row):
        if i:
            offset += (width[row[i - 1]] + width[key]) / 2 + GAP
        offsets.append(offset)
        blocks.append([wish[i] - offset, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            value, count = blocks.pop()
            previous, number = blocks[-1]
            mean = (previous * number + value * count) / (number + count)
            blocks[-1] = [mean, number + count]
    i = 0
    for value, count in blocks:
        for _ in range(count):
            x[row[i]] = value + offsets[i]
            i += 1


def _paint(boxes, edges, points, colour_by) -> Figure:
    colour, legend = _colours(boxes, colour_by)
    right = max(box.x + box.width / 2 for box in boxes.values())
    bottom = min(box.y - box.height / 2 for box in boxes.values())
    right = max([right, *(x for x, _, _ in points.values())])
    columns = max(1, min(len(legend), int(right / 1.15)))
    low = 0.22 * -(-len(legend) // columns) + 0.12 * bool(legend)
    fig, ax = plt.subplots(figsize=(right + 0.2, 0.2 - bottom + low))
    fig.subplots_adjust(0, 0, 1, 1)
    ax.set_xlim(-0.1, right + 0.1)
    ax.set_ylim(bottom - 0.1 - low, 0.1)
    ax.axis("off")
    for (a, b), data in edges.items():
        _arrow(ax, boxes[a], boxes[b], points, data)
    for box in boxes.values():
        _box(ax, box, colour[box.name])
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


def _box(ax, box: _Box, colour: str) -> None:
    shape = "round,pad=0,rounding_size=0.14" if box.is_variable else (
        "round,pad=0,rounding_size=0.03")
    ax.add_patch(FancyBboxPatch(
        (box.x - box.width / 2, box.y - box.height / 2), box.width, box.height,
        boxstyle=shape, facecolor=colour, edgecolor="0.25",
        linewidth=2.0 if box.is_variable else 0.8, zorder=3,
    ))
    for i, line in enumerate(box.lines):
        y = box.y + box.height / 2 - 0.07 - LINE * (i + 0.5)
        own = box.name.startswith(box.lines[0]) and line in box.name.split("\n")[0]
        ax.text(box.x, y, line, ha="center", va="center", fontsize=9,
                color="0.0" if own or i == 0 else "0.35", zorder=4)


def _arrow(ax, a: _Box, b: _Box, points, data: bool) -> None:
    """A smooth line from box to box through the gaps that the layout left for it."""
    down = a.row < b.row
    if down:
        start, end = (a.x, a.y - a.height / 2), (b.x, b.y + b.height / 2)
    else:  # an edge back up closes a cycle: it leaves and enters at the side
        start, end = (a.x + a.width / 2, a.y), (b.x + b.width / 2, b.y)
    way = [start]
    for row in range(a.row + 1, b.row):
        x, y, tall = points[a.name, b.name, row]
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
