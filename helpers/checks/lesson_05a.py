"""Exercise check of lesson 05a: the largest difference between towers."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.claims import answering, drawn, exercise, near


@exercise(
    "Exercise 1: tower_spread",
    "The largest distance between two towers is the largest value minus the smallest, "
    "along the axis of the towers. NumPy calls it `np.ptp`.",
    "Begin with `for pairs in zip(*gradient_list, strict=True):` and, inside the loop, "
    "`stacked = tf.stack([gradient for gradient, _ in pairs])`. What is left "
    "are the distances along axis 0.",
    about={
        "returns the largest distance over all gradients": (
            "Any two towers may be the farthest apart, in any gradient, and the "
            "larger value may be in either of them. Compare the towers entry by "
            "entry, and keep the largest distance of all."),
        "returns exactly 0 if all towers have the same gradients": (
            "Subtract the values of the towers from each other. A mean or a square "
            "root on the way leaves rounding errors."),
        "returns NaN if a gradient is NaN": (
            "A comparison with NaN is always false, so a condition such as `if` or "
            "tf.cond loses it. Compute without conditions."),
    },
)
def check_tower_spread(attempt):
    """Checks the largest gradient difference between towers against NumPy."""
    for rng, size in drawn(lambda *pair: pair, 12):
        with tf.Graph().as_default(), tf1.Session() as session:
            tables, lists, case = _towers(rng, size)
            broken = _with_nan(rng, lists)
            with answering(case):
                spreads = [attempt(one)
                           for one in (lists, lists[:1] * len(lists), broken)]
                got, alike, of_broken = session.run(spreads)
            due = max(np.ptp(table, axis=0).max() for table in tables)
            yield near("returns the largest distance over all gradients", due, got,
                       case, 1e-12, 0)
            yield ("returns exactly 0 if all towers have the same gradients",
                   alike == 0.0, f"{case}: with the gradients of tower 0 in all "
                   f"{len(lists)} towers, expected 0, but got {alike}")
            yield ("returns NaN if a gradient is NaN", np.isnan(of_broken),
                   f"{case}: with NaN in one tower, expected NaN, but got {of_broken}. "
                   "A broken tower must not look like agreement.")


def _with_nan(rng: np.random.Generator, lists: list) -> list:
    """Returns the gradient list with one gradient replaced by NaN."""
    tower, at = rng.integers(len(lists)), rng.integers(len(lists[0]))
    gradient, variable = lists[tower][at]
    return [[(gradient * np.nan, variable) if (k, m) == (tower, at) else pair
             for m, pair in enumerate(pairs)] for k, pairs in enumerate(lists)]


def _towers(rng: np.random.Generator, size: int) -> tuple[list, list, str]:
    """Draws gradients for several towers and describes them."""
    towers, dtype = 2 + size % 4, [np.float32, np.float64, np.float16][size % 3]
    tables, columns = [], []
    tiny = 1.0 if size % 2 else 2.0**-30 if dtype != np.float16 else 2.0**-10
    scale = tiny / (3 if dtype == np.float64 else 1)
    for k in range(1 + size // 3):
        shape = rng.integers(1, 5, (size + k) % 4).tolist()
        table = rng.integers(-50, 51, [towers, *shape]) / 4
        variable = tf1.get_variable(f"layer_{k}/kernel", shape, dtype)
        unknown = [shape, [None] * len(shape), shape, None][size % 4]
        tables.append((table * scale).astype(dtype))
        columns.append([(tf1.placeholder_with_default(of_one, unknown), variable)
                        for of_one in tables[-1]])
    shapes = ", ".join(str(list(table.shape[1:])) for table in tables)
    small = "" if size % 2 else "very small "
    case = f"{towers} towers, {small}gradients of {np.dtype(dtype)} {shapes}"
    return tables, [list(pairs) for pairs in zip(*columns, strict=True)], case
