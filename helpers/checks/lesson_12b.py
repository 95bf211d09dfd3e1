"""Exercise check of lesson 12b: the weighted sum of attention."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.claims import answering, drawn, exercise, listed, near


@exercise(
    "Exercise 1: attend",
    "List the places first. One `tf.einsum` gives their scores, and another one the "
    "weighted sum.",
    "`shape = tf.shape(places)` and `listed = tf.reshape(places, [shape[0], -1, "
    "places.shape[-1]])`. What is left are the scores, the softmax, the sum, and the "
    "shape of the weights.",
    about={
        "returns the context, [batch, channels]": (
            "One softmax goes over all places of a picture, rows and columns "
            "together. The context is a sum, and the scores have no factor."),
        "returns the weights, [batch, height, width]":
            "Give the weights the form of the map again, row by row.",
        "has the right gradients of the context": (
            "The weights depend on the query and on the places, so gradients flow "
            "through them as well."),
    },
)
def check_attend(attempt):
    """Checks attention weights, context, and gradients against NumPy in float64."""
    for query, places in drawn(_case):
        case = (f"with the query {listed(query, 3)} and the places "
                f"{listed(places, 3)}")
        with (tf.Graph().as_default(), tf1.Session() as session,
              answering(case[:200])):
            given = [tf1.placeholder(tf.float32, [None, *value.shape[1:]])
                     for value in (query, places)]
            context, weights = attempt(*given)
            slopes = tf1.gradients(context, given, unconnected_gradients="zero")
            found = session.run([context, weights, slopes],
                                dict(zip(given, (query, places), strict=True)))
        names = ("returns the context, [batch, channels]",
                 "returns the weights, [batch, height, width]",
                 "has the right gradients of the context")
        for name, value, due in zip(names, found, _oracle(query, places), strict=True):
            exact = 1e-4 if value is found[1] else 1e-3  # shares, which sum to 1
            yield near(name, due, value, case, exact, exact)


def _case(rng, size):
    batch, height, width, channels = (
        1 + size // 6, 1 + size % 3, 1 + size // 2 % 4, 1 + size % 5)
    loud = 100.0 if size % 6 == 5 else float(size % 7 > 0)
    query = loud * rng.normal(size=[batch, channels])
    places = rng.normal(size=[batch, height, width, channels])
    places *= rng.random(places.shape) < 0.8
    return query.astype(np.float32), places.astype(np.float32)


def _oracle(query, places):
    """Computes the expected context, weights, and gradients of the summed context."""
    scores = np.einsum("bc,bhwc->bhw", query.astype(float), places)
    shares = np.exp(scores - scores.max((1, 2), keepdims=True))
    shares /= shares.sum((1, 2), keepdims=True)
    context, sums = np.einsum("bhw,bhwc->bc", shares, places), places.sum(3)
    pulls = shares * (sums - (shares * sums).sum((1, 2), keepdims=True))
    slopes = [np.einsum("bhw,bhwc->bc", pulls, places),
              shares[..., None] + np.einsum("bhw,bc->bhwc", pulls, query)]
    return context, shares, slopes
