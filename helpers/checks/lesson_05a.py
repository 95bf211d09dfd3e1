"""The checks of lesson 05a: the towers' spread, and their average."""

from collections.abc import Callable, Iterator

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.report import Claim, answering, close, drawn, exercise, shown


class Towers:
    """A drawn gradient list and what NumPy knows of it; small sizes come first.

    Attributes:
      lists: `[(gradient, variable), ...]` per tower.
      tables: per variable the towers' gradients as arrays `[towers, ...]`, or `None`.
      kinds: per variable `"dense"`, `"sparse"` or `"none"`.
    """

    def __init__(self, rng: np.random.Generator, size: int):
        towers = 1 + (size + 1) % 4
        kinds = rng.choice(["dense", "sparse", "none"], 1 + size // 4)
        self.kinds = ["dense" if size < 2 else "sparse", *kinds][: 1 + size // 2]
        dtype = np.float64 if size % 3 == 2 else np.float32
        self.tables, columns = [], []
        for k, kind in enumerate(self.kinds):
            shape = [1 + int(rng.integers(5)), *rng.integers(1, 4, size % 2)]
            variable = tf1.get_variable(f"variable_{k}", shape, dtype)
            tables = np.zeros([towers, *shape], dtype)
            column = []
            for table in tables:
                rows = rng.integers(0, shape[0], shape[0] if kind == "dense" else 3)
                rows = np.arange(shape[0]) if kind == "dense" else rows
                values = rng.integers(-5, 6, [len(rows), *shape[1:]]).astype(dtype)
                np.add.at(table, rows, values)
                column.append(
                    None if kind == "none" else tf.constant(table)
                    if kind == "dense" else tf.IndexedSlices(
                        tf.constant(values), tf.constant(rows), tf.constant(shape)))
            self.tables.append(None if kind == "none" else tables)
            columns.append([(gradient, variable) for gradient in column])
        self.lists = [list(pairs) for pairs in zip(*columns, strict=True)]

    def __str__(self) -> str:
        return f"{len(self.lists)} towers, gradients {', '.join(self.kinds)}"


@exercise(
    "Exercise 1: tower_spread",
    "NumPy's np.ptp is largest minus smallest along an axis; tf.reduce_max and "
    "tf.reduce_min are its parts. Which gradients are no tensors yet?",
    "begin with: for pairs in zip(*gradient_list): where pairs[0][0] is not None, "
    "stacked = tf.stack([tf.convert_to_tensor(g) for g, _ in pairs]).",
)
def check_tower_spread(attempt: Callable) -> Iterator[Claim]:
    """Compares drawn spreads with NumPy's.

    Args:
      attempt: a gradient list to a scalar tensor.
    """
    def case(rng, size):
        with tf.Graph().as_default(), tf1.Session() as session:
            towers = Towers(rng, size)
            both = [attempt(lists) for lists in
                    (towers.lists, towers.lists[:1] * len(towers.lists))]
            scalar = all(tf.is_tensor(t) and t.shape.rank == 0 for t in both)
            yield "returns a scalar tensor", scalar, f"{towers}: {both[0]!r:.60}"
            with answering(str(towers)):
                got, same = session.run(both)
            due = max(np.ptp(table, axis=0).max() for table in towers.tables
                      if table is not None)
            yield ("is the largest distance over all gradients", close(got, due),
                   f"{towers}: {shown(due, got)}")
            yield ("is exactly 0 for towers that share one batch", same == 0.0,
                   f"{towers}: four times the same tower gave {same}")

    for claims in drawn(case, 12):
        yield from claims


@exercise(
    "Exercise 2: process_gradient_list",
    "zip(*gradient_list) gives you, variable by variable, one pair per tower. What "
    "does zip do with a list that is longer than the others?",
    "begin with: for pairs in zip(*gradient_list, strict=True): gradients = [g for "
    "g, _ in pairs], and treat None, IndexedSlices and tensors apart.",
)
def check_process_gradient_list(attempt: Callable) -> Iterator[Claim]:
    """Compares drawn averages with NumPy's, then breaks the lists.

    Args:
      attempt: `(gradient_list, weights=None)` to `[(gradient, variable), ...]`.
    """
    def case(rng, size):
        with tf.Graph().as_default(), tf1.Session() as session:
            towers = Towers(rng, size)
            yield from _average_claims(attempt, towers, size, rng, session)
            for what, broken in _broken(towers.lists, rng):
                yield ("what does not fit is a ValueError", _refuses(attempt, broken),
                       f"{towers}: {what}, and no ValueError came")

    for claims in drawn(case, 14):
        yield from claims


def _average_claims(attempt, towers, size, rng, session) -> Iterator[Claim]:
    """Claims about one average, plain or weighted."""
    weights = rng.integers(1, 6, len(towers.lists)).tolist() if size % 2 else None
    found = attempt(towers.lists, weights) if weights else attempt(towers.lists)
    case = f"{towers}, weights {weights}"
    due = [variable for _, variable in towers.lists[0]]
    pairs = isinstance(found, list) and all(
        isinstance(pair, tuple) and len(pair) == 2 for pair in found)
    yield ("returns [(gradient, variable), ...] in the order of tower 0",
           pairs and [id(v) for _, v in found] == [id(v) for v in due],
           f"{case}: it returned {found!r:.60}")
    kinds = ["none" if gradient is None else "sparse" if isinstance(
        gradient, tf.IndexedSlices) else "dense" for gradient, _ in found]
    yield ("None stays None, and sparse stays sparse", kinds == towers.kinds,
           f"{case}: the averages are {', '.join(kinds)}")
    tables = [table for table in towers.tables if table is not None]
    with answering(case):
        averages = session.run([tf.convert_to_tensor(g) for g, _ in found
                                if g is not None])
    for got, table in zip(averages, tables, strict=True):
        average = np.average(table, axis=0, weights=weights)
        yield ("averages as NumPy does, weights counted",
               close(got, average) and got.dtype == table.dtype,
               f"{case}: {shown(average, got)}, {got.dtype}")


def _broken(lists, rng) -> Iterator[tuple[str, list]]:
    """Yields what is wrong with a list, and the list."""
    yield "an empty list", []
    if len(lists) == 1:
        return
    k = int(rng.integers(1, len(lists)))
    extra = (tf.constant(1.0), tf1.get_variable("extra", []))
    yield f"tower {k} lists one variable more", _with(lists, k, [*lists[k], extra])
    yield f"tower {k} lacks a variable", _with(
        [[*pairs, extra] for pairs in lists], k, lists[k])
    twin = (tf.constant(1.0), tf1.get_variable("twin", []))
    order = [[*pairs, extra, twin] for pairs in lists]
    yield f"tower {k} has another order", _with(order, k, [*lists[k], twin, extra])
    yield f"tower {k} has None where others do not", _with(
        [[*pairs, extra] for pairs in lists], k, [*lists[k], (None, extra[1])])


def _with(lists: list, k: int, pairs: list) -> list:
    return [*lists[:k], pairs, *lists[k + 1:]]


def _refuses(attempt: Callable, gradient_list: list) -> bool:
    try:
        attempt(gradient_list)
    except ValueError:
        return True
    return False
