"""The check of lesson 12b: the read-out of attention."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.report import answering, close, drawn, exercise, shown


@exercise(
    "Exercise 1: attend",
    "As [batch, height * width, channels] the map is a list of places; one tf.einsum "
    "gives the scores, one the weighted sum.",
    "listed = tf.reshape(places, [tf.shape(places)[0], -1, places.shape[-1]])",
)
def check_attend(attempt):
    """Compares with a softmax over all places in NumPy, in float64.

    Args:
      attempt: `(query float32 [batch, channels], places float32 [batch, height,
        width, channels])` to the context `[batch, channels]` and the weights
        `[batch, height, width]`.
    """
    for query, places in drawn(_case):
        case = f"query {query.round(2).tolist()}, places {places.round(2).tolist()}"
        with (tf.Graph().as_default(), tf1.Session() as session,
              answering(case[:200])):
            found = session.run(attempt(tf.constant(query), tf.constant(places)))
        pair = isinstance(found, tuple | list) and len(found) == 2
        yield ("context and weights", pair, f"{type(found).__name__} came back.")
        for name, value, due in zip(
            ("the context, [batch, channels]", "the weights, [batch, height, width]"),
            found, _oracle(query, places), strict=True,
        ):
            yield (name, close(value, due, 1e-3, 1e-4),
                   f"{case}: " + shown(due.round(3), np.asarray(value)))


def _case(rng, size):
    batch, height, width, channels = (
        1 + size // 6, 1 + size % 3, 1 + size // 2 % 4, 1 + size % 5)
    loud = 100.0 if size % 6 == 5 else float(size % 7 > 0)
    query = loud * rng.normal(size=[batch, channels])
    places = rng.normal(size=[batch, height, width, channels])
    return query.astype(np.float32), places.astype(np.float32)


def _oracle(query, places):
    scores = np.einsum("bc,bhwc->bhw", query.astype(float), places)
    shares = np.exp(scores - scores.max((1, 2), keepdims=True))
    shares /= shares.sum((1, 2), keepdims=True)
    return np.einsum("bhw,bhwc->bc", shares, places), shares
