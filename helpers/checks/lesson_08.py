"""The checks of lesson 08: Show and Tell."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.report import exercise

BATCH, TIME, WORDS, WIDTH = 3, 5, 7, 4
HEIGHT, COLUMNS, CHANNELS = 2, 3, 11


@exercise(
    "Exercise 1: masked_mean",
    "tf.sequence_mask(lengths, tf.shape(losses)[1]) is True where a word is real.",
)
def check_masked_mean(attempt):
    """Compares with NumPy, for padding of numbers and of infinity.

    Args:
      attempt: `(losses float32 [batch, time], lengths int32 [batch])` to the mean
        over real words, float32 `[]`.
    """
    losses = np.random.default_rng(8).uniform(0, 3, [BATCH, TIME]).astype(np.float32)
    lengths = np.array([5, 1, 2], np.int32)
    real = np.arange(TIME) < lengths[:, None]
    want = float(losses[real].mean())
    found = _run(attempt, losses, lengths)
    yield from _is_tensor(found, ())
    yield (f"three captions of 5, 1 and 2 words: {want:.4f}",
           np.isclose(found, want, rtol=1e-5),
           f"you returned {float(found):.4f}"
           + (": that is the mean over all places."
              if np.isclose(found, losses.mean()) else
              ": divide by the number of real words."
              if np.isclose(found, losses[real].sum() / real.size) else
              ": divide once, at the end; the mean of the captions' means weighs "
              "words of short captions more."
              if np.isclose(found, np.mean([row[:n].mean() for row, n in
                                            zip(losses, lengths, strict=True)]))
              else "."))
    padded = np.where(real, losses, np.float32(9))
    yield ("other numbers in the padding change nothing",
           np.isclose(_run(attempt, padded, lengths), want, rtol=1e-5),
           "the padding still has a say.")
    endless = np.where(real, losses, np.float32(np.inf))
    found = _run(attempt, endless, lengths)
    yield ("nor does infinity", np.isclose(found, want, rtol=1e-5),
           f"you returned {float(found)}: 0 times infinity is not a number. tf.where "
           "picks, where a product would mix.")
    more = _run(attempt, losses[:, :2], np.array([2, 1, 0], np.int32))
    want = float(losses[0, :2].sum() + losses[1, 0]) / 3
    yield ("a caption of no words is no harm", np.isclose(more, want, rtol=1e-5),
           f"expected {want:.4f}, you returned {float(more):.4f}.")


@exercise(
    "Exercise 2: beam_step",
    "add scores[:, :, None] to logp, join the last two axes, and ask tf.math.top_k; "
    "// and % tell hypothesis and word apart.",
)
def check_beam_step(attempt):
    """Compares with all extensions, sorted in NumPy.

    Args:
      attempt: `(scores float32 [batch, width], logp float32 [batch, width, words])`
        to new scores, parents and words, each `[batch, width]`.
    """
    scores, logp = _hypotheses()
    found = _run(attempt, scores, logp)
    yield ("returns three tensors", _is_three(found),
           f"it returned {_kind(found)}; expected scores, parents and words.")
    best, parents, words = found
    yield ("each of [batch, width]",
           all(part.shape == (BATCH, WIDTH) for part in found),
           f"the shapes are {[part.shape for part in found]}; expected "
           f"{(BATCH, WIDTH)} three times.")
    every = (scores[..., None] + logp).reshape(BATCH, -1)
    want = -np.sort(-every, axis=1)[:, :WIDTH]
    alone = np.allclose(best, -np.sort(-logp.reshape(BATCH, -1), axis=1)[:, :WIDTH])
    yield ("the scores are the best of all extensions, best first",
           np.allclose(best, want, rtol=1e-5),
           f"for the first picture expected {np.round(want[0], 3).tolist()}, you "
           f"returned {np.round(best[0], 3).tolist()}"
           + (": what was said before counts as well." if alone else "."))
    order = np.argsort(-every, axis=1)[:, :WIDTH]
    yield ("the parents are the hypotheses that they extend",
           np.array_equal(parents, order // WORDS),
           f"expected {(order // WORDS)[0].tolist()}, you returned "
           f"{np.asarray(parents)[0].tolist()}: index // words.")
    yield ("the words are those that were added",
           np.array_equal(words, order % WORDS),
           f"expected {(order % WORDS)[0].tolist()}, you returned "
           f"{np.asarray(words)[0].tolist()}: index % words.")
    yield ("parents and words are int32",
           parents.dtype == np.int32 and words.dtype == np.int32,
           f"they are {parents.dtype} and {words.dtype}; tf.gather wants ints.")


@exercise(
    "Exercise 3: attend",
    "reshape the map to [batch, height * width, channels]: then it is a list of "
    "places, and the scores are one tf.einsum.",
)
def check_attend(attempt):
    """Compares with `tf.keras.layers.Attention` over the list of places.

    Args:
      attempt: `(query float32 [batch, channels], places float32 [batch, height,
        width, channels])` to the context `[batch, channels]` and the weights
        `[batch, height, width]`.
    """
    rng = np.random.default_rng(8)
    query = rng.normal(size=[BATCH, CHANNELS]).astype(np.float32)
    places = rng.normal(size=[BATCH, HEIGHT, COLUMNS, CHANNELS]).astype(np.float32)
    found = _run(attempt, query, places)
    yield ("returns context and weights",
           isinstance(found, (tuple, list)) and len(found) == 2,
           f"it returned {_kind(found)}; expected two tensors.")
    context, weights = found
    yield ("of shapes [batch, channels] and [batch, height, width]",
           context.shape == (BATCH, CHANNELS)
           and weights.shape == (BATCH, HEIGHT, COLUMNS),
           f"the shapes are {context.shape} and {weights.shape}.")
    sums = weights.sum((1, 2))
    yield ("the weights of a picture sum to 1", np.allclose(sums, 1, rtol=1e-4),
           f"they sum to {np.round(sums, 3).tolist()}: one softmax over all places, "
           "not one per row.")
    listed = places.reshape(BATCH, -1, CHANNELS)
    wanted = tf.keras.layers.Attention()([query[:, None], listed])[:, 0].numpy()
    yield ("the context equals that of Keras's Attention layer",
           np.allclose(context, wanted, rtol=1e-3, atol=1e-5),
           f"the first value is {context[0, 0]:.4f}, Keras has {wanted[0, 0]:.4f}.")
    yield ("the weights are those that give this context, place by place",
           np.allclose(np.einsum("bhw,bhwc->bc", weights, places), wanted,
                       rtol=1e-3, atol=1e-5),
           "the context is right, but the weights do not belong to their places: "
           "reshape them to [batch, height, width] without a transpose.")
    even, _ = _run(attempt, 0 * query, places)
    yield ("a query of zeros sees the mean of all places",
           np.allclose(even, places.mean((1, 2)), rtol=1e-3, atol=1e-5),
           "with equal scores every place should weigh the same.")


def _run(attempt, *values):
    """Builds the attempt in a graph and fetches what it returns, if it can be."""
    with tf.Graph().as_default(), tf1.Session() as session:
        returned = attempt(*(tf.constant(value) for value in values))
        tensors = tf.nest.flatten(returned)
        if not tensors or not all(tf.is_tensor(tensor) for tensor in tensors):
            return returned
        return session.run(returned)


def _hypotheses():
    """Scores whose order matters: a good beginning beats a good word."""
    rng = np.random.default_rng(8)
    scores = -np.cumsum(rng.uniform(0.1, 0.8, [BATCH, WIDTH]), 1).astype(np.float32)
    logits = rng.normal(0, 1.5, [BATCH, WIDTH, WORDS])
    logp = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    return scores, logp.astype(np.float32)


def _is_tensor(found, shape):
    yield ("returns a tensor", hasattr(found, "shape"),
           f"it returned {_kind(found)}, so there is nothing to compare yet.")
    yield ("of the right shape", found.shape == shape,
           f"expected {shape}, got {found.shape}.")


def _is_three(found) -> bool:
    return isinstance(found, (tuple, list)) and len(found) == 3


def _kind(found) -> str:
    return "None" if found is None else type(found).__name__
