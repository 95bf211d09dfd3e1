"""Exercise checks of lesson 13c: gradient accumulation, and a custom gradient."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.claims import answering, drawn, exercise, listed, near


class _Run:
    """Gradient function that records the rows of each call."""

    def __init__(self):
        self.given: list[np.ndarray] = []

    def __call__(self, part) -> np.ndarray:
        self.given.append(np.array(part))
        if not len(part):  # a claim of the check says so
            return np.zeros(2 * np.shape(part)[1:])
        gradient = np.mean([np.outer(row, np.sin(row)) for row in part], axis=0)
        gradient.flags.writeable = False  # an answer must not change it
        return gradient


def _rows(rng, size):
    """Draws rows of data and the maximum size of a part."""
    count = int(rng.integers(1, 3 + size))
    rows = rng.normal(size=(count, int(rng.integers(1, 5)))).round(1)
    rows[: count // 3] = rows[-1] * (size % 2)
    return rows, int(rng.integers(1, count + 3))


@exercise(
    "Exercise 1: in_parts",
    "The last part may have fewer rows than the others. How much should its mean "
    "count in the mean of all rows?",
    "Begin with `part = rows[first:first + size]`. The loop over `first`, and the "
    "share of each part, are left.",
    about={
        "returns the gradient of the whole batch": (
            "Each part counts as much as it has rows. Multiply its mean by its number "
            "of rows, and divide by the number of all rows."),
        "uses every row exactly once": (
            "The next part begins where the last one ends, and the last part may be "
            "smaller."),
        "runs without an error": (
            "The array that `run` returns must not be changed, but *= and += write "
            "into it."),
    },
)
def check_in_parts(attempt):
    """Checks that the parts of a batch give the gradient of the whole batch."""
    for rows, size in drawn(_rows, 20):
        run, due = _Run(), _Run()(rows)
        case = f"{len(rows)} rows, parts of at most {size}"
        with answering(case):
            found = attempt(run, rows, size)
        largest = max(map(len, run.given), default=0)
        yield ("runs no part with more rows than size", largest <= size,
               f"{case}: it ran a part of {largest} rows.")
        yield ("runs no empty part", all(map(len, run.given)),
               f"{case}: part {[*map(len, run.given), 0].index(0) + 1} has no rows.")
        sent = sorted(tuple(row) for part in run.given for row in part)
        yield ("uses every row exactly once", sent == sorted(map(tuple, rows)),
               f"{case}: the parts had {[*map(len, run.given)]} rows, "
               + ("which are not the given ones." if len(sent) == len(rows) else
                  f"{len(sent)} together."))
        yield near("returns the gradient of the whole batch", due, found, case, 1e-9,
                   1e-9)


@exercise(
    "Exercise 2: clipped_on_the_way",
    "Define an inner function, `def through(x):`, with `@tf.custom_gradient` above it, "
    "as for `right_softplus`.",
    "Its second function ends with `return tf.clip_by_value(upstream, -most, most)`. "
    "To return both, and to call `through`, is left.",
    about={
        "returns its input unchanged":
            "Only the gradient is clipped. On the way forward, the value passes as it "
            "is.",
        "clips the gradient from above": (
            "Each number of the gradient is clipped alone, on both sides, whatever "
            "the value of x is. The bounds are `-most` and `most`."),
        "runs without an error": (
            "X may be float64, too. A number of Python takes the type of the tensor "
            "beside it, but a tensor of float32 does not."),
    },
)
def check_clipped_on_the_way(attempt):
    """Checks an identity op that clips the gradient passing through it."""
    for value, factor, most in drawn(_above_and_below, 12):
        case = f"x {listed(value, 3)}, factor {listed(factor, 3)}, most {most}"
        with tf.Graph().as_default(), tf1.Session() as session, answering(case):
            x = tf.constant(value)
            y = attempt(3 * x, most)
            attempt(x, most / 2)  # beside it, with a limit of its own
            [gradient] = tf1.gradients(tf.reduce_sum(factor * tf.square(y)), x)
            got, slope = session.run([y, [] if gradient is None else gradient])
        yield near("returns its input unchanged", 3 * value,
                   got if tf.is_tensor(y) and y.dtype == x.dtype else y, case, 0, 0)
        due = 3 * np.clip(2 * factor * 3 * value, -most, most)
        exact = 1e-5 if value.dtype == np.float32 else 1e-12
        yield near("clips the gradient from above", due, slope,
                   f"{case}, gradient of factor * clipped_on_the_way(3 * x, most) ** 2",
                   exact, exact)


def _above_and_below(rng, size):
    """Draws an input, the factor of its loss, and the gradient limit."""
    dtype = [np.float32, np.float64][size % 2]
    shape = [[2], [], [3, 2], [2, 1, 2]][size % 4]
    numbers = rng.normal(0, 2, [2, *shape]) * (rng.random([2, *shape]) < 0.8)
    value, factor = numbers.astype(dtype)  # some values are 0
    return value, factor, [0.5, 2, 7.5][size % 3]
