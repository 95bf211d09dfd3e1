"""The checks of lesson 13c: a batch in parts, a gradient of one's own."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.claims import answering, drawn, exercise, near, same


class _Run:
    """A gradient to ask for, which notes the rows that it was given."""

    def __init__(self):
        self.given: list[np.ndarray] = []

    def __call__(self, part) -> np.ndarray:
        self.given.append(np.array(part))
        gradient = np.mean([np.outer(row, np.sin(row)) for row in part], axis=0)
        gradient.flags.writeable = False  # it is not the answer's
        return gradient


def _rows(rng, size):
    """Returns rows, some of them alike or 0, and the most that a part may hold."""
    count = int(rng.integers(1, 3 + size))
    rows = rng.normal(size=(count, int(rng.integers(1, 5)))).round(1)
    rows[: count // 3] = rows[-1] * (size % 2)
    return rows, int(rng.integers(1, count + 3))


@exercise(
    "Exercise 1: in_parts",
    "the last part may be smaller: how much of the whole mean is its mean?",
    "`part = rows[first:first + size]`. What is left: the loop over `first`, and a "
    "share for each part.",
)
def check_in_parts(attempt):
    """Compares `(run, rows, size)` with one large batch, and counts the rows."""
    for rows, size in drawn(_rows, 20):
        run, due = _Run(), _Run()(rows)
        case = f"{len(rows)} rows, parts of at most {size}"
        with answering(case):
            found = attempt(run, rows, size)
        largest = max(map(len, run.given), default=0)
        yield ("no part is above the size", largest <= size,
               f"{case}: a part of {largest} rows was run.")
        sent = sorted(tuple(row) for part in run.given for row in part)
        yield same("every row is used once", sorted(map(tuple, rows)), sent, case)
        yield near("equal to the large batch", due, found,
                   f"{case}, do all rows count the same?", 1e-9, 1e-9)


@exercise(
    "Exercise 2: clipped_on_the_way",
    "`@tf.custom_gradient` goes above `def through(x):`, as in `right_softplus`.",
    "the inner function: `return tf.clip_by_value(upstream, -most, most)`. What is "
    "left: return both, and call it.",
)
def check_clipped_on_the_way(attempt):
    """Compares value and gradient of `(x, most)`, functions above and below."""
    for value, factor, most in drawn(_above_and_below, 12):
        case = f"x {value.tolist()}, factor {factor.tolist()}, most {most}"
        with tf.Graph().as_default(), tf1.Session() as session, answering(case):
            x = tf.constant(value)
            y = attempt(3 * x, most)
            attempt(x, most / 2)  # beside it, with a limit of its own
            [gradient] = tf1.gradients(tf.reduce_sum(factor * tf.square(y)), x)
            got, slope = session.run([y, [] if gradient is None else gradient])
        yield near("gives back what came in", 3 * value,
                   got if tf.is_tensor(y) and y.dtype == x.dtype else y, case, 0, 0)
        due = 3 * np.clip(2 * factor * 3 * value, -most, most)
        exact = 1e-5 if value.dtype == np.float32 else 1e-12
        yield near("clips what comes from above", due, slope,
                   f"{case}, of 3 x, squared, times the factor", exact, exact)


def _above_and_below(rng, size):
    """Returns x, what is multiplied above it, and the limit; some below, some above."""
    dtype = [np.float32, np.float64][size % 2]
    shape = [[2], [], [3, 2], [2, 1, 2]][size % 4]
    numbers = rng.normal(0, 2, [2, *shape]) * (rng.random([2, *shape]) < 0.8)
    value, factor = numbers.astype(dtype)  # some of them 0
    return value, factor, [0.5, 2, 7.5][size % 3]
