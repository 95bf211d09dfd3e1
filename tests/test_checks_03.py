"""The checks of lesson 03: right answers of any shape pass, wrong ones hear why."""

import contextlib
import time

import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.lesson_03a import check_deliver, check_repeat_until_stop
from helpers.checks.lesson_03b import check_why_no_step
from helpers.checks.lesson_03c import check_lines_in_groups
from helpers.queues import diagnose, running_queues

pytestmark = pytest.mark.usefixtures("no_thread_left")


def complaint(report):
    """Returns the claim that an attempt did not meet, with what was said of it."""
    assert not report and not report.broken, report
    claim, _, wrong = report.claims[-1]
    return f"{claim}: {wrong}"


# --- 03a, exercise 1 ---


def waits_first(coord, job):  # what the hints add up to
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


def in_small_waits(coord, job):
    with coord.stop_on_exception():
        while not any(coord.wait_for_stop(0.002) for _ in range(5)):
            job()


@pytest.mark.parametrize(
    "attempt", [waits_first, job_first, in_small_waits])
def test_repeat_until_stop_accepts(attempt):
    report = check_repeat_until_stop(attempt)
    assert report, report


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


def dies_alone(coord, job):
    while not coord.wait_for_stop(0.01):
        job()


def forgets_the_error(coord, job):
    try:
        waits = coord.wait_for_stop
        while not waits(0.01):
            job()
    except Exception:
        coord.request_stop()


@pytest.mark.parametrize(
    ("attempt", "words"),
    [(no_pause, "a thread that sleeps"), (sleeps, "a thread that sleeps"),
     (never_asks, "calls the job until the stop"), (dies_alone, "nobody told"),
     (forgets_the_error, "join raised None")],
)
def test_repeat_until_stop_refuses(attempt, words):
    assert words in complaint(check_repeat_until_stop(attempt))


# --- 03a, exercise 2 ---


def sliced(numbers, epochs=1):
    [number] = tf1.train.slice_input_producer(
        [tf.constant(numbers, tf.int32)], num_epochs=epochs
    )
    return number


def by_batch(numbers, batch_size, threads):
    return tf1.train.batch([sliced(numbers)], batch_size, num_threads=threads,
                           allow_smaller_final_batch=True)


def by_hints(numbers, batch_size, threads):
    numbers = tf1.train.input_producer(tf.constant(numbers, tf.int32), num_epochs=1)
    return tf1.train.batch([numbers.dequeue()], batch_size, num_threads=threads,
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
    number = tf1.data.make_one_shot_iterator(values)
    return tf1.train.shuffle_batch(
        [number.get_next()], batch_size, 50, 5, num_threads=threads,
        allow_smaller_final_batch=True,
    )


@pytest.mark.parametrize("attempt", [by_batch, by_hints, by_hand, by_dataset])
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
    return by_batch(numbers, batch_size, 1)


def batches_of_five(numbers, batch_size, threads):
    return by_batch(numbers, 5, threads)


def without_repeats(numbers, batch_size, threads):
    return by_batch(sorted(set(numbers)), batch_size, threads)


def as_int64(numbers, batch_size, threads):
    return tf.cast(by_batch(numbers, batch_size, threads), tf.int64)


@pytest.mark.parametrize(
    ("attempt", "words"),
    [(endless_copies, "too many {"), (endless_epochs, "too many {"),
     (loses_the_rest, "before the first step"), (one_thread, "due 2, yours 1"),
     (batches_of_five, "in full batches"), (without_repeats, "missing {"),
     (as_int64, "int32 tensor"), (lambda *_: [1, 2], "it returned [1, 2]")],
)
def test_deliver_refuses(attempt, words):
    assert words in complaint(check_deliver(attempt))


# --- 03b ---


def run(build):
    """Returns what `join` raises, if anything, and what is left in the last queue."""
    with tf.Graph().as_default() as graph:
        batch, init = build()
    with tf1.Session(graph=graph) as session:
        session.run(init)
        coord = tf1.train.Coordinator()
        threads = tf1.train.start_queue_runners(session, coord)
        with contextlib.suppress(tf.errors.OutOfRangeError, tf.errors.CancelledError):
            session.run(batch)
        coord.request_stop()
        try:
            coord.join(threads)
        except tf.errors.OpError as error:
            return str(error), 0
        return "", diagnose(session, batch).queues[-1].size


def by_join(build):  # what the hints add up to
    error, left = run(build)
    if "localhost/" in error:
        return "local variables"
    return "thread failed" if error else "batch too large" if left else "no data"


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


def epochs_only(build):
    error, left = run(build)
    if "limit_epochs" in error:
        return "local variables"
    return "thread failed" if error else "batch too large" if left else "no data"


def not_found_is_a_variable(build):
    error, left = run(build)
    if "ound" in error or "does not exist" in error or "No such" in error:
        return "local variables"
    return "thread failed" if error else "batch too large" if left else "no data"


def without_join(build):
    error, left = run(build)
    return "no data" if error or not left else "batch too large"


def swaps(build):
    return {"no data": "batch too large", "batch too large": "no data"}.get(
        found := by_join(build), found)


def lets_it_out(build):
    with tf.Graph().as_default() as graph:
        batch, init = build()
    with tf1.Session(graph=graph) as session:
        session.run(init)
        with running_queues(session) as runner:
            runner.run(batch)


@pytest.mark.parametrize(
    ("attempt", "words"),
    [(lambda build: "no data", "yours 'no data'"),
     (epochs_only, "matched"), (not_found_is_a_variable, "gone"),
     (without_join, "yours 'no data'"), (swaps, "yours"),
     (lambda build: f"join raised {run(build)[0]}", "it returned 'join raised"),
     (lets_it_out, "not initialised")],
)
def test_why_no_step_refuses(attempt, words):
    assert words in complaint(check_why_no_step(attempt))


# --- 03c ---


def grouped(files, batch_size, threads, group, *, header=1, epochs=1):
    names = tf1.train.string_input_producer(files, num_epochs=epochs)
    reader = tf1.TextLineReader(skip_header_lines=header)
    _, lines = reader.read_up_to(names, group)
    queue = tf1.FIFOQueue(100, [tf.string], [[]])
    put = queue.enqueue_many([lines])
    tf1.train.add_queue_runner(tf1.train.QueueRunner(queue, [put] * threads))
    return queue.dequeue_up_to(batch_size)


def by_shuffle_batch(files, batch_size, threads, group):
    names = tf1.train.string_input_producer(files, num_epochs=1)
    _, lines = tf1.TextLineReader(skip_header_lines=1).read_up_to(names, group)
    return tf1.train.shuffle_batch(
        [lines], batch_size, 90, 4, num_threads=threads, enqueue_many=True,
        allow_smaller_final_batch=True)


def by_slices(files, batch_size, threads, group):
    data = tf.data.Dataset.from_tensor_slices(files)
    data = data.flat_map(
        lambda name: tf.data.TextLineDataset(name).skip(1).batch(group))
    lines = tf1.data.make_one_shot_iterator(data).get_next()
    return tf1.train.batch([lines], batch_size, num_threads=threads,
                           enqueue_many=True, allow_smaller_final_batch=True)


@pytest.mark.parametrize("attempt", [grouped, by_shuffle_batch, by_slices])
def test_lines_in_groups_accepts(attempt):
    report = check_lines_in_groups(attempt)
    assert report, report


def a_reader_per_thread(files, batch_size, threads, group):
    queue = tf1.FIFOQueue(100, [tf.string], [[]])
    puts = []
    for _ in range(threads):
        names = tf1.train.string_input_producer(files, num_epochs=1)
        _, lines = tf1.TextLineReader(skip_header_lines=1).read_up_to(names, group)
        puts.append(queue.enqueue_many([lines]))
    tf1.train.add_queue_runner(tf1.train.QueueRunner(queue, puts))
    return queue.dequeue_up_to(batch_size)


@pytest.mark.parametrize(
    ("attempt", "words"),
    [(lambda f, b, t, g: grouped(f, b, t, g, header=0), "too many"),
     (lambda f, b, t, g: grouped(f, b, t, g, epochs=2), "too many"),
     (lambda f, b, t, g: grouped(f, b, t, 1), "one run hands over a group"),
     (lambda f, b, t, g: grouped(f, b, 1, g), "as many threads as asked"),
     (lambda f, b, t, g: grouped(f[:1], b, t, g), "missing"),
     (a_reader_per_thread, "too many")],
)
def test_lines_in_groups_refuses(attempt, words):
    assert words in complaint(check_lines_in_groups(attempt))
