"""Exercise check of lesson 05b: the average of the gradients of several towers."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.claims import (
    answering,
    close,
    drawn,
    exercise,
    near,
    raises,
    same,
)


class Towers:
    """Random gradient list, with the kind and the values of each gradient."""

    def __init__(self, rng: np.random.Generator, size: int):
        towers = [2, 4, 5, 1][size % 4]
        kinds = rng.choice(["dense", "sparse", "none"], 1 + size // 4)
        self.kinds = ["dense" if size < 2 else "sparse", *kinds][: 1 + size // 2]
        dtype = np.float64 if size % 3 == 1 else np.float32
        self.tables, columns = [], []
        for k, kind in enumerate(self.kinds):
            shape = [1 + int(rng.integers(5)), *rng.integers(1, 4, size % 2).tolist()]
            variable = tf1.get_variable(f"variable_{k}", shape, dtype)
            tables = np.zeros([towers, *shape], dtype)
            column = []
            for table in tables:
                rows = rng.integers(0, shape[0], 3, np.int32)
                rows = np.arange(shape[0]) if kind == "dense" else rows
                values = rng.integers(-50, 51, [len(rows), *shape[1:]])
                values = (values / (1 + 2 * (dtype == np.float64))).astype(dtype)
                np.add.at(table, rows, values)
                dense = tf1.placeholder_with_default(
                    table, shape if size % 2 else [None, *shape[1:]])
                column.append({"none": None, "dense": dense,
                               "sparse": tf.IndexedSlices(*map(
                                   tf.constant, (values, rows, shape)))}[kind])
            self.tables.append(None if kind == "none" else tables)
            columns.append([(gradient, variable) for gradient in column])
        self.lists = [list(pairs) for pairs in zip(*columns, strict=True)]

    def __str__(self) -> str:
        return f"{len(self.lists)} towers, gradients {', '.join(self.kinds)}"


@exercise(
    "Exercise 1: process_gradient_list",
    "If errors are missing: `zip(*gradient_list)` returns one pair per tower for "
    "each variable. What does zip do if one list is longer? Compare the "
    "variables with `is`, because two of them may have the same last name.",
    "If averages are wrong: divide the weights by their sum, and multiply each "
    "gradient by its share. Of IndexedSlices, multiply the `values`, and concatenate "
    "`values` and `indices` as `add_sparse` does.",
    "Begin with `for pairs in zip(*gradient_list, strict=True):` and `gradients, "
    "variable = [g for g, _ in pairs], pairs[0][1]`. What is left are three cases: "
    "None, IndexedSlices, and tensors.",
    about={
        "raises ValueError if the towers do not match": (
            "All lists need the same variables, the same length, and None at the same "
            "places. This also holds for a tower whose weight is 0."),
        "keeps None as None, and sparse gradients sparse": (
            "If no tower has a gradient for a variable, the result has the pair of "
            "None and the variable. If the gradients are IndexedSlices, so is their "
            "average."),
        "returns the weighted averages that NumPy computes": (
            "The shares of all towers have to sum to 1, and the sparse gradients need "
            "them, too. Rows of several towers are concatenated, because each tower "
            "has other indices."),
    },
)
def check_process_gradient_list(attempt):
    """Checks averaged tower gradients against NumPy, and the errors."""
    for rng, size in drawn(lambda *pair: pair, 14):
        with tf.Graph().as_default(), tf1.Session() as session:
            towers = Towers(rng, size)
            yield from _average_claims(attempt, towers, size, rng, session)
            for what, broken, *weights in _broken(towers.lists, rng):
                with answering(f"{towers}, {what}"):
                    refused = raises(ValueError, attempt, broken, *weights)
                yield ("raises ValueError if the towers do not match", refused,
                       f"{towers}: {what}, but there was no ValueError")


def _average_claims(attempt, towers, size, rng, session):
    lists = [list(pairs) for pairs in towers.lists]
    weights = [*rng.integers(0, 6, len(lists) - 1).tolist(), [3, 0.5][rng.integers(2)]]
    weights = weights if size % 2 else None
    case = f"{towers}, weights {weights}"
    with answering(case):
        found = attempt(lists, weights[:]) if weights else attempt(lists)
    pairs = isinstance(found, list) and all(
        isinstance(pair, tuple) and len(pair) == 2 for pair in found)
    yield ("returns [(gradient, variable), ...] in the order of tower 0",
           pairs and [id(v) for _, v in found] == [id(v) for _, v in towers.lists[0]],
           f"{case}: it returned {found!r:.60}, which is no such list")
    kinds = ["none" if gradient is None else "sparse" if isinstance(
        gradient, tf.IndexedSlices) else "dense" for gradient, _ in found]
    yield same("keeps None as None, and sparse gradients sparse", towers.kinds, kinds,
               case)
    tables = [table for table in towers.tables if table is not None]
    with answering(case):
        averages = session.run([_dense(g, v) for g, v in found if g is not None])
    for got, table in zip(averages, tables, strict=True):
        average = np.average(table, axis=0, weights=weights)
        exact = 1e-5 if got.dtype == np.float32 else 1e-12
        claim, holds, wrong = near(
            "returns the weighted averages that NumPy computes", average,
            got, case, exact, exact)
        if got.dtype != table.dtype:
            holds, wrong = False, (f"{case}: the gradients are {table.dtype}, but "
                                   f"their average is {got.dtype}")
        elif not holds and got.dtype == np.float64 and close(got, average, 1e-5, 1e-5):
            wrong += (". The difference is a rounding to float32: TensorFlow turns a "
                      "Python number into float32 unless it multiplies float64")
        yield claim, holds, wrong


def _dense(gradient, variable):
    """Converts a gradient to a tensor; its rows need not name their dense shape."""
    if isinstance(gradient, tf.IndexedSlices) and gradient.dense_shape is None:
        return tf.math.unsorted_segment_sum(
            gradient.values, gradient.indices, variable.shape[0])
    return tf.convert_to_tensor(gradient)


def _broken(lists, rng):
    """Yields invalid gradient lists, each with a description of its fault."""
    yield "an empty list", []
    if len(lists) == 1:
        return
    k = int(rng.integers(len(lists)))
    extra, twin = ((tf.constant(1.0), tf1.get_variable(name, []))
                   for name in ("one/w", "two/w"))
    longer = [[*pairs, extra] for pairs in lists]
    none = [[*pairs, (None, extra[1])] for pairs in lists]
    most, least = [(longer, none), (none, longer)][rng.integers(2)]
    both = [[*pairs, twin] for pairs in longer]
    own = lists[k]
    for what, of_all, of_one in (
        ("one variable more", lists, longer[k]),
        ("one variable less", longer, own),
        ("another order", both, [*own, twin, extra]),
        ("None where the other towers have a gradient, or the reverse", most, least[k]),
    ):
        broken = [*of_all[:k], of_one, *of_all[k + 1:]]
        yield f"tower {k} has {what}", broken
        idle = [float(n != k) for n in range(len(lists))]
        yield f"tower {k}, whose weight is 0, has {what}", broken, idle
