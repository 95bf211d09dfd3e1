"""The checks of lesson 12: captions at scale."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.report import exercise

WORDS, UNITS, ROWS, DRAWN = 11, 5, 4, 3
BATCH, TIME, PLACES = 3, 4, 6


@exercise(
    "Exercise 1: own_sample",
    "tf.gather takes ids of any shape: with [row, drawn] it gives vectors of [row, "
    "drawn, units]. sampled_by_hand has the rest.",
    "vectors = tf.gather(weights, ids)",
)
def check_own_sample(attempt):
    """Compares with NumPy, row by row; in one row the target is drawn as well.

    Args:
      attempt: `(weights, biases, outputs, targets, ids, target_count, drawn_count)`
        to the loss of each row, float32 `[row]`.
    """
    given = _sampling()
    found = _run(attempt, *given)
    yield from _is_tensor(found, (ROWS,))
    want = _sampled_losses(*given)
    yield ("the loss of each row", np.allclose(found, want, rtol=1e-4),
           f"expected {_shown(want)}, you returned {_shown(found)}"
           + _wrong_sample(found, given))
    loud = [given[0] * 300, *given[1:]]
    with_loud = _run(attempt, *loud)
    yield ("large scores do no harm",
           np.allclose(with_loud, _sampled_losses(*loud), rtol=1e-3, atol=1e-2),
           f"with weights 300 times as large it is {_shown(with_loud)}: the "
           "exponential of a large score is infinite.")


def _sampling():
    rng = np.random.default_rng(12)
    numbers = [rng.normal(size=shape).astype(np.float32)
               for shape in ([WORDS, UNITS], [WORDS], [ROWS, UNITS])]
    targets = np.array([3, 0, 7, 9])
    ids = np.array([[1, 4, 2], [5, 0, 6], [8, 10, 1], [2, 3, 4]])  # 0 is drawn too
    counts = [rng.uniform(0.1, 2, shape).astype(np.float32)
              for shape in ([ROWS], [ROWS, DRAWN])]
    return [*numbers, targets, ids, *counts]


def _sampled_losses(weights, biases, outputs, targets, ids, target_count, drawn_count,
                    *, correct=True, own_rival=False, share=False, biased=True):
    """The losses in float64; the keywords do what usual mistakes do."""
    losses = []
    for row, target in enumerate(targets):
        drawn, counts = ids[0 if share else row], drawn_count[0 if share else row]
        words = np.array([target, *drawn])
        expected = np.array([target_count[row], *counts], float)
        scores = weights[words].astype(float) @ outputs[row] + biased * biases[words]
        scores -= correct * np.log(expected)
        keep = [True, *(own_rival | (drawn != target))]
        kept = scores[keep]
        losses.append(np.log(np.exp(kept - kept.max()).sum()) + kept.max() - scores[0])
    return np.array(losses)


def _wrong_sample(found, given) -> str:
    """Names what was computed instead."""
    for options, name in (
        ({"correct": False}, "the expected counts have no say"),
        ({"own_rival": True}, "in the second row the target is among its own rivals"),
        ({"share": True}, "every row uses the first row's sample"),
        ({"biased": False}, "the biases are missing"),
    ):
        if np.allclose(found, _sampled_losses(*given, **options), rtol=1e-4):
            return f": {name}."
    inverse = [1 / given[5], 1 / given[6]]
    if np.allclose(found, _sampled_losses(*given[:5], *inverse), rtol=1e-4):
        return ": the logarithm of the count is added, not taken away."
    return "."


@exercise(
    "Exercise 2: coverage",
    "The mask needs a last axis of one to go with the weights; sum over the time "
    "before you subtract.",
    "looked = tf.reduce_sum(weights * mask[..., None], axis=1)",
)
def check_coverage(attempt):
    """Compares with NumPy, for two kinds of padding.

    Args:
      attempt: `(weights float32 [batch, time, place], mask float32 [batch, time])` to
        the mean over captions, float32 `[]`.
    """
    weights, mask = _looks()
    found = _run(attempt, weights, mask)
    yield from _is_tensor(found, ())
    want = _coverage(weights, mask)
    yield (f"three captions of 4, 2 and 1 words: {want:.4f}",
           np.isclose(found, want, rtol=1e-4),
           f"you returned {float(found):.4f}" + _wrong_coverage(found, weights, mask))
    padded = np.where(mask[..., None] > 0, weights, np.float32(5))
    yield ("other weights in the padding change nothing",
           np.isclose(_run(attempt, padded, mask), want, rtol=1e-4),
           "the padding still has a say.")
    even = np.full([2, PLACES, PLACES], 1 / PLACES, np.float32)
    yield ("who has looked at each place once pays nothing",
           np.isclose(_run(attempt, even, np.ones([2, PLACES], np.float32)), 0,
                      atol=1e-5),
           "as many words as places, all places alike: each was looked at once.")


def _looks():
    rng = np.random.default_rng(12)
    scores = np.exp(2 * rng.normal(size=[BATCH, TIME, PLACES]))
    weights = (scores / scores.sum(-1, keepdims=True)).astype(np.float32)
    mask = (np.arange(TIME) < np.array([[4], [2], [1]])).astype(np.float32)
    return weights, mask


def _coverage(weights, mask) -> float:
    looked = np.einsum("btp,bt->bp", weights.astype(float), mask)
    return float(((1 - looked) ** 2).sum(1).mean())


def _wrong_coverage(found, weights, mask) -> str:
    looked = np.einsum("btp,bt->bp", weights, mask)
    each = ((1 - weights) ** 2 * mask[..., None]).sum((1, 2))
    for value, name in (
        (_coverage(weights, np.ones_like(mask)), "the padding counts as words"),
        (((1 - looked) ** 2).sum(), "that is the sum over the captions"),
        (((1 - looked) ** 2).mean(), "that is the mean over the places"),
        (np.abs(1 - looked).sum(1).mean(), "that is the distance, not its square"),
        (each.mean(), "it is squared before the sum over the words"),
        (((1 - looked.sum(1)) ** 2).mean(), "it is summed over the places first"),
    ):
        if np.isclose(found, value, rtol=1e-4):
            return f": {name}."
    return "."


@exercise(
    "Exercise 3: rank_captions",
    "tf.argsort sorts rows; -np.inf is a score below all others.",
    "there = lengths > 0",
)
def check_rank_captions(attempt):
    """Compares the order for three powers, and for captions that are not there.

    Args:
      attempt: `(logps float32 [picture, caption], lengths int32 [picture, caption],
        power)` to int32 `[picture, caption]`.
    """
    logps = np.array([[-2.0, -2.4, -3.3], [-1.0, -9.9, -4.0]], np.float32)
    lengths = np.array([[4, 8, 6], [2, 9, 5]], np.int32)
    orders = {power: _run(attempt, logps, lengths, power)
              for power in (0.0, 1.0, 2.0)}
    yield from _is_tensor(orders[0.0], logps.shape)
    for power, found in orders.items():
        scores = logps / lengths.astype(float) ** power
        want = np.argsort(-scores, axis=1)
        yield (f"power {power:.0f}: the order of {_shown(scores[0])} is "
               f"{want[0].tolist()}", np.array_equal(found, want),
               f"you returned {np.asarray(found)[0].tolist()}"
               + _wrong_order(found, scores, logps, lengths))
    yield ("as int32", orders[0.0].dtype == np.int32,
           f"it is {orders[0.0].dtype}.")
    lengths = np.array([[4, 0, 6], [0, 9, 0]], np.int32)
    found = _run(attempt, logps, lengths, 1.0)
    last = [row[0] == best and (lengths[k][row[(lengths[k] > 0).sum():]] == 0).all()
            for k, (row, best) in enumerate(zip(found, (0, 1), strict=True))]
    yield ("a caption that is not there comes last", all(last),
           f"with lengths {lengths.tolist()} you returned "
           f"{np.asarray(found).tolist()}: a length of 0 got a place before the end.")


def _wrong_order(found, scores, logps, lengths) -> str:
    for order, name in (
        (np.argsort(scores, axis=1), "the worst comes first"),
        (np.argsort(-logps, axis=1), "the lengths have no say"),
        (np.argsort(np.argsort(-scores, axis=1), axis=1),
         "those are the ranks of the captions, not their places in order"),
        (np.argsort(-logps * lengths, axis=1), "it is multiplied by the length"),
        (np.argsort(-logps / lengths, axis=1), "the power has no say"),
    ):
        if np.array_equal(found, order):
            return f": {name}."
    return "."


def _run(attempt, *values):
    """Builds the attempt in a graph and fetches what it returns, if it can be."""
    with tf.Graph().as_default(), tf1.Session() as session:
        returned = attempt(*(
            tf.constant(value) if isinstance(value, np.ndarray) else value
            for value in values))
        return session.run(returned) if tf.is_tensor(returned) else returned


def _is_tensor(found, shape):
    yield ("returns a tensor", hasattr(found, "shape"),
           f"it returned {'None' if found is None else type(found).__name__}, so there "
           "is nothing to compare yet.")
    yield ("of the right shape", found.shape == shape,
           f"expected {shape}, got {found.shape}.")


def _shown(values) -> list:
    return np.round(values, 3).tolist()
