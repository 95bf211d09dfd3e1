"""Sessions that die, ends that are another's, limits that are none: no row is lost."""

import itertools
import math
import time

import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from pipelines import numbers, started

from helpers.errors import DataError, PipelineStalled
from helpers.queues import running_queues

pytestmark = pytest.mark.usefixtures("no_thread_left")


def test_the_end_of_another_sessions_data_is_an_error_here():
    graph, value = numbers()
    with tf.Graph().as_default() as other:
        ended = tf1.data.make_one_shot_iterator(tf.data.Dataset.range(0)).get_next()
    steps = 0
    with (
        started(graph) as session, tf1.Session(graph=other) as evaluation,
        pytest.raises(tf.errors.OutOfRangeError),
        running_queues(session) as runner,
    ):
        for _ in runner.steps(value):
            steps += 1
            if steps == 3:
                evaluation.run(ended)
    assert steps == 3


@pytest.mark.parametrize("in_step", [True, False])
def test_stop_iteration_in_the_pipeline_is_no_end(in_step):
    calls = itertools.count()

    def item():
        return 1 if next(calls) < 6 and not in_step else next(iter([]))

    with tf.Graph().as_default() as graph:
        value = tf.reshape(tf1.py_func(item, [], tf.int64), [])
        if not in_step:
            value = tf1.train.batch([value], 2)
    with (
        tf1.Session(graph=graph) as session,
        pytest.raises(tf.errors.UnknownError, match="StopIteration.*not the end"),
        running_queues(session, stall=30) as runner,
    ):
        list(runner.steps(value))


def test_a_step_on_bytes_that_are_no_example_says_so():
    with tf.Graph().as_default() as graph:
        features = {"label": tf.io.FixedLenFeature([], tf.int64)}
        parsed = tf.io.parse_single_example(tf.constant(b"\xff\xfe\0no"), features)
    with (
        tf1.Session(graph=graph) as session,
        pytest.raises(DataError, match="the step: TensorFlow failed on a record"),
        running_queues(session) as runner,
    ):
        runner.run(parsed)


@pytest.mark.parametrize(("stall", "grace"), [(0, 1), (1, -1), (math.nan, 1)])
def test_a_limit_that_is_no_time_is_refused(stall, grace):
    graph, value = numbers()
    with started(graph) as session:
        with (
            pytest.raises(ValueError, match="must be times"),
            running_queues(session, stall=stall, grace=grace),
        ):
            pass
        with running_queues(session) as runner:  # nothing was started or closed
            assert len(list(runner.steps(value))) == 10


def test_a_step_error_says_that_the_variables_are_lost():
    """TensorFlow's errors show their message, not their `args`."""
    with tf.Graph().as_default() as graph:
        queue = tf1.FIFOQueue(5, [tf.float64], shapes=[[]], name="numbers")
        tf1.train.add_queue_runner(tf1.train.QueueRunner(queue, [queue.enqueue(1.0)]))
        stuck = tf1.py_func(lambda: time.sleep(6) or 1.0, [], tf.float64)
    with (
        tf1.Session(graph=graph) as session,
        pytest.raises(tf.errors.OpError, match="its variables are lost") as caught,
        running_queues(session, stall=1, grace=0.2) as runner,
    ):
        try:
            runner.run(stuck)
        except PipelineStalled:
            raise tf.errors.InvalidArgumentError(None, None, "no such row") from None
    assert "no such row" in str(caught.value)
