"""The checks of lesson 13b: a batch in parts, a gradient of one's own."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.report import answering, close, drawn, exercise, shown


class _Run:
    """A gradient to ask for, which notes the rows that it was given."""

    def __init__(self):
        self.given: list[np.ndarray] = []

    def __call__(self, part) -> np.ndarray:
        self.given.append(np.array(part))
        return np.mean([np.outer(row, np.sin(row)) for row in part], axis=0)


def _rows(rng, size):
    """Returns rows, some of them alike, and the most that a part may hold."""
    count = int(rng.integers(1, 3 + size))
    rows = rng.normal(size=(count, int(rng.integers(1, 5)))).round(1)
    rows[: count // 3] = rows[-1]
    return rows, int(rng.integers(1, count + 3))


@exercise(
    "Exercise 1: in_parts",
    "the last part may be smaller than the others; how much of the mean over all rows "
    "is its mean?",
    "part = rows[first:first + size]",
)
def check_in_parts(attempt):
    """Compares with one large batch, and counts the rows of every part.

    Args:
      attempt: `(run, rows, size)` to the gradient of the mean loss over all rows.
    """
    for rows, size in drawn(_rows, 20):
        run, before, due = _Run(), rows.copy(), _Run()(rows)
        case = f"{len(rows)} rows, parts of at most {size}"
        with answering(case):
            found = attempt(run, rows, size)
        largest = max(map(len, run.given), default=0)
        yield ("no part is above the size", largest <= size,
               f"{case}: a part of {largest} rows was run.")
        sent = np.concatenate([*run.given, np.empty([0, rows.shape[1]])])
        yield ("every row is used once",
               sorted(map(tuple, sent)) == sorted(map(tuple, before)),
               f"{case}: {len(sent)} rows were run.")
        yield ("equal to the large batch", close(found, due, rtol=1e-6),
               f"{case}: {shown(due, found)}. Do all rows count the same?")
        yield ("the rows stay as they are", np.array_equal(rows, before),
               f"{case}: the array that you were given is changed.")


@exercise(
    "Exercise 2: clipped_on_the_way",
    "`right_softplus` shows the form: a function of `x` that returns the value, and a "
    "function from the gradient above to the gradient below.",
    "@tf.custom_gradient",
    "the inner function returns `tf.clip_by_value(upstream, -most, most)`.",
)
def check_clipped_on_the_way(attempt):
    """Compares value and gradient with the closed form, function above and below.

    Args:
      attempt: `(x, most)` to a tensor like `x`.
    """
    for value, factor, most in drawn(_above_and_below, 12):
        case = f"x {value.tolist()}, factor {factor.tolist()}, most {most}"
        with tf.Graph().as_default(), tf1.Session() as session, answering(case):
            x = tf.constant(value)
            y = attempt(3 * x, most)
            [gradient] = tf1.gradients(tf.reduce_sum(factor * tf.square(y)), x)
            got, slope = session.run([y, [] if gradient is None else gradient])
        yield ("gives back what came in", close(got, 3 * value) and y.dtype == x.dtype,
               f"{case}: {shown(3 * value, got)}")
        yield ("has a gradient", gradient is not None, f"{case}: it is None.")
        due = 3 * np.clip(2 * factor * 3 * value, -most, most)
        yield ("clips what comes from above", close(slope, due, rtol=1e-4),
               f"{case}: of 3 x, squared, times the factor, {shown(due, slope)}")


def _above_and_below(rng, size):
    """Returns x, what is multiplied above it, and the limit; some below, some above."""
    dtype = [np.float32, np.float64][size % 2]
    shape = [[2], [], [3, 2], [2, 1, 2]][size % 4]
    value, factor = rng.normal(0, 2, [2, *shape]).astype(dtype)
    return value, factor, float([0.5, 2, 7.5][size % 3])
