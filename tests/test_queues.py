"""Queues: exactly-once delivery, an end to every run, and no thread left behind."""

import _thread
import contextlib
import itertools
import threading
import time
from collections import Counter

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.errors import DataError, PipelineStalled
from helpers.queues import diagnose, feed_queue, running_queues

pytestmark = pytest.mark.usefixtures("no_thread_left")


def numbers(count=103, batch=10, *, epochs=1, threads=1, smaller=True, shuffle=False):
    """Returns a graph whose batches count to `count`, and the batch."""
    with tf.Graph().as_default() as graph:
        [one] = tf1.train.slice_input_producer(
            [tf.range(count)], num_epochs=epochs, shuffle=shuffle, seed=3
        )
        options = {"num_threads": threads, "allow_smaller_final_batch": smaller}
        if shuffle:
            values = tf1.train.shuffle_batch([one], batch, 53, 17, seed=5, **options)
        else:
            values = tf1.train.batch([one], batch, **options)
    return graph, values


def started(graph):
    """Returns an open session on a graph, its variables initialised."""
    session = tf1.Session(graph=graph)
    with graph.as_default():
        session.run(tf1.global_variables_initializer())
        session.run(tf1.local_variables_initializer())
    return session


def fifo(capacity=11, *, dtype=tf.int32, shape=(), name="numbers"):
    return tf1.FIFOQueue(capacity, [dtype], shapes=[list(shape)], name=name)


def all_of(session, fetches, **limits):
    with running_queues(session, **limits) as runner:
        return [values.tolist() for values in runner.steps(fetches)]


@pytest.mark.parametrize(
    ("threads", "epochs", "smaller", "shuffle"),
    [*itertools.product([1, 2, 5], [1, 2], [True, False], [True, False])],
)
def test_every_item_comes_exactly_once_per_epoch(threads, epochs, smaller, shuffle):
    graph, values = numbers(
        epochs=epochs, threads=threads, smaller=smaller, shuffle=shuffle
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


def test_run_gives_what_the_session_gives():
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [None])
        fetches = {"double": 2 * x, "nested": (x[:1], [tf.reduce_sum(x)])}
    feed = {x: [3.0, 5.0, 7.0]}
    with tf1.Session(graph=graph) as session, running_queues(session) as runner:
        expected = session.run(fetches, feed)
        assert repr(runner.run(fetches, feed)) == repr(expected)
        [value] = runner.steps(fetches, n=1, feed_dict=feed)
        assert repr(value) == repr(expected)


def test_steps_stop_after_n_and_go_on_in_the_same_block():
    graph, values = numbers(epochs=None)
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


def test_a_step_after_the_end_is_an_error():
    graph, values = numbers(23)
    with started(graph) as session, running_queues(session) as runner:
        assert len(list(runner.steps(values))) == 3
        with pytest.raises(RuntimeError, match="ended after 3 steps"):
            next(runner.steps(values))


def test_a_session_fits_once_after_its_epochs_ran_out():
    graph, values = numbers(23)
    with started(graph) as session:
        assert len(all_of(session, values)) == 3
        with pytest.raises(RuntimeError, match="build a new graph and session"):
            all_of(session, values)


def test_fewer_items_than_a_batch_is_an_error():
    graph, values = numbers(7, smaller=False)
    with started(graph) as session, pytest.raises(DataError) as caught:
        all_of(session, values)
    assert "'batch/fifo_queue' holds 7 items and a step wants 10" in str(caught.value)


def test_an_own_error_comes_out_unchanged():
    graph, values = numbers(epochs=None)
    mine = ValueError("mine")
    with (
        started(graph) as session,
        pytest.raises(ValueError, match="mine") as caught,
        running_queues(session) as runner,
    ):
        runner.run(values)
        raise mine
    assert caught.value is mine


def test_a_step_error_is_one_line_with_its_cause():
    with tf.Graph().as_default() as graph:
        check = tf.debugging.Assert(tf.constant(False), ["no", tf.constant(17)])
    with (
        tf1.Session(graph=graph) as session,
        pytest.raises(tf.errors.InvalidArgumentError) as caught,
        running_queues(session) as runner,
    ):
        runner.run(check)
    assert str(caught.value) == "assertion failed: [no] [17]"
    assert "Original stack trace" in str(caught.value.__cause__)


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
        "no step finished for 0.3 s: queue 'first' starves: no op of the graph puts "
        "anything in: build an enqueue op"
    )


def test_stall_ignores_queues_that_the_step_does_not_need():
    with tf.Graph().as_default() as graph:
        fifo(name="aside").dequeue()
        slow = tf1.py_func(lambda: time.sleep(1) or 1.0, [], tf.float64)
    with (
        tf1.Session(graph=graph) as session,
        pytest.raises(PipelineStalled, match="no queue starves: the step is slow"),
    ):
        all_of(session, slow, stall=0.3)


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


def test_steps_go_one_at_a_time():
    first, release, found = threading.Event(), threading.Event(), []

    def step():
        first.set()
        return float(release.wait(20))

    with tf.Graph().as_default() as graph:
        value = tf1.py_func(step, [], tf.float64)

    def second(runner):
        first.wait(20)
        with pytest.raises(RuntimeError, match="another thread is in a step"):
            runner.run(value)
        found.append("error")
        release.set()

    with tf1.Session(graph=graph) as session, running_queues(session) as runner:
        thread = threading.Thread(target=second, args=(runner,))
        thread.start()
        assert runner.run(value) == 1.0
        thread.join()
        assert runner.run(value) == 1.0  # and it goes on
    assert found == ["error"]


def test_an_own_thread_blocked_on_a_full_queue_is_freed():
    with tf.Graph().as_default() as graph:
        queue = fifo(3)
        fill, value = queue.enqueue(7), queue.dequeue()
    ends = []

    def feed(session, coord):
        while not coord.should_stop():
            try:
                session.run(fill)
            except tf.errors.CancelledError as error:
                ends.append(error)

    with tf1.Session(graph=graph) as session, running_queues(session) as runner:
        thread = threading.Thread(target=feed, args=(session, runner.coord))
        runner.coord.register_thread(thread)
        thread.start()
        assert [int(one) for one in runner.steps(value, n=5)] == [7] * 5
        while diagnose(session).queues[0].size < 3:
            time.sleep(0.01)
    assert not thread.is_alive()


def test_a_finalized_graph_runs_too():
    graph, values = numbers(23)
    session = started(graph)
    graph.finalize()
    with session:
        assert len(all_of(session, values)) == 3
    assert graph.finalized


def test_an_imported_graph_runs_too(tmp_path):
    graph, values = numbers(23)
    with graph.as_default():
        tf1.train.export_meta_graph(str(tmp_path / "graph.meta"))
    with tf.Graph().as_default() as copy:
        tf1.train.import_meta_graph(str(tmp_path / "graph.meta"))
    with started(copy) as session:
        batches = all_of(session, copy.get_tensor_by_name(values.name))
    assert list(itertools.chain(*batches)) == list(range(23))


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


def test_diagnose_looks_into_a_monitored_session():
    graph, values = numbers(epochs=None)
    with graph.as_default(), tf1.train.MonitoredSession() as session:
        session.run(values)
        assert [state.alive for state in diagnose(session).queues] == [1, 1]
        with pytest.raises(RuntimeError, match="MonitoredSession starts and stops"):
            all_of(session, values)
        session.run(values)


def test_diagnose_without_queues():
    with tf1.Session(graph=tf.Graph()) as session:
        assert "has no queue" in str(diagnose(session))


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


def test_feed_keeps_its_place_over_fits():
    with tf.Graph().as_default() as graph:
        queue = fifo(47)
        value = queue.dequeue_many(5)
        feed_queue(queue, np.arange(101))
    got = []
    with tf1.Session(graph=graph) as session:
        for _ in range(7):
            with running_queues(session) as runner:
                got += itertools.chain(*(v.tolist() for v in runner.steps(value, n=11)))
    assert got == [row % 101 for row in range(7 * 11 * 5)]


def test_feed_several_components_and_types():
    images = np.random.default_rng(0).normal(size=(13, 3, 2))
    labels = np.arange(13, dtype=np.int64)
    with tf.Graph().as_default() as graph:
        queue = tf1.FIFOQueue(5, [tf.float32, tf.int32], shapes=[[3, 2], []])
        both = queue.dequeue_up_to(4)
        feed_queue(queue, (images, labels), epochs=1)
    with tf1.Session(graph=graph) as session, running_queues(session) as runner:
        steps = list(runner.steps(both))
    np.testing.assert_allclose(np.concatenate([s[0] for s in steps]), images, rtol=1e-6)
    np.testing.assert_array_equal(np.concatenate([s[1] for s in steps]), labels)


def test_feed_from_a_generator_pads():
    with tf.Graph().as_default() as graph:
        queue = tf1.PaddingFIFOQueue(5, [tf.int32], shapes=[[None]])
        value = queue.dequeue_many(3)
        feed_queue(queue, lambda: ([n] * n for n in (1, 2, 3)), epochs=2)
    with tf1.Session(graph=graph) as session:
        assert all_of(session, value) == [[[1, 0, 0], [2, 2, 0], [3, 3, 3]]] * 2


def test_feed_error_reaches_the_caller():
    def breaks():
        yield from range(13)
        raise ValueError("no more paper")

    with tf.Graph().as_default() as graph:
        queue = fifo()
        value = queue.dequeue_many(5)
        feed_queue(queue, breaks)
    with (
        tf1.Session(graph=graph) as session,
        pytest.raises(ValueError, match="no more paper"),
    ):
        all_of(session, value)


def test_feed_behind_a_queue_runner_ends_with_it():
    with tf.Graph().as_default() as graph:
        queue = fifo()
        values = tf1.train.batch([queue.dequeue()], 4, allow_smaller_final_batch=True)
        feed_queue(queue, np.arange(23), epochs=2)
    with started(graph) as session:
        got = list(itertools.chain(*all_of(session, values)))
    assert got == list(range(23)) * 2


def test_feed_stops_while_its_queue_is_full():
    with tf.Graph().as_default() as graph:
        queue = fifo()
        feed = feed_queue(queue, np.arange(101))
    with tf1.Session(graph=graph) as session:
        with running_queues(session):
            while not feed.rows:
                time.sleep(0.01)
        [state] = diagnose(session).queues
    assert not state.closed and state.size == 11


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


def test_feed_goes_on_after_a_step_that_was_slow():
    with tf.Graph().as_default() as graph:
        queue = fifo()
        value = queue.dequeue()
        slow = tf1.py_func(lambda row: time.sleep(2) or row, [value], tf.int32)
        feed_queue(queue, np.arange(101))
    with tf1.Session(graph=graph) as session:
        with (
            pytest.raises(PipelineStalled, match="no queue starves"),
            running_queues(session, stall=0.3) as runner,
        ):
            runner.run(slow)
        with running_queues(session) as runner:
            assert [int(one) for one in runner.steps(value, n=3)] == [1, 2, 3]


def test_a_step_that_waits_for_a_feed_is_freed_before_the_grace():
    with tf.Graph().as_default() as graph:
        queue = fifo()
        value = queue.dequeue_many(5)
        feed_queue(queue, lambda: ([3] * 5 if time.sleep(0.5) is None else 0))
    with tf1.Session(graph=graph) as session:
        with (
            pytest.raises(KeyboardInterrupt),
            running_queues(session, grace=100) as runner,
        ):
            threading.Timer(0.2, _thread.interrupt_main).start()
            runner.run(value)
        assert diagnose(session).queues[0].closed  # nothing else would have freed it


def test_feed_serves_one_session_at_a_time():
    with tf.Graph().as_default() as graph:
        queue = fifo()
        value = queue.dequeue()
        feed_queue(queue, np.arange(101))
    with (
        tf1.Session(graph=graph) as session,
        tf1.Session(graph=graph) as other,
        running_queues(session) as runner,
    ):
        runner.run(value)
        with (
            pytest.raises(RuntimeError, match="runs in another session"),
            running_queues(other),
        ):
            pass
        runner.run(value)


def test_feed_in_a_monitored_session():
    with tf.Graph().as_default():
        queue = fifo()
        value = queue.dequeue_up_to(5)
        feed_queue(queue, np.arange(23), epochs=1)
        got = []
        with tf1.train.MonitoredSession() as session:
            while not session.should_stop():
                got += session.run(value).tolist()
    assert got == list(range(23))


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (np.arange(0), {}, "same number of rows, got \\[0\\]"),
        ((np.arange(3), np.arange(3)), {}, "has 2 values, the queue takes 1"),
        (np.ones((3, 2), np.int32), {}, "component 0: expected rows of shape \\(\\)"),
        (np.full(3, 0.5), {}, "component 0: 0.5 does not fit into int32"),
        (np.arange(3), {"epochs": 0}, "epochs=0: must be at least 1"),
        (lambda: iter([1]), {"seed": 1}, "shuffles by itself"),
    ],
)
def test_feed_refuses(source, options, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        feed_queue(fifo(), source, **options)


def test_feed_refuses_a_queue_with_a_runner_or_without_shapes():
    with tf.Graph().as_default():
        queue = fifo()
        feed_queue(queue, np.arange(3))
        with pytest.raises(ValueError, match="has a runner already"):
            feed_queue(queue, np.arange(3))
        with pytest.raises(ValueError, match="shapes"):
            feed_queue(tf1.FIFOQueue(3, [tf.int32]), np.arange(3))


def test_feed_from_nothing_is_an_error():
    with tf.Graph().as_default() as graph:
        queue = fifo()
        value = queue.dequeue()
        feed_queue(queue, lambda: iter(()))
    with (
        tf1.Session(graph=graph) as session,
        pytest.raises(ValueError, match="yielded nothing in epoch 0"),
    ):
        all_of(session, value)
