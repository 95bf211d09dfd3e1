"""The check of lesson 05a: the towers' spread."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.report import answering, drawn, exercise, near


@exercise(
    "Exercise 1: tower_spread",
    "`np.ptp` is largest minus smallest along an axis.",
    "begin with: `for pairs in zip(*gradient_list, strict=True):` and `stacked = "
    "tf.stack([gradient for gradient, _ in pairs])`. What is left: the distances.",
)
def check_tower_spread(attempt):
    """Compares the spread of `(gradient_list)` with NumPy's."""
    for rng, size in drawn(lambda *pair: pair, 12):
        with tf.Graph().as_default(), tf1.Session() as session:
            tables, lists, case = _towers(rng, size)
            both = [attempt(one) for one in (lists, lists[:1] * len(lists))]
            with answering(case):
                got, alike = session.run(both)
            due = max(np.ptp(table, axis=0).max() for table in tables)
            yield near("is the largest distance over all gradients", due, got, case,
                       1e-12, 1e-12)
            yield ("is exactly 0 for towers that share one batch", alike == 0.0,
                   f"{case}: {len(lists)} times the same tower gave {alike}")


def _towers(rng: np.random.Generator, size: int) -> tuple[list, list, str]:
    """Returns per variable its towers' gradients, the gradient list, and its text."""
    towers, dtype = 2 + size % 4, [np.float32, np.float64, np.float16][size % 3]
    tables, columns = [], []
    for k in range(1 + size // 3):
        shape = rng.integers(1, 5, (size + k) % 4).tolist()
        table = rng.integers(-50, 51, [towers, *shape]) / 4
        variable = tf1.get_variable(f"layer_{k}/kernel", shape, dtype)
        unknown = [shape, [None] * len(shape), shape, None][size % 4]
        tables.append((table / (3 if dtype == np.float64 else 1)).astype(dtype))
        columns.append([(tf1.placeholder_with_default(of_one, unknown), variable)
                        for of_one in tables[-1]])
    shapes = ", ".join(str(list(table.shape[1:])) for table in tables)
    case = f"{towers} towers, gradients of {np.dtype(dtype)} {shapes}"
    return tables, [list(pairs) for pairs in zip(*columns, strict=True)], case
