"""The check of lesson 10a: from a session to a module."""

import numpy as np
import tensorflow as tf

from helpers.checks.report import answering, close, drawn, exercise, shown


@exercise(
    "Exercise 1: RunningMean",
    "the old program keeps two numbers; a module keeps them as attributes, and "
    "tf.function can be told the shape of its argument.",
    "def __init__(self): super().__init__(); self.total = tf.Variable(0.0)",
)
def check_running_mean(attempt):
    """Feeds batches of many lengths and compares with NumPy's mean of all of them.

    Args:
      attempt: the class; it is made with no arguments.
    """
    yield ("is a tf.Module with a method `update`",
           isinstance(attempt, type) and issubclass(attempt, tf.Module)
           and callable(getattr(_made(attempt), "update", None)),
           "an object of the class is no tf.Module, or has no `update` to call.")
    for batches in drawn(_batches, how_many=12):
        module, fed = _made(attempt), []
        sizes = [len(batch) for batch in batches]
        for batch in batches:
            fed.extend(batch)
            found = _update(module, batch)
            yield ("returns the mean of everything fed so far",
                   close(found, np.float32(np.mean(fed)), 1e-4, 1e-4),
                   f"after batches of {sizes}, the last {batch.round(2).tolist()}: "
                   f"{shown(np.mean(fed).round(3), found)}.")
        other = _made(attempt)
        for mine, yours in zip(other.variables, module.variables, strict=True):
            mine.assign(yours)
        fed.append(9.0)
        found = _update(other, np.float32([9.0]))
        yield ("keeps all of its state in its variables, where a checkpoint finds it",
               close(found, np.float32(np.mean(fed)), 1e-4, 1e-4),
               "another object with the same variables goes on from another mean: "
               f"{shown(np.mean(fed).round(3), found)}.")
        found = _update(_made(attempt), np.float32([4.0]))
        yield ("two objects do not share their state", close(found, np.float32(4.0)),
               f"a new object was fed 4.0 and answered {found}.")
        traces = _traces(module.update)
        yield ("is traced once, not once per length", traces == 1,
               f"batches of {sizes} made {traces} traces." if traces else
               "nothing was traced: `update` is plain Python.")


def _batches(rng, size):
    """Two to many batches of different lengths; with zeros, negatives and repeats."""
    lengths = 1 + rng.permutation(2 + size)[: 2 + size // 2]
    return [rng.integers(-4, 5, n).astype(np.float32) / 2 for n in lengths]


def _made(attempt):
    with answering("an object of the class"):
        return attempt()


def _update(module, batch):
    with answering(f"update({batch.tolist()})"):
        return np.asarray(module.update(batch))


def _traces(function) -> int:
    """Returns how often a `tf.function` was traced; a concrete one was once."""
    if isinstance(function, tf.types.experimental.ConcreteFunction):
        return 1
    return getattr(function, "experimental_get_tracing_count", lambda: 0)()
