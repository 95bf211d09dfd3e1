"""Queues: exactly-once delivery, an end to every run, and no thread left behind."""

import contextlib
import itertools
import threading
import time
from collections import Counter

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from pipelines import numbers, started

from helpers.errors import DataError, PipelineStalled
from helpers.queues import diagnose, feed_queue, running_queues

pytestmark = pytest.mark.usefixtures("no_thread_left")


def fifo(capacity=11, *, dtype=tf.int32, shape=(), name="numbers"):
    return tf1.FIFOQueue(capacity, [dtype], shapes=[list(shape)], name=name)


def all_of(session, fetches, **limits):
    with running_queues(session, **limits) as runner:
        return [values.tolist() for values in runner.steps(fetches)]


@pytest.mark.parametrize(
    ("threads", "epochs", "smaller", "shuffle"),
    [*itertools.product([1, 5], [1, 2], [True, False], [True, False])],
)
def test_every_item_comes_exactly_once_per_epoch(threads, epochs, smaller, shuffle):
    graph, values = numbers(
        103, 10, epochs=epochs, threads=threads, smaller=smaller, shuffle=shuffle
    )
    with started(graph) as session:
        batches = all_of(session, values)
    seen = Counter(itertools.chain(*batches))
    total = 103 * epochs
    if smaller:
        assert seen == dict.fromkeys(range(103), epochs)
    else:
        assert seen.total() == total - total % 10
        assert max(seen.values()) <= epochs
    assert len(batches) == (-(-total // 10) if smaller else total // 10)


def test_steps_stop_after_n_and_go_on_in_the_same_block():
    graph, values = numbers(103, 10, epochs=None)
    with started(graph) as session, running_queues(session) as runner:
        first = [v.tolist() for v in runner.steps(values, n=3)]
        second = [v.tolist() for v in runner.steps(values, n=2)]
        assert runner.steps_done == 5
    assert list(itertools.chain(*first, *second)) == list(range(50))


def test_end_of_data_ends_a_block_of_plain_runs():
    graph, values = numbers(23)
    seen = []
    with started(graph) as session, running_queues(session) as runner:
        while True:
            seen += runner.run(values).tolist()
    assert seen == list(range(23))


def test_fewer_items_than_a_batch_is_an_error():
    graph, values = numbers(7, 10, smaller=False)
    with started(graph) as session, pytest.raises(DataError) as caught:
        all_of(session, values)
    assert "contains 7 items, but a step needs 10" in str(caught.value)


def test_stall_names_the_queue_that_nobody_fills():
    with tf.Graph().as_default() as graph:
        first, second = fifo(name="first"), fifo(name="second")
        value = second.dequeue_many(3)
        runner = tf1.train.QueueRunner(second, [second.enqueue(first.dequeue())] * 2)
        tf1.train.add_queue_runner(runner)
    with (
        tf1.Session(graph=graph) as session,
        pytest.raises(PipelineStalled) as caught,
    ):
        all_of(session, value, stall=0.3)
    assert str(caught.value) == (
        "No step finished for 0.3 s, because queue 'first' starves: no op of the graph "
        "adds items to it. Build an enqueue op."
    )


def test_a_thread_that_does_not_stop_is_named():
    with tf.Graph().as_default() as graph:
        queue = fifo(dtype=tf.float64)
        slow = tf1.py_func(lambda: time.sleep(2) or 1.0, [], tf.float64, name="slow")
        runner = tf1.train.QueueRunner(queue, [queue.enqueue(tf.reshape(slow, []))])
        tf1.train.add_queue_runner(runner)
    with (
        tf1.Session(graph=graph) as session,
        pytest.raises(RuntimeError, match="still running.*numbers"),
        running_queues(session, grace=0.1),
    ):
        time.sleep(0.2)


# --- diagnose ---


def test_diagnose_before_during_and_after():
    graph, values = numbers(epochs=None)
    with started(graph) as session:
        before = diagnose(session)
        assert [state.alive for state in before.queues] == [None, None]
        assert before.starving.why.startswith("its runner was never started")
        with running_queues(session) as runner:
            runner.run(values)
            assert [state.alive for state in diagnose(session).queues] == [1, 1]
        after = diagnose(session)
        assert all(state.closed and not state.alive for state in after.queues)
    assert str(after).endswith("No queue starves.")


def test_diagnose_reads_size_and_capacity():
    with tf.Graph().as_default() as graph:
        queue = tf1.RandomShuffleQueue(17, 5, [tf.int32], shapes=[[]], name="shuffled")
        fill = queue.enqueue_many([tf.range(7)])
        queue.dequeue_many(3)
    with tf1.Session(graph=graph) as session:
        session.run(fill)
        [state] = diagnose(session).queues
    assert (state.kind, state.size, state.capacity) == ("RandomShuffleQueue", 7, 17)
    assert (state.kept, state.wanted, state.starves) == (5, 3, True)
    assert str(state) == (
        "shuffled: RandomShuffleQueue, 7 of 17 (5 kept back), open, no runner"
    )
    assert state.why.startswith("it has no runner")


def test_diagnose_where_a_loop_takes_from_the_queue(request):
    """In a loop the dequeue op names what brings the queue in, and no queue."""
    if tf1.control_flow_v2_enabled():
        request.addfinalizer(tf1.enable_control_flow_v2)
        tf1.disable_control_flow_v2()
    with tf.Graph().as_default() as graph:
        first, second = fifo(name="first"), fifo(name="second")
        taken = tf1.while_loop(lambda k: k < 3, lambda k: k + first.dequeue(), [0])
        tf1.train.add_queue_runner(
            tf1.train.QueueRunner(second, [second.enqueue(taken)]))
        value = second.dequeue()
    with (tf1.Session(graph=graph) as session, pytest.raises(PipelineStalled),
          running_queues(session, stall=0.5, grace=1) as runner):
        root = diagnose(session).starving
        assert root.name == "second" and "slow, blocked, or exhausted" in root.why
        runner.run(value)


# --- feed_queue ---


@pytest.mark.parametrize(
    ("capacity", "kept", "batch"),
    [(145, 100, 15), (50, 10, 15), (100, 50, 20), (11, 7, 5), (3, 2, 1)],
)
def test_feed_fills_a_queue_that_keeps_rows_back(capacity, kept, batch):
    with tf.Graph().as_default() as graph:
        queue = tf1.RandomShuffleQueue(capacity, kept, [tf.int32], shapes=[[]])
        value = queue.dequeue_up_to(batch)
        feed = feed_queue(queue, np.arange(211), epochs=3)
    got, fits = [], 0
    with tf1.Session(graph=graph) as session:
        while not diagnose(session).queues[0].closed:  # it stops between rows, too
            with running_queues(session, stall=2) as runner:
                got += itertools.chain(*(v.tolist() for v in runner.steps(value, n=9)))
            fits += 1
        with contextlib.suppress(tf.errors.OutOfRangeError):
            while True:
                got += session.run(value).tolist()
    assert Counter(got) == dict.fromkeys(range(211), 3)
    assert feed.rows == 3 * 211 and fits > 1


def test_feed_from_a_generator_pads():
    with tf.Graph().as_default() as graph:
        queue = tf1.PaddingFIFOQueue(5, [tf.int32], shapes=[[None]])
        value = queue.dequeue_many(3)
        feed_queue(queue, lambda: ([n] * n for n in (1, 2, 3)), epochs=2)
    with tf1.Session(graph=graph) as session:
        assert all_of(session, value) == [[[1, 0, 0], [2, 2, 0], [3, 3, 3]]] * 2


def test_feed_with_a_slow_source_goes_on_in_the_next_block():
    leaves = threading.Event()

    def slow():
        for number in itertools.count():
            if number == 5:
                leaves.wait(20)
                time.sleep(0.9)
            yield number

    with tf.Graph().as_default() as graph:
        queue = fifo()
        value = queue.dequeue()
        feed_queue(queue, slow)
    got = []
    with tf1.Session(graph=graph) as session:
        for _ in range(3):
            with running_queues(session) as runner:
                got += [int(one) for one in runner.steps(value, n=5)]
                leaves.set()
    assert got == list(range(15))


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (iter([1, 2]), {}, "is an iterator"),
        (None, {}, "cannot be converted"),
        (np.arange(0), {}, "same number of rows, .* \\[0\\] rows"),
        ((np.arange(3), np.arange(3)), {}, "1 components, but .* has 2 values"),
        (np.ones((3, 2), np.int32), {}, "Component 0 .* expects rows of shape \\(\\)"),
        (np.full(3, 0.5), {}, "component 0 .* 0.5, which cannot be converted to int32"),
        (np.arange(3), {"epochs": 0}, "epochs must be at least 1, but got 0"),
        (lambda: iter([1]), {"seed": 1}, "`seed` is not supported"),
    ],
)
def test_feed_refuses(source, options, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        feed_queue(fifo(), source, **options)
