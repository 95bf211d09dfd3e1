"""The checks of lesson 01: variable scope."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.report import exercise
from helpers.errors import first_line

BATCH, VALUES, UNITS = 7, 5, 3
STEPS = 3


@exercise(
    "Exercise 1: siamese",
    "where one graph with a shared layer was built, under `A layer called twice, "
    "again`: two calls of the layer, the second in a scope of another mode.",
    'a = layers.fully_connected_layer(left, units, name="embed")',
)
def check_siamese(attempt):
    """Counts variables, compares with NumPy, calls again in other scopes.

    Args:
      attempt: `(left, right, units)` to the squared distance `[batch]`.
    """
    with tf.Graph().as_default() as graph:
        left = tf1.placeholder(tf.float32, [None, VALUES])
        right = tf1.placeholder(tf.float32, [None, VALUES])
        distance = attempt(left, right, UNITS)
        yield ("returns a tensor", isinstance(distance, tf.Tensor),
               f"it returned {type(distance).__name__}.")
        names = sorted(v.op.name for v in tf1.global_variables())
        yield ("makes one kernel and one bias", len(names) == 2,
               f"the graph holds {names}: the two calls must share one layer.")
        called = [name.split("/")[-2:] for name in names]
        yield ("the layer is called embed",
               called == [["embed", "bias"], ["embed", "kernel"]],
               f"the graph holds {names}.")
        yield ("one number for each pair", distance.shape.rank == 1,
               f"the shape is {distance.shape}, wanted (batch,): the sum goes over the "
               "units, and over nothing else.")
        got, inputs = _distances(graph, distance, left, right)
        yield ("equals NumPy's squared distance",
               got.shape == (BATCH,) and np.allclose(got, _squared(*inputs), rtol=1e-4),
               _which_fault(got, *inputs))
    yield from _siamese_in_scopes(attempt)


def _distances(graph, distance, left, right):
    """Runs an attempt on random inputs, with a bias that is not zero."""
    rng = np.random.default_rng(11)
    a, b = rng.normal(size=[2, BATCH, VALUES]).astype(np.float32)
    kernel = next(v for v in tf1.global_variables() if "kernel" in v.name)
    bias = next(v for v in tf1.global_variables() if "bias" in v.name)
    with tf1.Session(graph=graph) as session:
        session.run(tf1.global_variables_initializer())
        bias.load([1.0, -2.0, 0.5], session)
        got, k, c = session.run([distance, kernel, bias], {left: a, right: b})
    return got, (a, b, k, c)


def _squared(a, b, kernel, bias):
    return (((a @ kernel + bias) - (b @ kernel + bias)) ** 2).sum(axis=1)


def _which_fault(got, a, b, kernel, bias) -> str:
    """Says which likely slip gives these numbers."""
    left, right = a @ kernel + bias, b @ kernel + bias
    squares = (left - right) ** 2
    faults = {
        "that is the layer of the difference: its bias counts, while two results "
        "cancel theirs": ((a - b) @ kernel + bias) ** 2,
        "an activation is applied, and the layer is to be linear":
            (np.maximum(left, 0) - np.maximum(right, 0)) ** 2,
        "these are absolute differences, not squares": np.abs(left - right),
    }
    found = {text: values.sum(axis=1) for text, values in faults.items()}
    found["a square root was taken"] = np.sqrt(squares.sum(axis=1))
    found["it is a mean over the units, not their sum"] = squares.mean(axis=1)
    found["the sum goes over the batch, not over the units"] = squares.sum(axis=0)
    for text, values in found.items():
        if values.shape == got.shape and np.allclose(got, values, rtol=1e-4):
            return f"{text}."
    return (f"for the first pair {squares.sum(axis=1)[0]:.3f} was wanted, you got "
            f"{np.ravel(got)[0]:.3f}.")


def _siamese_in_scopes(attempt):
    """Calls in two scopes of the caller, then again in one that reuses."""
    with tf.Graph().as_default():
        left = right = tf.zeros([BATCH, VALUES])
        for scope in ("one", "two"):
            with tf1.variable_scope(scope):
                attempt(left, right, UNITS)
                left_on = tf1.get_variable_scope().reuse
        count = len(tf1.global_variables())
        yield ("in two scopes of the caller: two layers", count == 4,
               f"{count} variables instead of 4: the caller's scope is lost.")
        yield ("leaves the caller's scope as it was", not left_on,
               "reuse is still on in the caller's scope after your function.")
        with tf1.variable_scope("one", reuse=True):
            attempt(left, right, UNITS)
        count = len(tf1.global_variables())
        yield ("in a scope that reuses: no new layer", count == 4,
               f"{count} variables instead of 4: the caller's mode is overruled.")


OPTIMIZERS = {
    "gradient descent": lambda: tf1.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: tf1.train.MomentumOptimizer(0.1, 0.9),
    "Adam": lambda: tf1.train.AdamOptimizer(0.1),
}
MODES = {"no reuse": False, "reuse": True, "AUTO_REUSE": tf1.AUTO_REUSE}


@exercise(
    "Exercise 2: minimize_anywhere",
    "the last cell of `Reuse and the optimizer`: which mode may both create "
    "and return, and what kept the two optimizers from having a slot each?",
    "with tf1.variable_scope(name, reuse=tf1.AUTO_REUSE):",
)
def check_minimize_anywhere(attempt):
    """Trains under every mode of reuse, and compares with undisturbed training.

    Args:
      attempt: `(optimizer, loss, name)` to the train op.
    """
    for name, make in OPTIMIZERS.items():
        wanted, *_ = _trained(lambda opt, loss, _: opt.minimize(loss), make, False)
        for mode, reuse in MODES.items():
            where = f"{name} under {mode}"
            try:
                w, train, own, after = _trained(attempt, make, reuse)
            except ValueError as error:
                yield (f"{where}: minimizes", False,
                       f"{first_line(error)} The scope that is open when the optimizer "
                       "makes its variables refuses to create or to return them.")
                return
            yield (f"{where}: returns an op", isinstance(train, tf.Operation),
                   f"it returned {type(train).__name__}, not what minimize returns.")
            yield (f"{where}: the mode is the same afterwards", after == reuse,
                   f"it was {reuse} and is {after}: the colleague's scope has changed.")
            yield (f"{where}: {STEPS} steps", np.allclose(w, wanted),
                   f"w is {w.round(3)}, {name} gives {wanted.round(3)}: it must be the "
                   "optimizer that was given, and one step at a time.")
            astray = [v for v in own if "train_a" not in v.split("/")]
            yield (f"{where}: its own variables are in the scope of that name",
                   not astray, f"{astray} are not in the scope `train_a`.")
    yield from _two_optimizers(attempt)


def _trained(attempt, make, reuse):
    """Trains three steps; returns w, the train op, other variables, the mode after."""
    with tf.Graph().as_default() as graph:
        w = tf1.get_variable("w", [3], initializer=tf1.ones_initializer())
        with tf1.variable_scope(tf1.get_variable_scope(), reuse=reuse) as scope:
            train = attempt(make(), tf.reduce_sum(w**2 * [1.0, 2.0, 3.0]), "train_a")
            after = scope.reuse
        if not isinstance(train, tf.Operation):
            return np.zeros(3), train, [], after
        with tf1.Session(graph=graph) as session:
            session.run(tf1.global_variables_initializer())
            for _ in range(STEPS):
                session.run(train)
            values = session.run(w)
        own = [v.op.name for v in tf1.global_variables() if v is not w]
    return values, train, own, after


def _two_optimizers(attempt):
    """Minimizes with two optimizers of one kind under two names."""
    with tf.Graph().as_default():
        w = tf1.get_variable("w", [3])
        tf1.get_variable_scope().reuse_variables()
        for name in ("train_a", "train_b"):
            attempt(tf1.train.MomentumOptimizer(0.1, 0.9), tf.reduce_sum(w**2), name)
        slots = [v.op.name for v in tf1.global_variables() if v is not w]
    yield ("two optimizers, two names: a slot each", len(slots) == 2,
           f"the slots are {slots}.")
