"""Exercise check of lesson 10a: a running mean as a `tf.Module`."""

import numpy as np
import tensorflow as tf

from helpers.checks.claims import answering, drawn, exercise, near


@exercise(
    "Exercise 1: RunningMean",
    "The argument `input_signature` of `tf.function` fixes the type and the shape of "
    "what `update` takes.",
    "Begin with `def __init__(self):`, which calls `super().__init__()` and creates "
    "`self.total = tf.Variable(0.0)`. What is left are the count, and `update` with "
    "its signature.",
    about={
        "returns the mean of everything fed so far": (
            "A long batch counts more than a short one. Keep the sum of all values "
            "and their number, and divide after both were updated."),
        "keeps its whole state in its variables, where a checkpoint finds it": (
            "Each object needs variables of its own, which are created in `__init__`. "
            "A number of Python is not saved, and a variable of the class belongs to "
            "all objects."),
        "is traced once, not once per length": (
            "`update` is a tf.function, whose signature leaves the length of the "
            "batch open."),
        "runs without an error":
            "The signature has to allow every length, so the length in its shape is "
            "None.",
    },
    is_class=True,
)
def check_running_mean(attempt):
    """Checks a running mean on batches of different lengths against NumPy."""
    yield ("is a tf.Module with a method `update`",
           issubclass(attempt, tf.Module)
           and callable(getattr(_made(attempt), "update", None)),
           "the class is not a tf.Module, or its objects have no method `update`.")
    for batches in drawn(_batches, how_many=12):
        module, fed = _made(attempt), []
        sizes = [len(batch) for batch in batches]
        for batch in batches:
            fed.extend(batch)
            yield near("returns the mean of everything fed so far", np.mean(fed),
                       _update(module, batch),
                       f"after batches of {sizes}, the last one {batch}", 1e-4, 1e-4)
        other = _made(attempt)
        _update(other, np.float32([1.0]))  # the first call may make the variables
        for mine, yours in zip(other.variables, module.variables, strict=True):
            mine.assign(yours)
        yield near("keeps its whole state in its variables, where a checkpoint finds "
                   "it", np.mean([*fed, 9.0]), _update(other, np.float32([9.0])),
                   "with another object that got the same variables", 1e-4, 1e-4)
        traces = _traces(module.update)
        yield ("is traced once, not once per length", traces == 1,
               f"batches of {sizes} numbers caused {traces} traces." if traces else
               "nothing was traced, because `update` is plain Python.")


def _batches(rng, size):
    """Draws batches of different lengths with zeros, negatives, and repeated values."""
    lengths = 1 + rng.permutation(2 + size)[: 2 + size // 2]
    if size == 11:
        lengths[0] = 70_000  # more than half a precision counts
    return [rng.integers(-4, 5, n).astype(np.float32) / 3 for n in lengths]


def _made(attempt):
    with answering("an object of the class"):
        return attempt()


def _update(module, batch):
    with answering(f"update({batch})"):
        return np.asarray(module.update(tf.constant(batch)))


def _traces(function) -> int:
    """Returns the number of times that a `tf.function` was traced."""
    if isinstance(function, tf.types.experimental.ConcreteFunction):
        return 1
    return getattr(function, "experimental_get_tracing_count", lambda: 0)()
