"""What breaks a queue pipeline, done on purpose: each run ends, and says why."""

import math
import os
import signal
import threading
import time

import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from pipelines import numbers, started

from helpers.errors import PipelineStalled
from helpers.queues import running_queues

pytestmark = pytest.mark.usefixtures("no_thread_left")

BAD = 7


def guarded(session, fetches):
    with session, running_queues(session, stall=0.5) as runner:
        return [values.tolist() for values in runner.steps(fetches)]


def test_not_initialised():
    graph, value = numbers(epochs=1)
    with pytest.raises(RuntimeError, match=r"Run tf1.local_variables_initializer\(\)"):
        guarded(tf1.Session(graph=graph), value)


def test_started_twice():
    graph, value = numbers(epochs=None)
    with started(graph) as session, running_queues(session) as runner:
        runner.run(value)
        with pytest.raises(RuntimeError, match="already run"), running_queues(session):
            pass
        runner.run(value)  # the first one goes on


@pytest.mark.parametrize("epochs", [None, 1])
def test_second_fit(epochs):
    graph, value = numbers(epochs=epochs)
    with started(graph) as session:
        with running_queues(session) as runner:
            steps = len(list(runner.steps(value, n=10)))
        with (
            pytest.raises(RuntimeError, match="build a new graph and session"),
            running_queues(session) as runner,
        ):
            list(runner.steps(value, n=10))
    assert steps == 10


@pytest.mark.parametrize(("epochs", "threads"), [(None, 1), (1, 5)])
def test_reader_error(epochs, threads):
    graph, value = numbers(epochs=epochs, bad=BAD, threads=threads)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        guarded(started(graph), value)
    assert str(caught.value) == (
        "A thread that fills queue 'batch/fifo_queue' failed: "
        f"assertion failed: [bad item] [{BAD}]"
    )
    assert isinstance(caught.value.__cause__, tf.errors.InvalidArgumentError)


def test_reader_that_reads_nothing_for_ever(tmp_path):
    (tmp_path / "empty.tfrecords").touch()
    with tf.Graph().as_default() as graph:
        names = tf1.train.string_input_producer([str(tmp_path / "empty.tfrecords")])
        _, record = tf1.TFRecordReader().read(names)
        value = tf1.train.batch([record], 2)
    with pytest.raises(PipelineStalled, match="empty files with num_epochs=None"):
        guarded(started(graph), value)


def test_consumer_error_goes_before_reader_error():
    graph, value = numbers(epochs=None, bad=BAD)
    mine = ValueError("mine")
    with (
        started(graph) as session,
        pytest.raises(ValueError, match="mine") as caught,
        running_queues(session) as runner,
    ):
        runner.coord.wait_for_stop(5)
        raise mine
    assert caught.value is mine


def press_ctrl_c():
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
@pytest.mark.parametrize(
    ("ended_by", "presses", "stall", "grace"),
    [(PipelineStalled, 0, 0.3, 0.3), (KeyboardInterrupt, 1, 99, 0.3),
     (KeyboardInterrupt, 2, 99, 99)],
)
def test_a_step_that_waits_for_no_queue_is_left(ended_by, presses, stall, grace):
    release, left = threading.Event(), []
    with tf.Graph().as_default() as graph:
        stuck = tf1.py_func(lambda: left.append(release.wait(30)) or 1.0, [],
                            tf.float64)
    with (
        pytest.raises(ended_by, match="its variables are lost"),
        tf1.Session(graph=graph) as session,
        running_queues(session, stall=stall, grace=grace) as runner,
    ):
        for press in range(presses):
            threading.Timer(0.3 + 0.8 * press, press_ctrl_c).start()
        runner.run(stuck)
    assert not left  # the step is in it still
    release.set()


@pytest.mark.parametrize("grace", [10, math.inf])
def test_a_slow_step_that_ends_in_time_loses_nothing(grace):
    with tf.Graph().as_default() as graph:
        weight = tf1.get_variable("weight", initializer=7.0)
        slow = tf1.py_func(lambda: time.sleep(1.1) or 1.0, [], tf.float64)
    with started(graph) as session:
        with (
            pytest.raises(PipelineStalled, match="step is slow, .* same graph"),
            running_queues(session, stall=0.3, grace=grace) as runner,
        ):
            runner.run(slow)
        assert session.run(weight) == 7.0


# --- the stop button: JupyterLab's sends SIGINT to the process ---


def in_a_step(runner, value, dry, deaf):
    runner.run(dry)


def in_a_loop(runner, value, dry, deaf):
    for _ in runner.steps(value):
        pass


def in_the_join(runner, value, dry, deaf):
    runner.coord.register_thread(deaf)


@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
@pytest.mark.parametrize("where", [in_a_step, in_a_loop, in_the_join])
def test_the_stop_button_works(where):
    graph, value = numbers(epochs=None)
    with graph.as_default():
        dry = tf1.FIFOQueue(5, [tf.int32], shapes=[[]], name="dry").dequeue()
    release = threading.Event()
    deaf = threading.Thread(target=release.wait)
    deaf.start()
    with started(graph) as session:
        stop = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        too_late = threading.Timer(30, session.close)  # or a step would wait for ever
        too_late.start()
        with (pytest.raises(KeyboardInterrupt),
              running_queues(session, grace=60) as runner):
            runner.run(value)
            stop.start()
            where(runner, value, dry, deaf)
        assert too_late.is_alive()
        too_late.cancel()
    release.set()
