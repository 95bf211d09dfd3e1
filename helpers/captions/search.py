"""Greedy search and beam search for captions, in the graph and for whole batches.

Taught in lesson 08c, "Beam search".
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from helpers.arguments import numbers, real, whole

State = Any  # a tensor, or tuples of tensors, each [batch, ...]
Step = Callable[[tf.Tensor, State], tuple[tf.Tensor, State]]
NEVER = -1e9  # the log-probability of a hypothesis that is not there


class Captions(NamedTuple):
    """Captions of a batch of pictures and their scores, as found by beam search.

    Attributes:
      ids: int32 `[batch, width, max_length]`, best first, without `<S>`; after a
        `</S>` there are only more of them.
      scores: float32 `[batch, width]`, log-probability over length ** length_power,
        in nats; `NEVER` or less where fewer captions than `width` were found.
    """

    ids: tf.Tensor
    scores: tf.Tensor


@numbers(max_length=whole(), start=whole(0), end=whole(0))
def greedy_search(
    step: Step, state: State, *, max_length: int, start: int, end: int
) -> tf.Tensor:
    """Generates captions with greedy search.

    Args:
      step: word ids `int32 [batch]` and state to logits `float32 [batch, words]` and
        the next state.
      state: before the first word.
      max_length: words at most, `</S>` counted.
      start: the id of `<S>`.
      end: the id of `</S>`.

    Returns:
      int32 `[batch, max_length]`, without `<S>`; after a `</S>` only more of them.
    """
    batch = tf.shape(tf.nest.flatten(state)[0])[0]

    def extend(time, ids, word, state):
        logits, state = step(word, state)
        best = tf.argmax(logits, 1, tf.int32)
        word = tf.where(tf.equal(word, end), end, best)
        return time + 1, _write(ids, time, word), word, state

    _, ids, _, _ = tf.while_loop(
        lambda time, ids, word, state: (time < max_length) & tf.reduce_any(word != end),
        extend,
        (0, tf.fill([batch, max_length], end), tf.fill([batch], start), state),
    )
    return ids


@numbers(width=whole(), max_length=whole(), start=whole(0), end=whole(0),
         length_power=real(0, 5))
def beam_search(
    step: Step,
    state: State,
    *,
    width: int,
    max_length: int,
    start: int,
    end: int,
    length_power: float = 0.0,
) -> Captions:
    """Finds the most probable captions with beam search.

    Each round extends every open hypothesis by every word and keeps the `width` best.
    Those that end with `</S>` go to a list of complete captions, where they compete
    with other complete ones only. A picture without any complete caption after
    `max_length` words gets its open ones. Width 1 is greedy search.

    Args:
      step: as for `greedy_search`; it is called with `batch * width` rows.
      state: before the first word, each tensor `[batch, ...]`.
      width: hypotheses kept, at least 1.
      max_length: words at most, `</S>` counted.
      start: the id of `<S>`.
      end: the id of `</S>`.
      length_power: 0 ranks complete captions by probability, which favours short
        ones; 1 by the mean log-probability of their words.

    Returns:
      The `width` best captions of each picture.

    Raises:
      ValueError: `width` or `max_length` is below 1, `length_power` not from 0 to 5.
    """
    batch = tf.shape(tf.nest.flatten(state)[0])[0]
    state = tf.nest.map_structure(lambda t: tf.repeat(t, width, axis=0), state)
    # At first there is one hypothesis, the empty one.
    logps = tf.tile([[0.0] + [NEVER] * (width - 1)], [batch, 1])
    ids = tf.fill([batch, width, max_length], end)
    none = tf.fill([batch, width], 2 * NEVER)

    first = tf.fill([batch, width], start)
    longest = float(max_length) ** length_power
    _, ids, logps, _, done_ids, done_scores, _ = tf.while_loop(
        lambda time, *beam: (time < max_length) & _improvable(beam, longest),
        lambda time, *beam: _extend(step, time, beam, end, length_power),
        (0, ids, logps, first, ids, none, state),
    )
    # An open caption counts only where nothing is complete.
    lacking = tf.reduce_max(done_scores, 1, keepdims=True) < NEVER
    partial = tf.where(lacking, logps / longest, 2 * NEVER)
    return Captions(*_best_captions([done_ids, ids], [done_scores, partial], width))


def _extend(step, time, beam, end, power):
    """Extends every open hypothesis by one word and moves complete ones aside."""
    ids, logps, words, done_ids, done_scores, state = beam
    width = ids.shape[1]
    logits, state = step(tf.reshape(words, [-1]), state)
    logps, parents, words = _best_words(logits, logps, width)
    ids = _write(tf.gather(ids, parents, batch_dims=1), time, words)
    state = _follow(state, parents, width)
    ends = tf.equal(words, end)
    length = tf.cast(time + 1, tf.float32) ** power
    done = _best_captions(
        [done_ids, ids], [done_scores, tf.where(ends, logps / length, 2 * NEVER)], width
    )
    logps = tf.where(ends, 2 * NEVER, logps)  # closed: extended no more
    return time + 1, ids, logps, words, *done, state


def _improvable(beam, longest):
    """Returns whether an open hypothesis could still beat a complete caption."""
    _, logps, _, _, done_scores, _ = beam
    # None can do better than lose nothing on its way to the end.
    bound = tf.reduce_max(logps, 1) / longest
    open_ones = (bound > NEVER / 2) & (bound > tf.reduce_min(done_scores, 1))
    return tf.reduce_any(open_ones)


def _best_words(logits, logps, width):
    """Returns scores, parents, and words of the `width` best extensions."""
    words = logits.shape[-1]
    extended = logps[..., None] + tf.reshape(
        tf.nn.log_softmax(logits), [-1, width, words]
    )
    best, index = tf.math.top_k(tf.reshape(extended, [-1, width * words]), width)
    return best, index // words, index % words


def _best_captions(ids, scores, width):
    """Merges two lists of captions and keeps the `width` best, best first."""
    scores, index = tf.math.top_k(tf.concat(scores, 1), width)
    return tf.gather(tf.concat(ids, 1), index, batch_dims=1), scores


def _follow(state, parents, width):
    """Gathers for each hypothesis the decoder state of its parent."""
    batch = tf.shape(parents)[0]
    rows = tf.reshape(parents + width * tf.range(batch)[:, None], [-1])
    return tf.nest.map_structure(lambda t: tf.gather(t, rows), state)


def _write(ids, time, words):
    """Returns `ids` with `words` written at position `time` of the last axis."""
    place = tf.equal(tf.range(tf.shape(ids)[-1]), time)
    return tf.where(place, words[..., None], ids)
