"""Greedy search and beam search for captions, in the graph and for whole batches.

Taught in lesson 08c, "Beam search".
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from helpers.arguments import numbers, real, whole

State = Any  # a tensor, or tuples of tensors, each [batch, ...]
Step = Callable[[tf.Tensor, State], tuple[tf.Tensor, State]]
NEVER = -1e9  # log-probability of an unused hypothesis


class Captions(NamedTuple):
    """Captions of a batch of pictures and their scores, as found by beam search.

    Attributes:
      ids: int32 `[batch, width, max_length]`, best caption first, without `<S>`. After
        the first `</S>`, all ids are `</S>`.
      scores: float32 `[batch, width]`, the log-probability in nats divided by `length
        ** length_power`. If fewer than `width` captions were found, the remaining
        scores are `NEVER` or less.
    """

    ids: tf.Tensor
    scores: tf.Tensor


@numbers(max_length=whole(), start=whole(0), end=whole(0))
def greedy_search(
    step: Step, state: State, *, max_length: int, start: int, end: int
) -> tf.Tensor:
    """Generates captions by choosing the most probable word at each step.

    At each place, greedy search takes the most probable next word. It is fast, but it
    may miss the most probable caption; see `beam_search`.

    Args:
      step: Function `(words, state) -> (logits, new_state)`, with `words` int32
        `[batch]` and `logits` float32 `[batch, words]`.
      state: Decoder state before the first word.
      max_length: Maximum number of words, including `</S>`.
      start: Id of `<S>`.
      end: Id of `</S>`.

    Returns:
      Word ids, int32 `[batch, max_length]`, without `<S>`. After the first `</S>`, all
      ids are `</S>`.
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

    In each round, every open hypothesis is extended by every word, and the `width` best
    extensions are kept. An extension that ends with `</S>` is complete: it moves to a
    separate list and competes only with other complete captions. If no caption of a
    picture is complete after `max_length` words, the open hypotheses are returned. With
    `width=1`, the result is that of greedy search.

    Args:
      step: Function as for `greedy_search`, which is called with `batch * width` rows.
      state: Decoder state before the first word. Each tensor has the shape `[batch,
        ...]`.
      width: Number of hypotheses to keep, at least 1.
      max_length: Maximum number of words, including `</S>`.
      start: Id of `<S>`.
      end: Id of `</S>`.
      length_power: Exponent of the length by which scores are divided. With 0, complete
        captions are ranked by probability, which favours short ones. With 1, they are
        ranked by the mean log-probability of their words.

    Returns:
      The `width` best captions of each picture.

    Raises:
      ValueError: If `width` or `max_length` is below 1, or if `length_power` is not
        from 0 to 5.
    """
    batch = tf.shape(tf.nest.flatten(state)[0])[0]
    state = tf.nest.map_structure(lambda t: tf.repeat(t, width, axis=0), state)
    # The search starts with a single hypothesis, which is empty.
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
    # Open captions count only if no caption of the picture is complete.
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
    logps = tf.where(ends, 2 * NEVER, logps)  # complete, so not extended
    return time + 1, ids, logps, words, *done, state


def _improvable(beam, longest):
    """Returns whether an open hypothesis could still beat a complete caption."""
    _, logps, _, _, done_scores, _ = beam
    # At best, a hypothesis keeps its log-probability until the end.
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
