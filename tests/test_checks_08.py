"""The checks of 08a to 08c: right answers in several forms, wrong ones, hints."""

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks import lesson_08a, lesson_08b, lesson_08c


def sampled(step, state, inputs, share, *, first=True, coin="each", guess_of="run"):
    """A right answer, with one thing wrong on demand."""
    logits, guess = [], tf.zeros_like(inputs[:, 0])
    tosses = tf.random.uniform(tf.shape(inputs))
    if coin == "caption":
        tosses = tf.repeat(tosses[:, :1], inputs.shape[1], 1)
    if coin == "place":
        tosses = tf.repeat(tosses[:1], tf.shape(inputs)[0], 0)
    if coin == "build":
        tosses = tf.constant(np.random.default_rng(0).uniform(size=inputs.shape),
                             tf.float32)
    for place in range(inputs.shape[1]):
        true = tosses[:, place] < share
        if place == 0 and first:
            true = tf.ones_like(true)
        logit, state = step(tf.where(true, inputs[:, place], guess), state)
        guess = (tf.argmax(logit, 1, tf.int32) if guess_of == "run"
                 else tf.random.categorical(logit, 1, dtype=tf.int32)[:, 0])
        logits.append(logit)
    return tf.stack(logits, axis=1)


def sampled_by_scan(step, state, inputs, share):
    """Another form: the loop is in the graph."""
    logit, state = step(inputs[:, 0], state)
    if inputs.shape[1] == 1:
        return logit[:, None]

    def further(carried, true):
        logit, state = carried
        heard = tf.random.uniform(tf.shape(true)) < share
        return step(tf.where(heard, true, tf.argmax(logit, 1, tf.int32)), state)

    rest, _ = tf.scan(further, tf.transpose(inputs)[1:], (logit, state))
    return tf.transpose(tf.concat([logit[None], rest], 0), [1, 0, 2])


def phase(loss, scopes, rate, clip, *, slash="/", together=True, whole=False):
    """A right answer, with one thing wrong on demand."""
    variables = tf1.trainable_variables() if whole else [
        v for scope in scopes for v in tf1.trainable_variables(scope + slash)]
    gradients = tf1.gradients(loss, variables)
    if together:
        gradients, _ = tf.clip_by_global_norm(gradients, clip)
    else:
        gradients = [g if g is None else tf.clip_by_norm(g, clip) for g in gradients]
    return tf1.train.GradientDescentOptimizer(rate).apply_gradients(
        zip(gradients, variables, strict=True))


def phase_by_hand(loss, scopes, rate, clip):
    variables = [v for v in tf1.trainable_variables()
                 if v.op.name.startswith(tuple(scope + "/" for scope in scopes))]
    pairs = [(g, v) for g, v in zip(tf1.gradients(loss, variables), variables,
                                    strict=True) if g is not None]
    length = tf.linalg.global_norm([g for g, _ in pairs])
    short = rate * tf.minimum(1.0, clip / tf.maximum(length, 1e-12))
    return tf.group(*(tf1.assign_sub(v, short * g) for g, v in pairs))


def beam(scores, logp, most, *, ignore=False, mix=False):
    """A right answer by sorting, with one thing wrong on demand."""
    width, words = logp.shape[1:]
    rank = tf.argsort(tf.argsort(logp, direction="DESCENDING"))
    every = scores[..., None] + (
        logp if ignore else tf.where(rank < most, logp, -1e9))
    best, index = tf.math.top_k(tf.reshape(every, [-1, width * words]), width)
    pair = index // words, index % words
    return best, *(pair[::-1] if mix else pair)


def rank(logps, lengths, power, *, missing=-np.inf, fixed=None):
    words = tf.cast(tf.maximum(lengths, 1), tf.float32)
    score = logps / words ** (power if fixed is None else fixed)
    return tf.argsort(-tf.where(lengths > 0, score, missing), axis=1, stable=True)


def of(function, **options):
    return lambda *given: function(*given, **options)


CHECKS = {
    lesson_08a.check_sampled_teach: (
        [sampled, sampled_by_scan,
         lambda *given: tf.identity(sampled(*given)),
         lambda step, state, *rest: sampled(step, state, *rest)],
        {"the first word too": of(sampled, first=False),
         "one coin a caption": of(sampled, coin="caption"),
         "one coin a place": of(sampled, coin="place"),
         "tossed at build": of(sampled, coin="build"),
         "drawn, not likeliest": of(sampled, guess_of="chance"),
         "share ignored": lambda s, z, i, share: sampled(s, z, i, 0.3),
         "share turned": lambda s, z, i, share: sampled(s, z, i, 1 - share),
         "a teacher": lambda s, z, i, share: sampled(s, z, i, 1.0)},
    ),
    lesson_08b.check_phase_update: (
        [phase, phase_by_hand, lambda *given: tf.group(phase(*given)),
         lambda loss, scopes, rate, clip: phase(2 * loss, scopes, rate / 2, 2 * clip)],
        {"no slash": of(phase, slash=""), "one by one": of(phase, together=False),
         "all variables": of(phase, whole=True),
         "first scope": lambda a, scopes, b, c: phase(a, scopes[:1], b, c),
         "clip ignored": lambda a, b, c, clip: phase(a, b, c, 1e9),
         "rate ignored": lambda a, b, rate, c: phase(a, b, 0.1, c)},
    ),
    lesson_08c.check_beam_step: (
        [beam, lambda *given: list(beam(*given)),
         lambda s, p, most: beam(tf.identity(s), p, tf.constant(most)),
         lambda s, p, most: [tf.reshape(t, tf.shape(s)) for t in beam(s, p, most)]],
        {"most ignored": of(beam, ignore=True), "turned": of(beam, mix=True),
         "one each": lambda s, p, most: beam(s, p, 1),
         "scores forgotten": lambda s, p, most: beam(0 * s, p, most),
         "long": lambda s, p, m: [tf.cast(t, tf.int64) if t.dtype == tf.int32 else t
                                  for t in beam(s, p, m)]},
    ),
    lesson_08c.check_rank_captions: (
        [rank, of(rank, missing=tf.float32.min),
         lambda *given: tf.identity(rank(*given)),
         lambda a, b, c: tf.stack([rank(x[None], y[None], c)[0] for x, y in zip(
             tf.unstack(a), tf.unstack(b), strict=True)])],
        {"missing counts as -10": of(rank, missing=-10.0), "power": of(rank, fixed=1.0),
         "three only": lambda a, b, c: rank(a, b, c)[:, :3],
         "first row": lambda a, b, c: tf.repeat(rank(a[:1], b[:1], c), a.shape[0], 0),
         "whole powers": lambda a, b, c: rank(a, b, float(int(c)))},
    ),
}
RIGHT = [(check, answer) for check, (right, _) in CHECKS.items() for answer in right]
WRONG = [pytest.param(check, answer, id=f"{check.__name__}: {name}")
         for check, (_, wrong) in CHECKS.items() for name, answer in wrong.items()]


@pytest.mark.parametrize(("check", "answer"), RIGHT)
def test_what_is_right_is_accepted(check, answer):
    report = check(answer)
    assert report, report
    assert len({text for text, _, _ in report.claims}) <= 6


@pytest.mark.parametrize(("check", "answer"), WRONG)
def test_what_is_wrong_is_refused(check, answer):
    report = check(answer)
    assert not report and not report.broken, report


def hinted_teach(step, state, inputs, share):
    word, guess, logits = inputs[:, 0], None, []
    for place in range(inputs.shape[1]):
        if place:
            true = tf.random.uniform(tf.shape(word)) < share
            word = tf.where(true, inputs[:, place], guess)
        logit, state = step(word, state)
        guess = tf.argmax(logit, axis=1, output_type=tf.int32)
        logits.append(logit)
    return tf.stack(logits, axis=1)


def hinted_phase(loss, scopes, rate, clip):
    variables = [v for scope in scopes for v in tf1.trainable_variables(f"{scope}/")]
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), clip)
    return tf1.train.GradientDescentOptimizer(rate).apply_gradients(
        zip(gradients, variables, strict=True))


def hinted_beam(scores, logp, most):
    best, words = tf.math.top_k(logp, most)
    width = logp.shape[1]
    every = tf.reshape(scores[..., None] + best, [-1, width * most])
    best, index = tf.math.top_k(every, width)
    words = tf.gather(tf.reshape(words, [-1, width * most]), index, batch_dims=1)
    return best, index // most, words


def hinted_rank(logps, lengths, power):
    words = tf.cast(tf.maximum(lengths, 1), tf.float32)
    scores = tf.where(lengths > 0, logps / words**power, -np.inf)
    return tf.argsort(scores, axis=1, direction="DESCENDING", stable=True)


@pytest.mark.parametrize(("check", "answer"), zip(
    CHECKS, [hinted_teach, hinted_phase, hinted_beam, hinted_rank], strict=True))
def test_the_hints_lead_to_an_answer(check, answer):
    assert check(answer)
    hints = repr(check(lambda *_: tf.no_op(), hints=2))
    assert "Hint 1" in hints and "Hint 2" in hints and "get a hint" not in hints
