"""Groups the ops of a graph into boxes for drawing, with labels and edges."""

import textwrap
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

import tensorflow as tf
from matplotlib.textpath import TextPath

from helpers.graph import VARIABLE_TYPES

LINE = 0.165  # inches: the height of a line of text


@dataclass
class Box:
    """Box of a drawn graph that stands for an op, a scope, or some variables.

    Attributes:
      name: Key of the box. The text before the first line break is shown.
      ops: NodeDefs of the ops in the box.
      variables: NodeDefs of the variables in the box.
      lines: Lines of the label.
      width: Width in inches, including the border.
      height: Height in inches, including the border.
    """

    name: str
    ops: list = field(default_factory=list)
    variables: list = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0

    def add_line(self, text: str) -> None:
        """Appends a line to the label, unless it is empty, and updates the size."""
        self.lines += [text] if text else []
        self.width = max(_text_width(line) for line in self.lines) + 0.22
        self.height = LINE * len(self.lines) + 0.14

    @property
    def is_variable(self) -> bool:
        """Whether the box contains variables and no other ops."""
        return bool(self.variables) and not self.ops


def collapse(
    definition: tf.compat.v1.GraphDef, depth: int | Callable[[str], str], hide: set[str]
) -> tuple[dict[str, Box], dict[tuple[str, str], bool]]:
    """Groups the ops of a graph into labelled boxes, and returns their edges.

    Args:
      definition: Graph definition.
      depth: Number of name parts to keep, or a function from an op's name to its box's
        name. The empty string leaves the op out.
      hide: Outermost scopes that are left out.

    Returns:
      The boxes by name, in the order of the graph, and the edges `{(from, to):
      is_data}`. An edge without data carries only order.
    """
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
    boxes = {group: Box(group) for group in box_of.values()}
    for name, group in box_of.items():
        boxes[group].ops.append(ops[name])
    for variable, groups in users.items():
        place = _variable_box(variable, groups, boxes, depth)
        boxes[place].variables.append(ops[variable])
        box_of[variable] = place
    box_of |= {name: box_of[v] for name, v in owner.items() if v in box_of}
    edges: dict[tuple[str, str], bool] = {}
    for name, op in ops.items():
        for source, data in _inputs(op):
            a, b = box_of.get(source), box_of.get(name)
            if a and b and a != b and name not in owner:
                edges[a, b] = edges.get((a, b), False) or data
    for box in boxes.values():
        _label(box)
    return boxes, edges


def _variable_owners(ops) -> dict[str, str]:
    """Maps each op that belongs to a variable to the variable's name."""
    handles = {name for name, op in ops.items() if op.op in VARIABLE_TYPES}
    owner = {}
    for name in ops:
        parts = name.split("/")
        for length in range(1, len(parts) + 1):
            if "/".join(parts[:length]) in handles:
                owner[name] = "/".join(parts[:length])
    return owner


def _without_initialization(ops, owner):
    """Removes ops that only wait for assignments to variables, such as `init`."""
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
    """Returns the box of a variable: that of its only user, or a shared one."""
    if len(groups) == 1:
        return next(iter(groups))
    scope = _group(variable, depth)
    if scope == variable or "/" not in variable:
        name = variable
    else:
        name = f"{scope}\n" + "\n".join(sorted(groups))
    boxes.setdefault(name, Box(name))
    return name


def _group(name: str, depth) -> str:
    return depth(name) if callable(depth) else "/".join(name.split("/")[:depth])


def _inputs(op):
    """Yields `(op name, is_data)` for each input of an op."""
    for text in op.input:
        yield text.lstrip("^").split(":")[0], not text.startswith("^")


def _label(box: Box) -> None:
    """Writes the label of a box: its name, and a summary of its contents."""
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
    box.add_line("")


def _text_width(text: str) -> float:
    """Returns the width of a text in inches at a font size of 9 points."""
    return TextPath((0, 0), text or " ", size=9).get_extents().width / 72
