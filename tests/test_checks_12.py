"""The checks of 12a and 12b: right in several forms, wrong ones refused."""

import numpy as np
import pytest
import tensorflow as tf

from helpers.checks import lesson_12a, lesson_12b


def own(weights, biases, outputs, targets, ids, target_count, drawn_count, *,
        rival=True, correct=1.0, bias=1.0, stop=False):
    """A right answer, with one thing wrong on demand."""
    words = tf.concat([targets[:, None], ids], 1)
    counts = tf.concat([target_count[:, None], drawn_count], 1)
    vectors = tf.gather(weights, words)
    vectors = tf.stop_gradient(vectors) if stop else vectors
    scores = tf.einsum("ru,rdu->rd", outputs, vectors)
    scores += bias * tf.gather(biases, words) - correct * tf.math.log(counts)
    if rival:
        same = tf.equal(ids, targets[:, None])
        scores = tf.where(tf.pad(same, [[0, 0], [1, 0]]), -1e9, scores)
    return -tf.nn.log_softmax(scores)[:, 0]


def own_in_rows(*given):
    weights, biases, *rest = given
    rows = zip(*(tf.unstack(part) for part in rest), strict=True)
    return tf.stack([own(weights, biases, *(part[None] for part in row))[0]
                     for row in rows])


def own_without_guard(weights, biases, outputs, targets, ids, *counts):
    scores = own(weights, biases, outputs, targets, ids, *counts)
    return tf.math.log(tf.exp(scores))


def attend(query, places, *, axes=(1, 2), scale=1.0, stop=False):
    """A right answer, with one thing wrong on demand."""
    scores = scale * tf.einsum("bc,bhwc->bhw", query, places)
    shares = tf.exp(scores - tf.reduce_max(scores, axes, keepdims=True))
    shares /= tf.reduce_sum(shares, axes, keepdims=True)
    return tf.einsum("bhw,bhwc->bc", shares, places), shares


def attend_as_list(query, places):
    shape = tf.shape(places)
    listed = tf.reshape(places, [shape[0], -1, places.shape[-1]])
    shares = tf.nn.softmax(tf.linalg.matvec(listed, query))
    return [tf.reduce_sum(shares[..., None] * listed, 1),
            tf.reshape(shares, shape[:3])]


def of(function, **options):
    return lambda *given: function(*given, **options)


CHECKS = {
    lesson_12a.check_own_sample: (
        [own, own_in_rows, lambda *given: tf.identity(own(*given)),
         lambda w, *rest: own(tf.identity(w), *rest)],
        {"own rival": of(own, rival=False), "no correction": of(own, correct=0.0),
         "added": of(own, correct=-1.0), "no biases": of(own, bias=0.0),
         "a gradient stopped": of(own, stop=True), "overflow": own_without_guard,
         "one sample": lambda w, b, o, t, ids, c, d: own(
             w, b, o, t, tf.repeat(ids[:1], tf.shape(ids)[0], 0), c,
             tf.repeat(d[:1], tf.shape(d)[0], 0)),
         "three drawn": lambda w, b, o, t, ids, c, d: own(
             w, b, o, t, ids[:, :3], c, d[:, :3])},
    ),
    lesson_12b.check_attend: (
        [attend, attend_as_list, lambda *given: list(attend(*given)),
         lambda q, p: tuple(map(tf.identity, attend(q, p)))],
        {"per row": of(attend, axes=2), "per column": of(attend, axes=1),
         "over the batch": of(attend, axes=(0, 1, 2)), "scaled": of(attend, scale=0.5),
         "context alone": lambda *given: attend(*given)[0],
         "flat weights": lambda q, p: (attend(q, p)[0], tf.reshape(
             attend(q, p)[1], [tf.shape(p)[0], -1])),
         "loud": lambda q, p: attend(tf.clip_by_value(q, -9, 9), p),
         "NumPy": lambda q, p: (np.zeros(3), np.zeros(3))},
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


@pytest.mark.parametrize(("check", "lead"), [
    (lesson_12a.check_own_sample, "tf.einsum('ru,rdu->rd', outputs, vectors)"),
    (lesson_12b.check_attend, "listed = tf.reshape(places"),
])
def test_the_last_hint_is_a_line_of_an_accepted_answer(check, lead):
    """`own` and `attend_as_list`, accepted above, are written with these lines."""
    assert lead in " ".join(repr(check(lambda *_: 7, hints=2)).split())
