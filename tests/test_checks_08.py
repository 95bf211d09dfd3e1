"""The checks of lesson 08 name the usual mistakes; the solutions are run elsewhere."""

import pytest
import tensorflow as tf

from helpers.checks import lesson_08 as checks


def mean_over_all(losses, lengths):
    return tf.reduce_mean(losses)


def product(losses, lengths):
    mask = tf.sequence_mask(lengths, tf.shape(losses)[1], tf.float32)
    return tf.reduce_sum(losses * mask) / tf.reduce_sum(mask)


def mean_of_means(losses, lengths):
    mask = tf.sequence_mask(lengths, tf.shape(losses)[1], tf.float32)
    return tf.reduce_mean(tf.reduce_sum(losses * mask, 1) / tf.reduce_sum(mask, 1))


def forgets_the_past(scores, logp):
    return extend(tf.zeros_like(scores), logp)


def swapped(scores, logp):
    best, parents, words = extend(scores, logp)
    return best, words, parents


def extend(scores, logp):
    width, words = logp.shape[1:]
    every = tf.reshape(scores[:, :, None] + logp, [-1, width * words])
    best, index = tf.math.top_k(every, width)
    return best, index // words, index % words


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
    (checks.check_masked_mean, mean_over_all, "the mean over all places"),
    (checks.check_masked_mean, product, "0 times infinity"),
    (checks.check_masked_mean, mean_of_means, "divide once"),
    (checks.check_beam_step, forgets_the_past, "what was said before"),
    (checks.check_beam_step, swapped, "index // words"),
    (checks.check_beam_step, lambda scores, logp: scores, "returned ndarray"),
    (checks.check_attend, softmax_per_row, "not one per row"),
    (checks.check_attend, no_query, "Keras has"),
    (checks.check_attend, even_weights, "do not belong to their places"),
    (checks.check_attend, scrambled_weights, "do not belong to their places"),
])
def test_a_usual_mistake_gets_its_hint(check, attempt, hint):
    report = check(attempt)
    assert not report
    assert hint in " ".join(repr(report).split())


def test_a_right_answer_of_another_form_passes():
    assert checks.check_attend(attend)
    assert checks.check_beam_step(extend)


@pytest.mark.parametrize(
    "check", [checks.check_masked_mean, checks.check_beam_step, checks.check_attend]
)
def test_a_stub_gets_a_start_and_an_error_one_line(check):
    assert "Start here" in repr(check(lambda *tensors: None))
    report = check(lambda *tensors: 1 / 0)
    assert not report and "ZeroDivisionError" in repr(report)
