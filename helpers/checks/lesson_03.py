"""Checks of lesson 03: queues and coordinators."""

import itertools
import threading
import time
from collections import Counter

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.report import exercise
from helpers.queues import diagnose, running_queues

_LIMIT = 2  # seconds before an attempt counts as stuck


@exercise(
    "Exercise 1: deliver",
    "cut the numbers into single ones with `tf1.train.slice_input_producer`, once "
    "through, and collect them with `tf1.train.batch`.",
)
def check_deliver(deliver):
    """Checks a pipeline of queues: `deliver(numbers, batch_size, threads)`."""
    numbers = list(range(100, 123))
    with tf.Graph().as_default() as graph:
        batch = deliver(numbers, 5, 3)
    yield (
        "returns a tensor", isinstance(batch, tf.Tensor),
        f"it returned {_kind(batch)}, so there is nothing to run yet",
    )
    yield (
        "the tensor is int32", batch.dtype == tf.int32,
        f"it is {batch.dtype.name}; give tf.constant the type",
    )
    with tf1.Session(graph=graph) as session:
        with graph.as_default():
            session.run(tf1.global_variables_initializer())
            session.run(tf1.local_variables_initializer())
        queues = diagnose(session, batch).queues
        yield (
            "batches come from a queue with a runner",
            any(queue.threads for queue in queues),
            "a runner must be in the graph's collection, or nobody fills the queue",
        )
        yield (
            "three threads fill the last queue", queues[-1].threads == 3,
            f"'{queues[-1].name}' has {queues[-1].threads}; see `num_threads`",
        )
        with running_queues(session, stall=_LIMIT) as runner:
            got = [values.tolist() for values in runner.steps(batch, n=20)]
    sizes = [len(values) for values in got]
    yield (
        "the data comes to an end", len(got) < 20,
        "it goes on for ever: say how many epochs",
    )
    yield (
        "every number comes", sum(sizes) == len(numbers),
        f"{sum(sizes)} of 23 came; what of the last, smaller batch?",
    )
    yield (
        "exactly once", Counter(itertools.chain(*got)) == Counter(numbers),
        "some number came twice while another did not come",
    )
    yield (
        "in batches of five, the last of three", sizes == [5, 5, 5, 5, 3],
        f"the batches have {sizes} numbers",
    )


@exercise(
    "Exercise 2: repeat until stop",
    "a `while` loop around `job()`; `coord.wait_for_stop(0.01)` is both the pause and "
    "the question whether to stop.",
)
def check_repeat_until_stop(repeat_until_stop):
    """Checks the body of a thread: `repeat_until_stop(coord, job)`."""
    over = threading.Event()
    try:
        yield from _stops_when_asked(repeat_until_stop, over)
        over.clear()
        yield from _stops_by_an_error(repeat_until_stop, over)
    finally:  # at the first claim that does not hold, too: the threads must end
        over.set()


def _stops_when_asked(repeat_until_stop, over):
    calls, took, often = [], [], threading.Event()

    def job():
        if over.is_set():
            raise SystemExit  # ends the thread of an attempt that never stops
        calls.append(1)
        if len(calls) >= 9:
            took.append(time.perf_counter() - start)
            often.set()

    coord = tf1.train.Coordinator()
    start = time.perf_counter()
    threads = [_start(repeat_until_stop, coord, job) for _ in range(3)]
    yield (
        "calls the job again and again", often.wait(_LIMIT),
        f"it called it {len(calls)} times in {_LIMIT} seconds, in three threads",
    )
    # Of nine calls in three threads, one thread made three: with two pauses between.
    yield (
        "pauses between two calls", took[0] > 0.015,
        "nine calls came at once: `coord.wait_for_stop(0.01)` is the pause",
    )
    coord.request_stop()
    stopped = _all_end(threads)
    over.set()
    yield (
        "stops when asked", stopped,
        "the thread still runs: ask the coordinator in every turn",
    )


def _stops_by_an_error(repeat_until_stop, over):
    def job():
        if over.is_set():
            raise SystemExit

    def breaks():
        job()
        raise ValueError("the job broke")

    coord = tf1.train.Coordinator()
    threads = [_start(repeat_until_stop, coord, work) for work in (breaks, job)]
    told = coord.wait_for_stop(_LIMIT)
    ended = _all_end(threads) if told else False
    over.set()
    yield (
        "an error stops the other threads", told and ended,
        "nobody told the coordinator: look at `stop_on_exception`",
    )
    try:
        coord.join(threads, stop_grace_period_secs=0)
        heard = "nothing"
    except Exception as error:
        heard = str(error)
    yield (
        "the error comes out of join", heard == "the job broke",
        f"join raised {heard}: hand the error itself to the coordinator",
    )


@exercise(
    "Exercise 3: twin",
    "`tf.data.Dataset.from_tensor_slices(numbers)`, then shuffle, repeat and batch: "
    "think about what `repeat` sees if it comes first.",
)
def check_twin(twin):
    """Checks a dataset: `twin(numbers, batch_size, epochs)`."""
    numbers = list(range(200, 229))
    tf.random.set_seed(7)  # so that the same answer gets the same verdict
    dataset = twin(numbers, 7, 3)
    yield (
        "returns a dataset", isinstance(dataset, tf.data.Dataset),
        f"it returned {_kind(dataset)}, so nothing can be counted yet",
    )
    batches = list(itertools.islice(dataset.as_numpy_iterator(), 100))
    yield (
        "the data comes to an end", len(batches) < 100,
        "it goes on for ever: `repeat` wants the number of epochs",
    )
    yield (
        "gives batches", all(np.ndim(batch) == 1 for batch in batches),
        "it gives single numbers: `batch` comes last",
    )
    got = np.concatenate(batches)
    yield (
        "every number comes once per epoch",
        Counter(got.tolist()) == dict.fromkeys(numbers, 3),
        f"{len(got)} numbers came, {3 * len(numbers)} should: what of the last batch?",
    )
    epochs = got.reshape(3, len(numbers))
    yield (
        "an epoch ends before the next begins",
        all(sorted(epoch) == numbers for epoch in epochs),
        "epochs mix: shuffle first, then repeat",
    )
    yield (
        "each epoch has an order of its own",
        len({tuple(epoch) for epoch in epochs} | {tuple(numbers)}) == 4,
        "shuffle with a buffer of all numbers, and let it reshuffle",
    )
    # A buffer of n lets a number come n - 1 places early at most.
    early = [max(epoch - numbers[0] - np.arange(len(numbers))) for epoch in epochs]
    yield (
        "numbers move far", min(early) >= 10,
        f"in one epoch none comes more than {min(early)} places early: shuffle with a "
        "buffer of all numbers",
    )
    sizes = [len(batch) for batch in batches]
    yield (
        "batches go across epochs", sizes == [7] * 12 + [3],
        f"the batches have {sizes} numbers: batch after you repeat",
    )


def _kind(value) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def _start(body, *arguments) -> threading.Thread:
    thread = threading.Thread(target=body, args=arguments, daemon=True)
    thread.start()
    return thread


def _all_end(threads) -> bool:
    deadline = time.monotonic() + _LIMIT
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return not any(thread.is_alive() for thread in threads)
