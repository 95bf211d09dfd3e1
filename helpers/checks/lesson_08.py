"""The checks of lesson 08: Show and Tell."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.report import exercise

BATCH, TIME, WORDS, WIDTH = 3, 5, 7, 4
MANY, STEPS, MANY_WORDS = 64, 11, 101  # enough to count coins by
HEIGHT, COLUMNS, CHANNELS = 2, 3, 11


@exercise(
    "Exercise 1: sampled_teach",
    "The lesson's loop over guess_and_go_on and its teach differ in one line: which "
    "word goes into the next step.",
    "word, logits = inputs[:, 0], []",
)
def check_sampled_teach(attempt):
    """Hands out a step whose logits tell which word it has read.

    Args:
      attempt: `(step, state, inputs int32 [batch, time], share)` to the logits
        `float32 [batch, time, words]`.
    """
    rng = np.random.default_rng(8)
    true = rng.integers(0, MANY_WORDS, [MANY, STEPS]).astype(np.int32)
    yield from _is_logits(_readings(attempt, true, 1.0)[0])
    read = {share: _words_read(_readings(attempt, true, share)[0])
            for share in (0.0, 1.0)}
    guesses = (read[0.0][:, :-1] + np.arange(1, STEPS)) % MANY_WORDS
    yield ("the first word is a true one", (read[0.0][:, 0] == true[:, 0]).all(),
           "with a share of 0 the first word is not that of the caption: nothing has "
           "been said yet that could be guessed from.")
    turned = (read[0.0] == true).all()
    yield ("a share of 1 is a teacher", (read[1.0] == true).all(),
           "it reads its own guesses: the share is that of true words." if turned
           else "the words read are not those of the caption.")
    yield ("a share of 0 reads its own guesses", (read[0.0][:, 1:] == guesses).all(),
           "it reads the true words." if turned else
           "a word read is not the likeliest one after the word before, or the state "
           "was not carried on.")
    coins = [_words_read(run)[:, 1:] == true[:, 1:]
             for run in _readings(attempt, true, 0.7)]
    yield from _are_coins(coins, 0.7)


def _are_coins(coins, share):
    """Claims on boolean `[batch, time]` of two runs: fresh coins for every place."""
    yield (f"a share of {share} tosses coins at each run", (coins[0] != coins[1]).any(),
           "two runs read the same places: the coin was tossed once, while the graph "
           "was built.")
    yield ("for each caption", not _is_one_coin(coins[0].mean(0)),
           "all captions of a batch share one coin.")
    yield ("and for each word", not _is_one_coin(coins[0].mean(1)),
           "all words of a caption share one coin.")
    found = coins[0].mean()
    yield (f"that gives the true word in {share:.0%} of the places",
           abs(found - share) < 0.1, f"they are {found:.0%}.")


def _is_one_coin(shares) -> bool:
    """Whether nearly all shares are 0 or 1, but for words that are right by chance."""
    return np.mean((shares < 0.2) | (shares > 0.95)) > 0.9


def _readings(attempt, true, share):
    """Runs the attempt's graph twice."""
    def step(words, state):
        likeliest = (words + 1 + state) % MANY_WORDS
        return tf.one_hot(likeliest, MANY_WORDS), state + 1

    with tf.Graph().as_default(), tf1.Session() as session:
        state = tf.zeros([MANY], tf.int32)
        logits = attempt(step, state, tf.constant(true), share)
        if not tf.is_tensor(logits):
            return [logits]
        return [session.run(logits) for _ in range(2)]


def _words_read(logits):
    """Undoes the step of `_readings`: int `[batch, time]`."""
    return (logits.argmax(-1) - 1 - np.arange(STEPS)) % MANY_WORDS


def _is_logits(found):
    yield ("returns a tensor", hasattr(found, "shape"),
           f"it returned {_kind(found)}, so there is nothing to compare yet.")
    want = (MANY, STEPS, MANY_WORDS)
    yield ("of logits [batch, time, words]", found.shape == want,
           f"expected {want}, got {found.shape}"
           + (": the time comes first." if found.shape[:2] == want[1::-1] else "."))


@exercise(
    "Exercise 2: masked_mean",
    "tf.sequence_mask makes the mask; tf.where picks by it.",
    "real = tf.sequence_mask(lengths, tf.shape(losses)[1])",
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
           f"you returned {float(found):.4f}" + _wrong_mean(losses, real, found))
    padded = np.where(real, losses, np.float32(9))
    yield ("other numbers in the padding change nothing",
           np.isclose(_run(attempt, padded, lengths), want, rtol=1e-5),
           "the padding still has a say.")
    endless = np.where(real, losses, np.float32(np.inf))
    found = _run(attempt, endless, lengths)
    yield ("nor does infinity", np.isclose(found, want, rtol=1e-5),
           f"you returned {float(found)}: 0 times infinity is not a number.")
    lengths = np.array([2, 1, 0], np.int32)
    want = float(losses[0, :2].sum() + losses[1, 0]) / 3
    more = _run(attempt, losses[:, :2], lengths)
    yield ("a caption of no words is no harm", np.isclose(more, want, rtol=1e-5),
           f"expected {want:.4f}, you returned {float(more):.4f}.")
    try:
        more = _run(attempt, losses, lengths)
    except (ValueError, tf.errors.InvalidArgumentError):
        more = None
    yield ("nor is a batch longer than its longest caption",
           more is not None and np.isclose(more, want, rtol=1e-5),
           f"expected {want:.4f}, you returned {more}." if more is not None else
           "the mask is as wide as the longest caption, and the losses are wider.")


def _wrong_mean(losses, real, found) -> str:
    """Names what was computed instead of the mean over real words."""
    means = [row[mask].mean() for row, mask in zip(losses, real, strict=True)]
    for value, name in (
        (losses.mean(), "that is the mean over all places"),
        (losses[real].sum() / real.size, "it is divided by the number of all places"),
        (losses[real].sum(), "that is the sum"),
        (losses[real].sum() / len(losses), "it is divided by the number of captions"),
        (losses[np.arange(TIME) <= real.sum(1)[:, None]].mean(),
         "one place too many of each caption counts"),
        (np.mean(means), "that is the mean of the captions' means, in which words of "
                         "short captions weigh more"),
    ):
        if np.isclose(found, value):
            return f": {name}."
    return "."


@exercise(
    "Exercise 3: beam_step",
    "All extensions of one picture compete in one list: join the last two axes, and "
    "ask tf.math.top_k. // and % tell hypothesis and word apart.",
    "every = tf.reshape(scores[:, :, None] + logp, [-1, width * words])",
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
    yield ("the scores are the best of all extensions, best first",
           np.allclose(best, want, rtol=1e-5),
           f"for the first picture expected {_rounded(want[0])}, you returned "
           f"{_rounded(best[0])}" + _wrong_scores(best, want, scores, logp))
    order = np.argsort(-every, axis=1)[:, :WIDTH]
    parts = {"parent": order // WORDS, "word": order % WORDS,
             "place in the list of all extensions": order}
    for name, got, claim in (
        ("parent", parents, "the parents are the hypotheses that they extend"),
        ("word", words, "the words are those that were added"),
    ):
        as_if = [part for part, values in parts.items() if np.array_equal(got, values)]
        yield (claim, np.array_equal(got, parts[name]),
               f"expected {parts[name][0].tolist()}, you returned "
               f"{np.asarray(got)[0].tolist()}"
               + (f": that is the {as_if[0]}." if as_if else "."))
    yield ("parents and words are int32",
           parents.dtype == np.int32 and words.dtype == np.int32,
           f"they are {parents.dtype} and {words.dtype}.")


def _wrong_scores(best, want, scores, logp) -> str:
    """Names what the scores are instead of the best of all extensions."""
    one_each = scores + logp.max(-1)
    for value, name in (
        (-np.sort(-logp.reshape(BATCH, -1), axis=1)[:, :WIDTH],
         "what was said before counts as well"),
        (want[:, ::-1], "the worst of them comes first"),
        (one_each, "that is one extension of each hypothesis"),
        (-np.sort(-one_each, axis=1), "that is one extension of each hypothesis"),
    ):
        if np.allclose(best, value, rtol=1e-5):
            return f": {name}."
    return "."


def _rounded(values) -> list[float]:
    return np.round(np.asarray(values, float), 3).tolist()


@exercise(
    "Exercise 4: attend",
    "As [batch, height * width, channels] the map is a list of places; one tf.einsum "
    "gives the scores, one the weighted sum.",
    "listed = tf.reshape(places, [batch, height * width, channels])",
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
           f"they sum to {_rounded(sums)}" + _wrong_sums(sums))
    listed = places.reshape(BATCH, -1, CHANNELS)
    wanted = tf.keras.layers.Attention()([query[:, None], listed])[:, 0].numpy()
    yield ("the context equals that of Keras's Attention layer",
           np.allclose(context, wanted, rtol=1e-3, atol=1e-5),
           f"the first value is {context[0, 0]:.4f}, Keras has {wanted[0, 0]:.4f}"
           + _wrong_context(context, query, listed))
    yield ("the weights are those that give this context, place by place",
           np.allclose(np.einsum("bhw,bhwc->bc", weights, places), wanted,
                       rtol=1e-3, atol=1e-5),
           "the context is right, but the weights do not belong to their places.")
    even, _ = _run(attempt, 0 * query, places)
    yield ("a query of zeros sees the mean of all places",
           np.allclose(even, places.mean((1, 2)), rtol=1e-3, atol=1e-5),
           "with equal scores every place should weigh the same.")
    loud, _ = _run(attempt, 100 * query, places)
    yield ("large scores do no harm", np.isfinite(loud).all(),
           "with a query a hundred times as long it is not a number: the exponential "
           "of a large score is infinite.")


def _wrong_sums(sums) -> str:
    """Names over what the softmax was taken instead of all places of a picture."""
    if np.allclose(sums, HEIGHT) or np.allclose(sums, COLUMNS):
        return ": one per row, or one per column."
    if np.allclose(sums, HEIGHT * COLUMNS):
        return ": one per place, so the softmax went over the channels."
    if np.isclose(sums.sum(), 1):
        return ": one for the whole batch."
    return "."


def _wrong_context(context, query, listed) -> str:
    """Names what was computed instead of the weighted sum of the features."""
    scaled = tf.keras.layers.Attention()(
        [query[:, None] / np.sqrt(CHANNELS, dtype=np.float32), listed])[:, 0]
    for value, name in (
        (scaled, "the scores are divided by the square root of the channels, and here "
                 "they are not to be"),
        (listed.mean(1), "every place weighs the same, so the query has no say"),
        (listed.sum(1), "that is the sum over the places, without weights"),
    ):
        if np.allclose(context, value, rtol=1e-3, atol=1e-5):
            return f": {name}."
    return "."


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
