"""Exercise check of lesson 01a: two calls of a layer share one set of weights."""

import contextlib

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.attempts import VARIABLES
from helpers.checks.claims import (
    answering,
    drawn,
    exercise,
    listed,
    near,
    raises,
    tensor,
)

# Two scopes of the caller. Each is entered twice: to create, and then to reuse.
VISITS = [("one", False), ("two", tf1.AUTO_REUSE), ("one", True),
          ("two", tf1.AUTO_REUSE)]
REFUSED = [("one", False, "the layer exists"), ("three", True, "there is no layer yet")]
SHARED = "creates one layer `embed` per calling scope, and obeys the caller's mode"


@exercise(
    "Exercise 1: siamese",
    "Read the function `compare` under `A layer called twice, again`. It calls one "
    "layer twice, and opens the caller's scope again for the second call.",
    'Begin with `a = layers.fully_connected_layer(left, units, name="embed")`, and '
    "open `with tf1.variable_scope(tf1.get_variable_scope(), reuse=True):` for the "
    "second call. What is left to do is to square a - b, and to sum over the units, "
    "which are axis 1.",
    about={
        SHARED: (
            "Only the second of the two layers is sure to exist already. Leave the "
            "mode of the first to the caller, and reuse around the second alone. If "
            "you open a scope of your own, or enter one with `AUTO_REUSE`, the caller "
            "can no longer decide."),
        "returns the squared distance that NumPy computes": (
            "The layer is linear, so it has no activation function. Subtract, square "
            "each difference, and only then sum, with one sum for each picture."),
        "changes nothing else": (
            "`reuse_variables()` changes the scope in which it is called until that "
            "scope is closed. A reuse that you open in a `with` block ends with the "
            "block; see `The same object, two ways`."),
    },
    adds=VARIABLES, twice=False,
)
def check_siamese(attempt):
    """Checks that two calls of a layer share weights, in values and in gradients."""
    for left, right, units, around in drawn(_pictures, how_many=6):
        with tf.Graph().as_default() as graph:
            feed = {tf1.placeholder(tf.float32, [None, left.shape[1]]): left,
                    tf1.placeholder(tf.float32, [None, left.shape[1]]): right}
            layers, built = {}, []
            for scope, mode in VISITS:
                case = f"in scope {'/'.join([*around, scope])}, reuse={mode}"
                before = tf1.global_variables()
                with _opened([*around, scope], mode), answering(case):
                    distance = attempt(*feed, units)
                yield tensor("returns a float32 tensor", tf.float32, distance, case)
                new = tf1.global_variables()[len(before):]
                due = ["/".join([*around, scope, "embed", part])
                       for part in ("bias", "kernel") if scope not in layers]
                yield (SHARED, sorted(v.op.name for v in new) == due,
                       f"{case}: it created {[v.op.name for v in new]}. In a new "
                       "scope, expected embed/kernel and embed/bias; in a known scope, "
                       "no new variables.")
                layers.setdefault(scope, sorted(new, key=lambda v: v.op.name))
                with answering(case):
                    sources = [layers[scope][1], *feed]
                    built.append([distance, *tf.gradients(distance, sources)])
            for scope, mode, why in REFUSED:
                with _opened([*around, scope], mode), answering(f"reuse={mode}"):
                    yield (SHARED, raises(ValueError, attempt, *feed, units),
                           f"in scope {'/'.join([*around, scope])}, reuse={mode}: "
                           f"expected a ValueError, because {why}.")
            weights = {scope: np.random.default_rng(n).normal(
                size=[left.shape[1], units]) for n, scope in enumerate(layers)}
            with answering(), tf1.Session(graph=graph) as session:
                for scope, (bias, kernel) in layers.items():
                    bias.load(np.linspace(-2.0, 1.0, units), session)
                    kernel.load(weights[scope], session)
                values = session.run(built, feed)
        for (scope, _), (found, *slopes) in zip(VISITS, values, strict=True):
            kernel, apart = weights[scope], left - right
            case = (f"left {left.tolist()}, right {right.tolist()}, kernel "
                    f"{listed(kernel, 3)}")
            yield near("returns the squared distance that NumPy computes",
                       ((apart @ kernel) ** 2).sum(axis=1), found, case, 1e-4, 1e-4)
            pull = 2 * apart @ kernel @ kernel.T
            due = [2 * apart.T @ apart @ kernel, pull, -pull]
            yield near("has the gradients of the squared distance", due, slopes, case,
                       1e-3, 1e-3)


def _pictures(rng, size):
    batch, values, units = (int(n) for n in rng.integers(1, 2 + size, 3))
    left, right = rng.integers(-2, 3, [2, batch, values]).astype(np.float32)
    return left, left if size % 5 == 4 else right, units, ["a", "b"][: size % 3]


@contextlib.contextmanager
def _opened(names, mode):
    with contextlib.ExitStack() as stack:
        for name in names[:-1]:
            stack.enter_context(tf1.variable_scope(name))
        stack.enter_context(tf1.variable_scope(names[-1], reuse=mode))
        yield
