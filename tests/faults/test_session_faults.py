"""Sessions that die, ends that are another's, limits that are none: no row is lost."""

import itertools
import math
import sys
import time

import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.errors import DataError, PipelineStalled
from helpers.queues import running_queues

pytestmark = pytest.mark.usefixtures("no_thread_left")


def pipeline(count, *, batch=2, name="numbers"):
    """Returns a graph that counts to `count` in batches, and the batch."""
    with tf.Graph().as_default() as graph:
        [item] = tf1.train.slice_input_producer(
            [tf.range(count)], num_epochs=1, shuffle=False
        )
        value = tf1.train.batch([item], batch, name=name)
    return graph, value


def started(graph):
    session = tf1.Session(graph=graph)
    with graph.as_default():
        session.run([tf1.local_variables_initializer(),
                     tf1.global_variables_initializer()])
    return session


# --- the end of another session's data ---


def evaluate_with_a_queue():
    graph, value = pipeline(4, name="evaluation")
    with started(graph) as session:
        coord = tf1.train.Coordinator()
        threads = tf1.train.start_queue_runners(session, coord)
        try:
            while True:
                session.run(value)
        finally:
            coord.request_stop()
            coord.join(threads)


def evaluate_with_a_dataset():
    with tf.Graph().as_default() as graph:
        value = tf1.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next()
    with tf1.Session(graph=graph) as session:
        while True:
            session.run(value)


def evaluate_guarded_and_hand_on():
    graph, value = pipeline(4, name="evaluation")
    with started(graph) as session:
        ended = None
        with running_queues(session) as runner:
            try:
                while True:
                    runner.run(value)
            except tf.errors.OutOfRangeError as error:
                ended = error
    raise ended


@pytest.mark.parametrize(
    "evaluate",
    [evaluate_with_a_queue, evaluate_with_a_dataset, evaluate_guarded_and_hand_on],
)
def test_the_end_of_another_sessions_data_is_an_error_here(evaluate):
    graph, value = pipeline(20)
    steps = 0
    with (
        started(graph) as session,
        pytest.raises(tf.errors.OutOfRangeError),
        running_queues(session) as runner,
    ):
        for _ in runner.steps(value):
            steps += 1
            if steps == 3:
                evaluate()
    assert steps == 3


def test_an_inner_block_hands_the_end_of_the_outer_one_on():
    graph, value = pipeline(20)
    other, evaluated = pipeline(20, name="evaluation")
    steps = 0
    with (
        started(graph) as session, started(other) as inner,
        running_queues(session) as runner,
        running_queues(inner) as evaluation,
    ):
        evaluation.run(evaluated)
        while True:
            runner.run(value)
            steps += 1
    assert steps == 10


# --- what looks like an end ---


def stop_iteration():
    return next(iter([]))


def of_a_dataset():
    return next(iter(tf.data.Dataset.range(0))).numpy()


def with_the_words_of_an_end():
    raise StopIteration("End of sequence")


@pytest.mark.parametrize("in_step", [True, False])
@pytest.mark.parametrize(
    "fails", [stop_iteration, of_a_dataset, with_the_words_of_an_end]
)
def test_stop_iteration_in_the_pipeline_is_no_end(fails, in_step):
    calls = itertools.count()

    def item():
        return 1 if next(calls) < 6 and not in_step else fails()

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


class ShortFile(tf1.Session):
    """A session whose runners find a file that is shorter than its header says."""

    def make_callable(self, *arguments, **options):
        def short():
            raise tf.errors.OutOfRangeError(None, None, "Read less bytes than asked")

        return short


def test_a_file_that_is_short_is_no_end():
    with tf.Graph().as_default() as graph:
        value = tf1.train.batch([tf1.py_func(lambda: 1, [], tf.int64)], 2, shapes=[[]])
    with (
        ShortFile(graph=graph) as session,
        pytest.raises(tf.errors.UnknownError, match="'batch/fifo.*Read less bytes"),
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


# --- limits ---


@pytest.mark.parametrize("grace", [math.inf, 1e10, sys.float_info.max])
def test_any_grace_lets_a_slow_step_end(grace):
    with tf.Graph().as_default() as graph:
        weight = tf1.get_variable("weight", initializer=7.0)
        slow = tf1.py_func(lambda: time.sleep(3) or 1.0, [], tf.float64)
        queue = tf1.FIFOQueue(5, [tf.int32], shapes=[[]])
        tf1.train.add_queue_runner(tf1.train.QueueRunner(queue, [queue.enqueue(1)]))
    with started(graph) as session:
        with (
            pytest.raises(PipelineStalled, match="the step is slow"),
            running_queues(session, stall=0.5, grace=grace) as runner,
        ):
            runner.run(slow)
        assert session.run(weight) == 7.0


def test_no_limit_is_a_limit_too():
    graph, value = pipeline(20)
    with (
        started(graph) as session,
        running_queues(session, stall=math.inf, grace=math.inf) as runner,
    ):
        assert len(list(runner.steps(value))) == 10


@pytest.mark.parametrize(("stall", "grace"), [(0, 1), (1, -1), (math.nan, 1)])
def test_a_limit_that_is_no_time_is_refused(stall, grace):
    graph, value = pipeline(20)
    with started(graph) as session:
        with (
            pytest.raises(ValueError, match="must be times"),
            running_queues(session, stall=stall, grace=grace),
        ):
            pass
        with running_queues(session) as runner:  # nothing was started or closed
            assert len(list(runner.steps(value))) == 10


# --- a lost session is said ---


def test_a_step_error_says_that_the_variables_are_lost():
    """TensorFlow's errors show their message, not their `args`."""
    with tf.Graph().as_default() as graph:
        queue = tf1.FIFOQueue(5, [tf.float64], shapes=[[]], name="numbers")
        tf1.train.add_queue_runner(tf1.train.QueueRunner(queue, [queue.enqueue(1.0)]))
        stuck = tf1.py_func(lambda: time.sleep(6) or 1.0, [], tf.float64)
    with (
        tf1.Session(graph=graph) as session,
        pytest.raises(PipelineStalled, match="its variables are lost"),
        running_queues(session, stall=1, grace=0.2) as runner,
    ):
        runner.run(stuck)
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
