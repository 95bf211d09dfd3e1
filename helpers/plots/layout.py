"""Where the boxes of a layered drawing stand, and where its arrows pass between them.

Rows and order come from igraph (Sugiyama's method). It knows nothing of the width of a
box, so the places within a row are found here.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import igraph

ROW, GAP, PASSAGE = 0.42, 0.22, 0.12  # inches: between rows, boxes; room of an arrow
SWEEPS = 40

Edge = tuple[str, str]
Key = str | tuple[str, str, int]  # a box, or where an edge passes a row


@dataclass(frozen=True)
class Layout:
    """A drawing in inches: x to the right, y upwards from the top edge, at 0.

    Attributes:
      row: of each box, from the top.
      centre: (x, y) of each box.
      passages: by `(from, to, row)`, the (x, y, height) at which an edge crosses a
        row between its two ends.
    """

    row: dict[str, int]
    centre: dict[str, tuple[float, float]]
    passages: dict[tuple[str, str, int], tuple[float, float, float]]


def layered(sizes: Mapping[str, tuple[float, float]], edges: Iterable[Edge]) -> Layout:
    """Places boxes so that edges point down, cross rarely and pass between boxes.

    An edge that closes a cycle is left to run back up.

    Args:
      sizes: (width, height) of each box, in inches.
      edges: (from, to), between names of boxes.

    Returns:
      The layout. No two boxes overlap.

    Source: Sugiyama, Tagawa and Toda, "Methods for visual understanding of
    hierarchical system structures", 1981.
    """
    names = list(sizes)
    forward = _without_cycles(names, list(edges))
    row = _rows(names, forward)
    links = _links(row, forward)
    rows = _ordered(row, links)
    widths: dict[Key, float] = {name: width for name, (width, _) in sizes.items()}
    x = _columns(rows, links, widths)
    return _layout(rows, x, row, sizes)


def _graph(names: list, edges: list[tuple]) -> igraph.Graph:
    number = {name: i for i, name in enumerate(names)}
    pairs = [(number[a], number[b]) for a, b in edges]
    return igraph.Graph(len(names), pairs, directed=True)


def _without_cycles(names: list[str], edges: list[Edge]) -> list[Edge]:
    back = set(_graph(names, edges).feedback_arc_set())
    return [edge for i, edge in enumerate(edges) if i not in back]


def _rows(names: list[str], forward: list[Edge]) -> dict[str, int]:
    """Returns each box's row; what has no input stands right above its first user."""
    graph = _graph(names, forward)
    row = [0] * len(names)
    for box in graph.topological_sorting():
        row[box] = max((row[a] + 1 for a in graph.predecessors(box)), default=0)
    for box in range(len(names)):
        if graph.indegree(box) == 0 < graph.outdegree(box):
            row[box] = min(row[b] for b in graph.successors(box)) - 1
    return dict(zip(names, row, strict=True))


def _links(row: dict[str, int], forward: list[Edge]) -> list[tuple[Key, Key]]:
    """Returns the edges cut at every row that they pass."""
    links: list[tuple[Key, Key]] = []
    for a, b in forward:
        stops: list[Key] = [(a, b, r) for r in range(row[a] + 1, row[b])]
        links += zip([a, *stops], [*stops, b], strict=True)
    return links


def _ordered(row: dict[str, int], links: list[tuple[Key, Key]]) -> list[list[Key]]:
    """Returns the rows from left to right, in igraph's order of few crossings."""
    keys: list[Key] = list(row)
    keys += dict.fromkeys(k for link in links for k in link if isinstance(k, tuple))
    layer = [row[key] if isinstance(key, str) else key[2] for key in keys]
    found = _graph(keys, links).layout_sugiyama(layers=layer)
    rows: list[list[Key]] = [[] for _ in range(1 + max(layer))]
    for i in sorted(range(len(keys)), key=lambda i: found[i][0]):
        rows[layer[i]].append(keys[i])
    return rows


def _columns(
    rows: list[list[Key]], links: list[tuple[Key, Key]], widths: dict[Key, float]
) -> dict[Key, float]:
    """Returns the x of each key: rows keep their order and move to their neighbours."""
    near: dict[Key, list[Key]] = defaultdict(list)
    for a, b in links:
        near[a].append(b)
        near[b].append(a)
    x: dict[Key, float] = {}
    offsets = []
    for row in rows:
        half = [widths.get(key, PASSAGE) / 2 for key in row]
        offset = [0.0]
        for left, right in zip(half, half[1:], strict=False):
            offset.append(offset[-1] + left + right + GAP)
        offsets.append(offset)
        x |= {key: half[0] + place for key, place in zip(row, offset, strict=True)}
    order = list(zip(rows, offsets, strict=True))
    for sweep in range(SWEEPS):
        for row, offset in order if sweep % 2 else order[::-1]:
            wish = [sum(x[n] for n in near[k]) / len(near[k]) if near[k] else x[k]
                    for k in row]
            x |= zip(row, _settled(wish, offset), strict=True)
    left = min(x[key] - widths.get(key, PASSAGE) / 2 for key in x)
    return {key: place - left for key, place in x.items()}


def _settled(wish: list[float], offset: list[float]) -> list[float]:
    """Returns the places nearest to those wished for that keep the order and the gaps.

    Neighbours that touch move together (the pool-adjacent-violators algorithm).
    """
    blocks: list[tuple[float, int]] = []
    for target, place in zip(wish, offset, strict=True):
        block = (target - place, 1)
        while blocks and blocks[-1][0] > block[0]:
            mean, count = blocks.pop()
            total = mean * count + block[0] * block[1]
            block = (total / (count + block[1]), count + block[1])
        blocks.append(block)
    moved = [mean for mean, count in blocks for _ in range(count)]
    return [mean + place for mean, place in zip(moved, offset, strict=True)]


def _layout(rows, x, row, sizes) -> Layout:
    """Returns the layout with the rows one below the other."""
    centre, passages, top = {}, {}, 0.0
    for keys in rows:
        tall = max((sizes[key][1] for key in keys if key in sizes), default=0.2)
        for key in keys:
            if key in sizes:
                centre[key] = (x[key], -top - tall / 2)
            else:
                passages[key] = (x[key], -top - tall / 2, tall)
        top += tall + ROW
    return Layout(row, centre, passages)
