"""The checks of lesson 12: right answers of any shape pass, wrong ones are named."""

import numpy as np
import pytest
import tensorflow as tf

from helpers.checks import lesson_12 as checks


def own_sample(weights, biases, outputs, targets, ids, target_count, drawn_count, *,
               correct=1.0, rivals=True, shared=False, biased=1.0):
    """A right answer, with one thing wrong on demand."""
    if shared:
        ids, drawn_count = (tf.repeat(t[:1], checks.ROWS, axis=0)
                            for t in (ids, drawn_count))
    words = tf.concat([targets[:, None], ids], 1)
    counts = tf.concat([target_count[:, None], drawn_count], 1)
    scores = tf.reduce_sum(outputs[:, None] * tf.gather(weights, words), -1)
    scores += biased * tf.gather(biases, words) - correct * tf.math.log(counts)
    if rivals:
        own = tf.equal(ids, targets[:, None])
        own = tf.concat([tf.zeros_like(own[:, :1]), own], 1)
        scores = tf.where(own, -np.inf, scores)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.zeros_like(targets), logits=scores)


def row_by_row(weights, biases, outputs, targets, ids, target_count, drawn_count):
    """Another form: TensorFlow's own loss, once per row."""
    losses = []
    for row in range(targets.shape[0]):
        losses.append(tf.nn.sampled_softmax_loss(
            weights, biases, targets[row:row + 1, None], outputs[row:row + 1],
            ids.shape[1], weights.shape[0],
            sampled_values=(ids[row], target_count[row:row + 1, None],
                            drawn_count[row])))
    return tf.concat(losses, 0)


def by_matmul(weights, biases, outputs, targets, ids, target_count, drawn_count):
    """A third: scores of all words, of which the drawn are picked."""
    scores = outputs @ tf.transpose(weights) + biases
    true = tf.gather(scores, targets, batch_dims=1) - tf.math.log(target_count)
    drawn = tf.gather(scores, ids, batch_dims=1) - tf.math.log(drawn_count)
    drawn += tf.where(tf.equal(ids, targets[:, None]), -1e30, 0.0)
    every = tf.concat([drawn, true[:, None]], 1)
    return tf.reduce_logsumexp(every, 1) - true


@pytest.mark.parametrize("attempt", [own_sample, row_by_row, by_matmul])
def test_own_sample_takes_right_answers(attempt):
    assert checks.check_own_sample(attempt)


def with_(**wrong):
    return lambda *given: own_sample(*given, **wrong)


def in_the_open(*given):
    """The exponentials as they are."""
    scores = _scores(*given)
    return tf.math.log(tf.reduce_sum(tf.exp(scores), 1)) - scores[:, 0]


def _scores(weights, biases, outputs, targets, ids, target_count, drawn_count):
    words = tf.concat([targets[:, None], ids], 1)
    counts = tf.concat([target_count[:, None], drawn_count], 1)
    scores = tf.reduce_sum(outputs[:, None] * tf.gather(weights, words), -1)
    scores += tf.gather(biases, words) - tf.math.log(counts)
    own = tf.pad(tf.equal(ids, targets[:, None]), [[0, 0], [1, 0]])
    return tf.where(own, -np.inf, scores)


@pytest.mark.parametrize(("attempt", "word"), [
    (lambda *given: [0], "returned list"),
    (lambda *given: own_sample(*given)[:, None], "expected (4,)"),
    (with_(correct=0.0), "have no say"),
    (with_(correct=-1.0), "is added, not taken away"),
    (with_(rivals=False), "among its own rivals"),
    (with_(shared=True), "the first row's sample"),
    (with_(biased=0.0), "the biases are missing"),
    (in_the_open, "exponential of a large score"),
])
def test_own_sample_names_what_is_wrong(attempt, word):
    report = checks.check_own_sample(attempt)
    assert not report and word in " ".join(repr(report).split())


def coverage(weights, mask):
    looked = tf.einsum("btp,bt->bp", weights, mask)
    return tf.reduce_mean(tf.reduce_sum(tf.square(1 - looked), -1))


def coverage_by_where(weights, mask):
    real = tf.where(mask[:, :, None] > 0, weights, tf.zeros_like(weights))
    missing = 1 - tf.reduce_sum(real, 1)
    return tf.reduce_sum(missing * missing) / tf.cast(tf.shape(mask)[0], tf.float32)


def coverage_by_matmul(weights, mask):
    looked = (mask[:, None] @ weights)[:, 0]
    return 2 * tf.nn.l2_loss(looked - 1) / weights.shape[0]


@pytest.mark.parametrize("attempt", [coverage, coverage_by_where, coverage_by_matmul])
def test_coverage_takes_right_answers(attempt):
    assert checks.check_coverage(attempt)


@pytest.mark.parametrize(("attempt", "word"), [
    (lambda weights, mask: [0], "returned list"),
    (lambda weights, mask: tf.reduce_sum((1 - tf.einsum(
        "btp,bt->bp", weights, mask)) ** 2, 1), "expected ()"),
    (lambda weights, mask: coverage(weights, tf.ones_like(mask)), "padding counts"),
    (lambda weights, mask: 3 * coverage(weights, mask), "sum over the captions"),
    (lambda weights, mask: coverage(weights, mask) / 6, "mean over the places"),
    (lambda weights, mask: tf.reduce_mean(tf.reduce_sum(tf.abs(1 - tf.einsum(
        "btp,bt->bp", weights, mask)), 1)), "not its square"),
    (lambda weights, mask: tf.reduce_mean(tf.reduce_sum(
        (1 - weights) ** 2 * mask[..., None], [1, 2])), "before the sum over"),
    (lambda weights, mask: tf.reduce_mean((1 - tf.reduce_sum(
        weights * mask[..., None], [1, 2])) ** 2), "summed over the places first"),
])
def test_coverage_names_what_is_wrong(attempt, word):
    report = checks.check_coverage(attempt)
    assert not report and word in " ".join(repr(report).split())


def rank(logps, lengths, power):
    scores = logps / tf.cast(lengths, tf.float32) ** power
    scores = tf.where(lengths > 0, scores, -1e30)
    return tf.argsort(-scores, axis=1)


def rank_by_top_k(logps, lengths, power):
    words = tf.maximum(tf.cast(lengths, tf.float32), 1)
    scores = logps * tf.exp(-power * tf.math.log(words))
    scores += tf.where(lengths > 0, 0.0, -np.inf)
    return tf.math.top_k(scores, k=logps.shape[1]).indices


def rank_by_comparing(logps, lengths, power):
    words = tf.maximum(tf.cast(lengths, tf.float32), 1.0)
    scores = tf.where(tf.equal(lengths, 0), -np.inf, logps / tf.pow(words, power))
    places = tf.range(logps.shape[1])
    ahead = (scores[:, None] > scores[..., None]) | (
        (scores[:, None] == scores[..., None]) & (places < places[:, None]))
    rank_of = tf.reduce_sum(tf.cast(ahead, tf.int32), 2)
    return tf.argmax(tf.equal(rank_of[:, None], places[:, None]), 2, tf.int32)


@pytest.mark.parametrize("attempt", [rank, rank_by_top_k, rank_by_comparing])
def test_rank_captions_takes_right_answers(attempt):
    assert checks.check_rank_captions(attempt)


def scored(logps, lengths, power):
    return tf.where(lengths > 0, logps / tf.cast(lengths, tf.float32) ** power, -1e30)


@pytest.mark.parametrize(("attempt", "word"), [
    (lambda logps, lengths, power: [1], "returned list"),
    (lambda *given: rank(*given)[:, 0], "expected (2, 3)"),
    (lambda *given: tf.argsort(scored(*given), axis=1), "worst comes first"),
    (lambda logps, lengths, power: tf.argsort(-logps, axis=1), "lengths have no say"),
    (lambda logps, lengths, power: rank(logps, lengths, 1.0), "the power has no say"),
    (lambda *given: tf.argsort(rank(*given), axis=1), "not their places in order"),
    (lambda *given: tf.cast(rank(*given), tf.int64), "it is int64"),
    (lambda logps, lengths, power: tf.argsort(
        -logps / tf.maximum(tf.cast(lengths, tf.float32), 1) ** power, axis=1),
     "a length of 0"),
])
def test_rank_captions_names_what_is_wrong(attempt, word):
    report = checks.check_rank_captions(attempt)
    assert not report and word in " ".join(repr(report).split())


@pytest.mark.parametrize("check", [
    checks.check_own_sample, checks.check_coverage, checks.check_rank_captions])
def test_an_untouched_stub_and_the_hints(check):
    def stub(*given):
        pass

    assert "not tried yet" in repr(check(stub))
    wrong = repr(check(lambda *given, **more: 7, hints=2))
    assert "Hint 1" in wrong and "Hint 2" in wrong
