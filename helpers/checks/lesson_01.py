"""The checks of lesson 01: variable scope."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.report import exercise

BATCH, VALUES, UNITS = 7, 5, 3


@exercise(
    "Exercise 1: siamese",
    "call the layer for `left`, then again for `right` inside "
    "tf1.variable_scope(tf1.get_variable_scope(), reuse=True).",
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
        yield ("makes one kernel and one bias", names == ["embed/bias", "embed/kernel"],
               f"the graph holds {names}; the second call must reuse.")
        yield ("one number for each pair", distance.shape.rank == 1,
               f"the shape is {distance.shape}: sum over axis 1 only.")
        rng = np.random.default_rng(11)
        a, b = rng.normal(size=[2, BATCH, VALUES]).astype(np.float32)
        with tf1.Session(graph=graph) as session:
            session.run(tf1.global_variables_initializer())
            got, kernel = session.run(
                [distance, tf1.trainable_variables("embed/kernel")[0]],
                {left: a, right: b},
            )
        wanted = (((a - b) @ kernel) ** 2).sum(axis=1)
        yield ("equals NumPy's squared distance", np.allclose(got, wanted, rtol=1e-4),
               f"for the first pair {wanted[0]:.3f} was wanted, you got {got[0]:.3f}; "
               "the layer is linear, and no square root is taken.")
    with tf.Graph().as_default():
        left = right = tf.zeros([BATCH, VALUES])
        for scope in ("one", "two"):
            with tf1.variable_scope(scope):
                attempt(left, right, UNITS)
                left_on = tf1.get_variable_scope().reuse
        count = len(tf1.global_variables())
        yield ("in two scopes of the caller: two layers", count == 4,
               f"{count} variables instead of 4: keep the caller's scope.")
        with tf1.variable_scope("one", reuse=True):
            attempt(left, right, UNITS)
        count = len(tf1.global_variables())
        yield ("in a scope that reuses: no new layer", count == 4,
               f"{count} variables instead of 4: let the caller's mode decide.")
        yield ("leaves the caller's scope as it was", not left_on,
               "reuse is still on after your function: open a scope around the "
               "second call instead of reuse_variables().")


@exercise(
    "Exercise 2: minimize_anywhere",
    "re-enter tf1.get_variable_scope() with another mode of reuse, and minimize there.",
)
def check_minimize_anywhere(attempt):
    """Trains in a root scope that reuses, with and without slots.

    Args:
      attempt: `(optimizer, loss)` to the train op.
    """
    optimizers = {
        "gradient descent": lambda: tf1.train.GradientDescentOptimizer(0.1),
        "momentum": lambda: tf1.train.MomentumOptimizer(0.1, 0.9),
        "Adam": lambda: tf1.train.AdamOptimizer(0.1),
    }
    for name, make in optimizers.items():
        with tf.Graph().as_default() as graph:
            w = tf1.get_variable("w", [3], initializer=tf1.ones_initializer())
            tf1.get_variable_scope().reuse_variables()
            train = attempt(make(), tf.reduce_sum(w**2))
            yield (f"returns an op ({name})", isinstance(train, tf.Operation),
                   f"it returned {type(train).__name__}: return what minimize returns.")
            with tf1.Session(graph=graph) as session:
                session.run(tf1.global_variables_initializer())
                session.run(train)
                after = session.run(w)
            yield (f"one step with {name} makes w smaller", (after < 1).all(),
                   f"w went from 1 to {after[0]:.3f}.")
            reuse = tf1.get_variable_scope().reuse
            yield ("reuse is still on afterwards", reuse is True,
                   "the colleague's scope has changed: do not set its mode, open it "
                   "again around minimize.")
