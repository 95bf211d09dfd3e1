"""Searches against NumPy and against all captions that there can be."""

import dataclasses
import itertools

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from caption_models import BATCH, TINY, built, example, fill

from helpers import captions as cap


def toy(words=4, seed=0, batch=3):
    """A language whose next word depends on the last word, the place and the picture.

    Returns its step, its first state and the NumPy table of log-probabilities
    [batch, place, last word, next word].
    """
    rng = np.random.default_rng(seed)
    table = rng.normal(0, 1.5, [batch, 6, words, words]).astype(np.float32)
    logp = table - np.log(np.exp(table).sum(-1, keepdims=True))

    def step(last, state):
        picture, place = state
        index = tf.stack([picture[:, 0], place[:, 0], last], 1)
        return tf.gather_nd(table, index), (picture, place + 1)

    state = (tf.range(batch)[:, None], tf.zeros([batch, 1], tf.int32))
    return step, state, logp


def enumerate_captions(logp, max_length, start, end, power):
    """Scores every complete caption of one picture; best first."""
    others = [word for word in range(logp.shape[-1]) if word != end]
    found = []
    for length in range(1, max_length + 1):
        for middle in itertools.product(others, repeat=length - 1):
            ids = (*middle, end)
            steps = zip((start, *middle), ids, strict=True)
            score = sum(logp[t, a, b] for t, (a, b) in enumerate(steps))
            padded = ids + (end,) * (max_length - length)
            found.append((score / length**power, padded))
    return sorted(found, reverse=True)


def run_search(search, **options):
    with tf.Graph().as_default(), tf1.Session() as session:
        step, state, logp = toy(**options)
        return session.run(search(step, state)), logp


@pytest.mark.parametrize("seed", range(5))
def test_width_one_is_greedy_is_numpy(seed):
    options = {"max_length": 5, "start": 0, "end": 1}
    greedy, logp = run_search(
        lambda step, state: cap.greedy_search(step, state, **options), seed=seed
    )
    beam, _ = run_search(
        lambda step, state: cap.beam_search(step, state, width=1, **options), seed=seed
    )
    np.testing.assert_array_equal(beam.ids[:, 0], greedy)
    for row, table in zip(greedy, logp, strict=True):
        word, ids = 0, []
        for place in range(5):
            word = 1 if word == 1 else int(table[place, word].argmax())
            ids.append(word)
        assert list(row) == ids


@pytest.mark.parametrize("power", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_wide_beam_is_exhaustive(seed, power):
    # 3 words, at most 4 of them: 31 captions and their beginnings fit the beam.
    options = {"max_length": 4, "start": 0, "end": 1, "length_power": power}
    found, logp = run_search(
        lambda step, state: cap.beam_search(step, state, width=81, **options),
        words=3, seed=seed,
    )
    for row in range(3):
        wanted = enumerate_captions(logp[row], 4, 0, 1, power)
        assert len(wanted) == 15
        for k, (score, ids) in enumerate(wanted):
            assert found.scores[row, k] == pytest.approx(score, rel=1e-4)
            assert tuple(found.ids[row, k]) == ids
        assert (found.scores[row, 15:] < -1e8).all()  # there are no others


def test_without_an_end_the_open_captions_are_returned():
    def step(last, state):
        return tf.tile([[0.0, -1e9, 2.0]], [tf.shape(last)[0], 1]), state

    with tf.Graph().as_default(), tf1.Session() as session:
        state = tf.zeros([2, 3])
        found = session.run(cap.beam_search(
            step, state, width=2, max_length=3, start=0, end=1
        ))
        options = {"max_length": 3, "start": 0, "end": 1}
        greedy = session.run(cap.greedy_search(step, state, **options))
    assert found.ids[:, 0].tolist() == greedy.tolist() == [[2, 2, 2]] * 2


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_searching_a_batch_is_searching_each(cell):
    sizes = dataclasses.replace(TINY, cell=cell)
    images, _, _ = example(sizes)
    with tf.Graph().as_default(), tf1.Session() as session:
        model, image_feed, _, features, _ = built(sizes)
        options = {"max_length": 6, "start": 0, "end": 1}
        found = cap.beam_search(
            model.step, model.start(features), width=3, **options
        )
        session.run(tf1.global_variables_initializer())
        fill(session)
        batch = session.run(found, {image_feed: images})
        for k in range(BATCH):
            one = session.run(found, {image_feed: images[k : k + 1]})
            np.testing.assert_array_equal(one.ids[0], batch.ids[k])
            np.testing.assert_allclose(one.scores[0], batch.scores[k], rtol=1e-4)
