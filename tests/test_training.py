"""The model object: fits again, predicts past the queue, goes on where it was saved."""

import threading

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import queues
from helpers.training import Model

X = np.random.default_rng(7).normal(size=[97, 2]).astype(np.float32)
Y = X @ np.float32([[3.0], [2.0]]) + 1.0


def regression(features):
    weight = tf1.get_variable("w", [2, 1], initializer=tf1.zeros_initializer())
    bias = tf1.get_variable("b", [1], initializer=tf1.zeros_initializer())
    return features @ weight + bias


def model_of(*, batches="fed", global_step=True):
    """Returns a regression as a `Model`, its batches fed or from a queue."""
    with tf.Graph().as_default() as graph:
        step = tf1.train.get_or_create_global_step()
        if batches == "fed":
            features = tf1.placeholder_with_default(X, [None, 2])
            targets = tf.constant(Y)
        elif batches == "feed_queue":
            rows = tf.queue.FIFOQueue(50, [tf.float32] * 2, [[2], [1]])
            queues.feed_queue(rows, (X, Y), seed=7)
            features, targets = rows.dequeue_many(20)
        else:
            features, targets = tf1.train.shuffle_batch(
                tf1.train.slice_input_producer([X, Y], seed=7), 20, 200, 100, seed=7)
        loss = tf.reduce_mean(tf.square(regression(features) - targets))
        with tf.control_dependencies([tf.debugging.check_numerics(loss, "bad row")]):
            train = tf1.train.MomentumOptimizer(0.05, 0.9).minimize(
                loss, step if global_step else None)
        with tf1.variable_scope("", reuse=True):
            some = tf1.placeholder(tf.float32, [None, 2])
            prediction = regression(some)
    model = Model(graph, train, loss, incoming=some, prediction=prediction)
    model.features = features
    return model


@pytest.mark.parametrize("batches", ["fed", "feed_queue", "slice_input_producer"])
def test_fit_and_fit_again_find_the_line(batches):
    with model_of(batches=batches) as model:
        first, second = model.fit(60), model.fit(60)
        assert len(first) == len(second) == 60 and second[-1] < 1e-3 < first[0]
        assert model.session.run(model.step) == 120
        np.testing.assert_allclose(model.predict(X[:5]), Y[:5], atol=0.1)


def test_close_ends_all_threads_and_the_session():
    before = set(threading.enumerate())
    model = model_of(batches="slice_input_producer")
    model.fit(2)
    model.close()
    assert not [t for t in set(threading.enumerate()) - before if t.is_alive()]
    with pytest.raises(RuntimeError, match="[Cc]losed"):
        model.predict(X)


def test_goes_on_after_restore_as_if_nothing_had_been(tmp_path):
    with model_of() as whole, model_of() as stopped, model_of() as resumed:
        expected = whole.fit(20)
        assert resumed.restore(tmp_path) is None
        stopped.fit(12)
        assert stopped.save(tmp_path).name == "model.ckpt-12"
        assert resumed.restore(tmp_path) == 12
        np.testing.assert_allclose(resumed.fit(8), expected[12:], rtol=1e-4)


def test_also_is_fetched_by_the_run_that_trains():
    seen = []
    with model_of(batches="feed_queue") as model:
        model.fit(7)
        losses = model.fit(
            25, every=10, also=model.loss, each=lambda *row: seen.append(row)
        )
    assert [at for at, _ in seen] == [10, 20, 30]
    assert [value for _, value in seen] == pytest.approx(
        [losses[at - 8] for at, _ in seen])
