"""The checks of lesson 03: right answers of any shape pass, wrong ones hear why."""

import contextlib
import time

import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.lesson_03 import (
    check_deliver,
    check_repeat_until_stop,
    check_why_no_step,
)
from helpers.queues import diagnose, running_queues

pytestmark = [
    pytest.mark.usefixtures("no_thread_left"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
]


def complaint(report):
    """Returns the claim that an attempt did not meet, with what was said of it."""
    assert not report
    claim, _, wrong = report.claims[-1]
    return f"{claim}: {wrong}"


# ------------------------------------------------------------------ Exercise 1


def sliced(numbers, epochs=1):
    [number] = tf1.train.slice_input_producer(
        [tf.constant(numbers, tf.int32)], num_epochs=epochs
    )
    return number


def by_batch(numbers, batch_size, threads):
    return tf1.train.batch([sliced(numbers)], batch_size, num_threads=threads,
                           allow_smaller_final_batch=True)


def by_hand(numbers, batch_size, threads):
    queue = tf1.FIFOQueue(50, [tf.int32], [[]])
    names = tf1.train.input_producer(
        tf.constant(numbers, tf.int32), num_epochs=1, shuffle=False
    )
    enqueue = queue.enqueue(names.dequeue())
    tf1.train.add_queue_runner(tf1.train.QueueRunner(queue, [enqueue] * threads))
    return queue.dequeue_up_to(batch_size)


def by_dataset(numbers, batch_size, threads):
    values = tf.data.Dataset.from_tensor_slices(tf.constant(numbers, tf.int32))
    number = tf1.data.make_initializable_iterator(values)
    tf1.add_to_collection(tf1.GraphKeys.LOCAL_VARIABLES, _Initialised(number))
    return tf1.train.shuffle_batch(
        [number.get_next()], batch_size, 50, 5, num_threads=threads,
        allow_smaller_final_batch=True,
    )


class _Initialised:
    """What `local_variables_initializer` asks of a variable, for an iterator."""

    def __init__(self, iterator):
        self.initializer = iterator.initializer
        self.op = iterator.initializer


@pytest.mark.parametrize("attempt", [by_batch, by_hand, by_dataset])
def test_deliver_accepts(attempt):
    report = check_deliver(attempt)
    assert report, report


def endless_copies(numbers, batch_size, threads):
    queue = tf1.FIFOQueue(50, [tf.int32], [[]])
    enqueue = queue.enqueue_many([tf.constant(numbers, tf.int32)])
    tf1.train.add_queue_runner(tf1.train.QueueRunner(queue, [enqueue] * threads))
    return queue.dequeue_up_to(batch_size)


def endless_epochs(numbers, batch_size, threads):
    return tf1.train.batch([sliced(numbers, None)], batch_size, num_threads=threads,
                           allow_smaller_final_batch=True)


def loses_the_rest(numbers, batch_size, threads):
    return tf1.train.batch([sliced(numbers)], batch_size, num_threads=threads)


def one_thread(numbers, batch_size, threads):
    return tf1.train.batch([sliced(numbers)], batch_size,
                           allow_smaller_final_batch=True)


def no_runner(numbers, batch_size, threads):
    queue = tf1.FIFOQueue(50, [tf.int32], [[]])  # the last to be used, not built
    queue.enqueue(sliced(numbers))
    return queue.dequeue_up_to(batch_size)


def two_epochs(numbers, batch_size, threads):
    return tf1.train.batch([sliced(numbers, 2)], batch_size, num_threads=threads,
                           allow_smaller_final_batch=True)


def as_int64(numbers, batch_size, threads):
    return tf.cast(by_batch(numbers, batch_size, threads), tf.int64)


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (endless_copies, "a copy of all the numbers"),
        (endless_epochs, "nothing limits its epochs"),
        (loses_the_rest, "20 of 23 came"),
        (one_thread, "is filled by 1"),
        (no_runner, "is filled by 0"),
        (two_epochs, "some number came twice"),
        (as_int64, "it is int64"),
        (lambda *_: [1, 2], "it returned a list"),
    ],
)
def test_deliver_refuses(attempt, words):
    assert words in complaint(check_deliver(attempt))


# ------------------------------------------------------------------ Exercise 2


def waits_first(coord, job):
    with coord.stop_on_exception():
        while not coord.wait_for_stop(0.01):
            job()


def job_first(coord, job):
    try:
        while not coord.should_stop():
            job()
            coord.wait_for_stop(timeout=0.01)
    except Exception as error:
        coord.request_stop(error)


def by_looper(coord, job):
    tf1.train.LooperThread(coord, 0.01, target=job).run()


@pytest.mark.parametrize("attempt", [waits_first, job_first, by_looper])
def test_repeat_until_stop_accepts(attempt):
    report = check_repeat_until_stop(attempt)
    assert report, report


def slow(coord, job):
    while not coord.should_stop():
        job()
        time.sleep(1.5)


def no_pause(coord, job):
    with coord.stop_on_exception():
        while not coord.should_stop():
            job()


def sleeps(coord, job):
    with coord.stop_on_exception():
        while not coord.should_stop():
            job()
            time.sleep(0.01)


def never_asks(coord, job):
    with coord.stop_on_exception():
        while True:
            job()
            coord.wait_for_stop(0.01)
            time.sleep(0.01)


def dies_alone(coord, job):
    while not coord.wait_for_stop(0.01):
        job()


def forgets_the_error(coord, job):
    try:
        while not coord.wait_for_stop(0.01):
            job()
    except Exception:
        coord.request_stop()


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (slow, "again and again"),
        (no_pause, "nothing waits between"),
        (sleeps, "the thread sleeps"),
        (never_asks, "the thread runs on"),
        (dies_alone, "nobody told the coordinator"),
        (forgets_the_error, "the error was lost"),
    ],
)
def test_repeat_until_stop_refuses(attempt, words):
    assert words in complaint(check_repeat_until_stop(attempt))


# ------------------------------------------------------------------ Exercise 3


def run(build):
    """Returns what `join` raises, if anything, and what is left in the last queue."""
    with tf.Graph().as_default() as graph:
        batch, init = build()
    with tf1.Session(graph=graph) as session:
        session.run(init)
        coord = tf1.train.Coordinator()
        with graph.as_default():
            made = tf1.train.start_queue_runners(session, coord)
        with contextlib.suppress(tf.errors.OutOfRangeError, tf.errors.CancelledError):
            session.run(batch)
        coord.request_stop()
        try:
            coord.join(made)
        except tf.errors.OpError as error:
            return error, 0
        return None, diagnose(session, batch).queues[-1].size


def by_join(build):
    error, left = run(build)
    if error is None:
        return "batch too large" if left else "no data"
    return "local variables" if "limit_epochs" in str(error) else "thread failed"


def by_helper(build):
    with tf.Graph().as_default() as graph:
        batch, init = build()
    try:
        with tf1.Session(graph=graph) as session:
            session.run(init)
            with running_queues(session) as runner:
                runner.run(batch)
    except Exception as error:
        known = {"not initialised": "local variables", "holds nothing": "no data",
                 "smaller": "batch too large"}
        return next((cause for words, cause in known.items() if words in str(error)),
                    "thread failed")


def by_asking_first(build):
    with tf.Graph().as_default() as graph:
        _, init = build()
        unset = tf1.report_uninitialized_variables(tf1.local_variables())
    with tf1.Session(graph=graph) as session:
        session.run(init)
        if session.run(unset).size:
            return "local variables"
    error, left = run(build)
    return "thread failed" if error else "batch too large" if left else "no data"


@pytest.mark.parametrize("attempt", [by_join, by_helper, by_asking_first])
def test_why_no_step_accepts(attempt):
    report = check_why_no_step(attempt)
    assert report, report


def by_type_of_error(build):
    error, left = run(build)
    if error is None:
        return "batch too large" if left else "no data"
    lost = isinstance(error, tf.errors.NotFoundError)
    return "local variables" if lost else "thread failed"


def without_join(build):
    error, left = run(build)
    return "no data" if error or not left else "batch too large"


def any_error_is_a_variable(build):
    error, left = run(build)
    if error:
        return "local variables"
    return "batch too large" if left else "no data"


def swaps(build):
    error, left = run(build)
    if error:
        return by_join(build)
    return "no data" if left else "batch too large"


def its_own_words(build):
    return f"join raised {run(build)[0]}"


def lets_it_out(build):
    with tf.Graph().as_default() as graph:
        batch, init = build()
    with tf1.Session(graph=graph) as session:
        session.run(init)
        with running_queues(session) as runner:
            runner.run(batch)


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda build: "no data", "names the right one: local variables"),
        (by_type_of_error, "it said 'local variables'"),
        (without_join, "it said 'no data'"),
        (any_error_is_a_variable, "names the right one: thread failed"),
        (swaps, "it said 'no data'"),
        (its_own_words, "none of the four"),
        (lets_it_out, "not initialised"),
    ],
)
def test_why_no_step_refuses(attempt, words):
    assert words in complaint(check_why_no_step(attempt))
