"""Layered layout of boxes and arrows, computed with Sugiyama's method.

The package igraph computes rows, order, and positions. It ignores the widths of the
boxes, so each column is as wide as the widest box.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import igraph

ROW, GAP = 0.42, 0.22  # inches: between rows, boxes

Edge = tuple[str, str]
Key = str | tuple[str, str, int]  # a box, or an edge's crossing of a row


@dataclass(frozen=True)
class Layout:
    """Positions of all boxes and edges in inches; x points right, and y up from 0.

    Attributes:
      row: Row of each box, counted from the top.
      centre: Coordinates (x, y) of the centre of each box.
      passages: For each `(from, to, row)`, the (x, y, height) at which an edge crosses
        a row between its two ends.
    """

    row: dict[str, int]
    centre: dict[str, tuple[float, float]]
    passages: dict[tuple[str, str, int], tuple[float, float, float]]


def layered(sizes: Mapping[str, tuple[float, float]], edges: Iterable[Edge]) -> Layout:
    """Computes a layered layout in which edges point down and rarely cross.

    An edge that closes a cycle points back up.

    Args:
      sizes: Width and height of each box in inches.
      edges: Pairs (from, to) of box names.

    Returns:
      The layout. No two boxes overlap.

    Source: Sugiyama, Tagawa and Toda, "Methods for visual understanding of hierarchical
    system structures", 1981.
    """
    names = list(sizes)
    forward = _without_cycles(names, list(edges))
    row = _rows(names, forward)
    links = _links(row, forward)
    return _layout(_columns(row, links), row, sizes)


def _graph(names: list, edges: list[tuple]) -> igraph.Graph:
    number = {name: i for i, name in enumerate(names)}
    pairs = [(number[a], number[b]) for a, b in edges]
    return igraph.Graph(len(names), pairs, directed=True)


def _without_cycles(names: list[str], edges: list[Edge]) -> list[Edge]:
    back = set(_graph(names, edges).feedback_arc_set())
    return [edge for i, edge in enumerate(edges) if i not in back]


def _rows(names: list[str], forward: list[Edge]) -> dict[str, int]:
    """Assigns each box to a row; boxes without inputs are placed above their user."""
    graph = _graph(names, forward)
    row = [0] * len(names)
    for box in graph.topological_sorting():
        row[box] = max((row[a] + 1 for a in graph.predecessors(box)), default=0)
    for box in range(len(names)):
        if graph.indegree(box) == 0 < graph.outdegree(box):
            row[box] = min(row[b] for b in graph.successors(box)) - 1
    return dict(zip(names, row, strict=True))


def _links(row: dict[str, int], forward: list[Edge]) -> list[tuple[Key, Key]]:
    """Splits every edge at each row that it crosses."""
    links: list[tuple[Key, Key]] = []
    for a, b in forward:
        stops: list[Key] = [(a, b, r) for r in range(row[a] + 1, row[b])]
        links += zip([a, *stops], [*stops, b], strict=True)
    return links


def _columns(row: dict[str, int], links: list[tuple[Key, Key]]) -> dict[Key, float]:
    """Returns the horizontal position of each box or edge, with few crossings."""
    keys: list[Key] = list(row)
    keys += dict.fromkeys(k for link in links for k in link if isinstance(k, tuple))
    layer = [row[key] if isinstance(key, str) else key[2] for key in keys]
    positions = _graph(keys, links).layout_sugiyama(layers=layer, maxiter=500)
    return {key: place for key, (place, _) in zip(keys, positions, strict=True)}


def _layout(x, row, sizes) -> Layout:
    """Converts rows and columns to positions in inches.

    Rows are placed one below the other. All columns are as wide as the widest box.
    """
    column = max(width for width, _ in sizes.values()) + GAP
    rows = defaultdict(list)
    for key in x:
        rows[row[key] if isinstance(key, str) else key[2]].append(key)
    left = min(x[key] * column - sizes[key][0] / 2 for key in sizes)
    left = min(left, min(x.values()) * column)
    centre, passages, top = {}, {}, 0.0
    for number in sorted(rows):
        tall = max((sizes[key][1] for key in rows[number] if key in sizes), default=0.2)
        for key in rows[number]:
            place = x[key] * column - left, -top - tall / 2
            if key in sizes:
                centre[key] = place
            else:
                passages[key] = (*place, tall)
        top += tall + ROW
    return Layout(row, centre, passages)
