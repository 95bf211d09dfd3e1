"""The checks of lesson 08 name the usual mistakes; the solutions are run elsewhere."""

import numpy as np
import pytest
import tensorflow as tf

from helpers.checks import lesson_08 as checks


def sampled(step, state, inputs, share, *, first=True, one_coin=(), axis=1,
            turned=False, at_build=False, carried=True):
    """A right answer, with one thing wrong on demand."""
    logits, guess = [], tf.zeros_like(inputs[:, 0])
    coin = np.random.default_rng(0)
    tosses = tf.random.uniform(tf.shape(inputs))
    for place in range(inputs.shape[1]):
        toss = tosses[:, place]
        if "batch" in one_coin:
            toss = tf.broadcast_to(tosses[0, place], tf.shape(toss))
        if "time" in one_coin:
            toss = tosses[:, 0]
        if at_build:
            toss = tf.constant(coin.uniform(size=inputs.shape[0]), tf.float32)
        heard = (toss >= share) if turned else (toss < share)
        if place == 0 and first:
            heard = tf.ones_like(heard)
        word = tf.where(heard, inputs[:, place], guess)
        logit, after = step(word, state)
        state = after if carried else state
        guess = tf.argmax(logit, 1, tf.int32)
        logits.append(logit)
    return tf.stack(logits, axis=axis)


def sampled_by_product(step, state, inputs, share):
    """Another form: coins of 0 and 1, and a sum."""
    time = inputs.shape[1]
    coins = tf.cast(tf.random.uniform([inputs.shape[0], time]) < share, tf.int32)
    word, logits = inputs[:, 0], []
    for place in range(1, time + 1):
        logit, state = step(word, state)
        logits.append(logit[:, None])
        if place < time:
            guess = tf.argmax(logit, 1, output_type=tf.int32)
            c = coins[:, place]
            word = c * inputs[:, place] + (1 - c) * guess
    return tf.concat(logits, axis=1)


def sampled_by_scan(step, state, inputs, share):
    """A third form: the loop is in the graph."""
    logit, state = step(inputs[:, 0], state)

    def further(carried, true):
        logit, state = carried
        guess = tf.argmax(logit, 1, tf.int32)
        heard = tf.random.uniform(tf.shape(true)) < share
        return step(tf.where(heard, true, guess), state)

    rest, _ = tf.scan(further, tf.transpose(inputs)[1:], (logit, state))
    return tf.transpose(tf.concat([logit[None], rest], 0), [1, 0, 2])


def with_fault(**options):
    return lambda *arguments: sampled(*arguments, **options)


def no_maxlen(losses, lengths):
    real = tf.sequence_mask(lengths)
    kept = tf.where(real, losses[:, :tf.shape(real)[1]], 0.0)
    return tf.reduce_sum(kept) / tf.reduce_sum(tf.cast(real, tf.float32))


def no_maxlen_at_all(losses, lengths):
    real = tf.sequence_mask(lengths)
    return tf.reduce_sum(tf.where(real, losses, 0.0)) / tf.reduce_sum(
        tf.cast(real, tf.float32))


def by_boolean_mask(losses, lengths):
    real = tf.range(tf.shape(losses)[1]) < lengths[:, None]
    return tf.reduce_mean(tf.boolean_mask(losses, real))


def by_sum_of_rows(losses, lengths):
    real = tf.sequence_mask(lengths, tf.shape(losses)[1])
    rows = tf.reduce_sum(tf.where(real, losses, tf.zeros_like(losses)), 1)
    return tf.reduce_sum(rows) / tf.cast(tf.reduce_sum(lengths), tf.float32)


def per_caption(losses, lengths):
    real = tf.sequence_mask(lengths, tf.shape(losses)[1])
    return tf.reduce_sum(tf.where(real, losses, 0.0)) / 3.0


def mean_over_all(losses, lengths):
    return tf.reduce_mean(losses)


def one_too_many(losses, lengths):
    real = tf.range(tf.shape(losses)[1]) <= lengths[:, None]
    return tf.reduce_mean(tf.boolean_mask(losses, real))


def product(losses, lengths):
    mask = tf.sequence_mask(lengths, tf.shape(losses)[1], tf.float32)
    return tf.reduce_sum(losses * mask) / tf.reduce_sum(mask)


def mean_of_means(losses, lengths):
    mask = tf.sequence_mask(lengths, tf.shape(losses)[1], tf.float32)
    return tf.reduce_mean(tf.reduce_sum(losses * mask, 1) / tf.reduce_sum(mask, 1))


def forgets_the_past(scores, logp):
    return extend(tf.zeros_like(scores), logp)


def one_of_each(scores, logp):
    best, words = tf.math.top_k(logp, 1)
    parents = tf.broadcast_to(tf.range(logp.shape[1]), scores.shape)
    return best[:, :, 0] + scores, parents, words[:, :, 0]


def worst_first(scores, logp):
    return [part[:, ::-1] for part in extend(scores, logp)]


def swapped(scores, logp):
    best, parents, words = extend(scores, logp)
    return best, words, parents


def extend(scores, logp):
    width, words = logp.shape[1:]
    every = tf.reshape(scores[:, :, None] + logp, [-1, width * words])
    best, index = tf.math.top_k(every, width)
    return best, index // words, index % words


def flat_index(scores, logp):
    width, words = logp.shape[1:]
    best, index = tf.math.top_k(
        tf.reshape(scores[:, :, None] + logp, [-1, width * words]), width)
    return best, index, index % words


def as_int64(scores, logp):
    best, parents, words = extend(scores, logp)
    return best, tf.cast(parents, tf.int64), words


def by_sorting(scores, logp):
    batch, width, words = logp.shape
    every = tf.reshape(scores[..., None] + logp, [batch, -1])
    index = tf.argsort(every, direction="DESCENDING")[:, :width]
    best = tf.gather(every, index, batch_dims=1)
    return best, tf.math.floordiv(index, words), tf.math.floormod(index, words)


def by_two_rounds(scores, logp):
    """The best of each hypothesis first, then the best of those."""
    width = logp.shape[1]
    rounds, words = tf.math.top_k(logp, width)
    best, index = tf.math.top_k(
        tf.reshape(scores[..., None] + rounds, [-1, width * width]), width)
    flat = tf.reshape(words, [-1, width * width])
    return best, index // width, tf.gather(flat, index, batch_dims=1)


def overflowing(query, places):
    raised = tf.exp(tf.einsum("bc,bhwc->bhw", query, places))
    weights = raised / tf.reduce_sum(raised, [1, 2], keepdims=True)
    return tf.einsum("bhw,bhwc->bc", weights, places), weights


def softmax_over_channels(query, places):
    weights = tf.nn.softmax(query[:, None, None] * places)
    return tf.reduce_sum(weights * places, [1, 2]), tf.reduce_sum(weights, -1)


def softmax_over_the_batch(query, places):
    scores = tf.einsum("bc,bhwc->bhw", query, places)
    weights = tf.reshape(tf.nn.softmax(tf.reshape(scores, [-1])), tf.shape(scores))
    return tf.einsum("bhw,bhwc->bc", weights, places), weights


def scaled(query, places):
    return attend(query / tf.sqrt(11.0), places)


def attend_by_product(query, places):
    """With matrix products over the list of places."""
    batch, height, columns, channels = places.shape
    listed = tf.reshape(places, [batch, height * columns, channels])
    weights = tf.nn.softmax(tf.matmul(listed, query[..., None])[..., 0])
    context = tf.matmul(weights[:, None], listed)[:, 0]
    return context, tf.reshape(weights, [batch, height, columns])


def attend_by_sums(query, places):
    scores = tf.reduce_sum(query[:, None, None] * places, -1)
    flat = tf.nn.softmax(tf.reshape(scores, [tf.shape(scores)[0], -1]))
    weights = tf.reshape(flat, tf.shape(scores))
    return tf.reduce_sum(weights[..., None] * places, [1, 2]), weights


def softmax_per_row(query, places):
    weights = tf.nn.softmax(tf.einsum("bc,bhwc->bhw", query, places))
    return tf.einsum("bhw,bhwc->bc", weights, places), weights


def no_query(query, places):
    context = tf.reduce_mean(places, [1, 2])
    return context, tf.fill(tf.shape(places)[:3], 1 / 6)


def even_weights(query, places):
    context, weights = attend(query, places)
    return context, tf.fill(tf.shape(weights), 1 / 6)


def scrambled_weights(query, places):
    context, weights = attend(query, places)
    turned = tf.transpose(weights, [0, 2, 1])
    return context, tf.reshape(turned, tf.shape(weights))


def attend(query, places):
    scores = tf.einsum("bc,bhwc->bhw", query, places)
    weights = tf.exp(scores - tf.reduce_logsumexp(scores, [1, 2], keepdims=True))
    return tf.einsum("bhw,bhwc->bc", weights, places), weights


@pytest.mark.parametrize(("check", "attempt", "hint"), [
    (checks.check_sampled_teach, with_fault(axis=0), "the time comes first"),
    (checks.check_sampled_teach, with_fault(first=False), "the first word is not"),
    (checks.check_sampled_teach, with_fault(turned=True), "reads its own guesses"),
    (checks.check_sampled_teach, with_fault(carried=False), "are not those of"),
    (checks.check_sampled_teach, with_fault(at_build=True), "while the graph was"),
    (checks.check_sampled_teach, with_fault(one_coin="batch"), "all captions of a"),
    (checks.check_sampled_teach, with_fault(one_coin="time"), "all words of a caption"),
    (checks.check_masked_mean, mean_over_all, "the mean over all places"),
    (checks.check_masked_mean, product, "0 times infinity"),
    (checks.check_masked_mean, mean_of_means, "the mean of the captions' means"),
    (checks.check_masked_mean, per_caption, "divided by the number of captions"),
    (checks.check_masked_mean, one_too_many, "one place too many"),
    (checks.check_masked_mean, no_maxlen_at_all, "the losses are wider"),
    (checks.check_beam_step, forgets_the_past, "what was said before"),
    (checks.check_beam_step, one_of_each, "one extension of each hypothesis"),
    (checks.check_beam_step, worst_first, "the worst of them comes first"),
    (checks.check_beam_step, swapped, "that is the word"),
    (checks.check_beam_step, flat_index, "place in the list of all extensions"),
    (checks.check_beam_step, as_int64, "int64"),
    (checks.check_beam_step, lambda scores, logp: scores, "returned ndarray"),
    (checks.check_attend, softmax_per_row, "one per row"),
    (checks.check_attend, softmax_over_channels, "went over the channels"),
    (checks.check_attend, softmax_over_the_batch, "one for the whole batch"),
    (checks.check_attend, no_query, "the query has no say"),
    (checks.check_attend, scaled, "divided by the square root of the channels"),
    (checks.check_attend, overflowing, "the exponential of a large score"),
    (checks.check_attend, even_weights, "do not belong to their places"),
    (checks.check_attend, scrambled_weights, "do not belong to their places"),
])
def test_a_usual_mistake_gets_its_hint(check, attempt, hint):
    report = check(attempt)
    assert not report
    assert hint in " ".join(repr(report).split())


@pytest.mark.parametrize(("check", "attempt"), [
    (checks.check_sampled_teach, sampled),
    (checks.check_sampled_teach, sampled_by_product),
    (checks.check_sampled_teach, sampled_by_scan),
    (checks.check_masked_mean, no_maxlen),
    (checks.check_masked_mean, by_boolean_mask),
    (checks.check_masked_mean, by_sum_of_rows),
    (checks.check_beam_step, extend),
    (checks.check_beam_step, by_sorting),
    (checks.check_beam_step, by_two_rounds),
    (checks.check_attend, attend),
    (checks.check_attend, attend_by_product),
    (checks.check_attend, attend_by_sums),
])
def test_a_right_answer_of_another_form_passes(check, attempt):
    assert check(attempt)


def untouched(*tensors):
    pass


@pytest.mark.parametrize("check", [
    checks.check_sampled_teach, checks.check_masked_mean, checks.check_beam_step,
    checks.check_attend,
])
def test_hints_come_in_steps_and_an_error_is_one_line(check):
    assert "not tried yet" in repr(check(untouched))
    report = check(lambda *tensors: 1 / 0, hints=2)
    assert not report and "ZeroDivisionError" in repr(report)
    assert "Hint 1: " in repr(report) and "Hint 2: " in repr(report)
