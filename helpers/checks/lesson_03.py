"""Checks of lesson 03: queues and coordinators."""

import itertools
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.report import exercise
from helpers.errors import PipelineStalled
from helpers.queues import diagnose, running_queues

_LIMIT = 2  # seconds before an attempt counts as stuck
_PATIENCE = 30  # seconds for a whole pipeline, from its graph to the join


@exercise(
    "Exercise 1: deliver",
    "look at how `slice_input_producer` and `tf1.train.batch` are used under 'A "
    "variable, filled through a placeholder'.",
    "the first line: `[number] = tf1.train.slice_input_producer([tf.constant(numbers, "
    "tf.int32)], num_epochs=1)`.",
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
        "the tensor is int32", batch.dtype == tf.int32, f"it is {batch.dtype.name}",
    )
    with tf1.Session(graph=graph) as session:
        with graph.as_default():
            session.run(tf1.global_variables_initializer())
            session.run(tf1.local_variables_initializer())
        yield from _last_queue(diagnose(session, batch).queues, _feeds(batch))
        with running_queues(session, stall=_LIMIT) as runner:
            got = [values.tolist() for values in runner.steps(batch, n=20)]
    yield "the data comes to an end", len(got) < 20, _why_endless(graph)
    yield from _each_once(got, numbers)


def _feeds(batch: tf.Tensor) -> str:
    """Returns the name of the queue that a batch comes from; "" if from none."""
    waiting = [batch.op]
    while waiting:
        op = waiting.pop(0)
        if op.type.startswith("QueueDequeue"):
            return op.inputs[0].op.name
        waiting += [tensor.op for tensor in op.inputs]
    return ""


def _last_queue(queues, last):
    yield (
        "batches come from a queue with a runner",
        any(queue.threads for queue in queues),
        "no runner of the graph's collection fills a queue, so a step waits for ever",
    )
    threads = {queue.name: queue.threads for queue in queues}.get(last, 0)
    yield (
        "three threads fill the queue of batches", threads == 3,
        f"'{last}' is filled by {threads}",
    )


def _why_endless(graph) -> str:
    """Returns why a pipeline has no end, as its graph tells."""
    if any(op.name.endswith("limit_epochs/epochs") for op in graph.get_operations()):
        return "epochs are limited, yet another queue is filled without end"
    if any(op.type.startswith("QueueDequeueV2") for op in graph.get_operations()):
        return "the first queue begins again and again: nothing limits its epochs"
    return (
        "each thread puts a copy of all the numbers in, again and again: its enqueue "
        "op takes its items from no queue that could end"
    )


def _each_once(got, numbers):
    sizes = [len(values) for values in got]
    yield (
        "every number comes", sum(sizes) >= len(numbers),
        f"{sum(sizes)} of 23 came: the last batch, which is smaller, is missing",
    )
    yield (
        "exactly once", Counter(itertools.chain(*got)) == Counter(numbers),
        f"{sum(sizes)} came, {len(set(itertools.chain(*got)))} of them different: "
        "some number came twice",
    )
    yield (
        "in batches of five, the last of three", sizes == [5, 5, 5, 5, 3],
        f"the batches have {sizes} numbers",
    )


@exercise(
    "Exercise 2: repeat until stop",
    "the worker that waits for the stop, and the one that breaks, are under 'Stop "
    "threads together'; you need both.",
    "the first line: `with coord.stop_on_exception():`.",
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


class _WatchedCoordinator(tf1.train.Coordinator):
    """A coordinator that remembers for how long its threads waited for the stop.

    Attributes:
      longest: the longest `timeout` that a thread gave `wait_for_stop`, in seconds.
    """

    longest = 0.0

    def wait_for_stop(self, timeout=None):
        """Waits for the stop; see `tf1.train.Coordinator`."""
        self.longest = max(self.longest, np.inf if timeout is None else timeout)
        return super().wait_for_stop(timeout)


def _stops_when_asked(repeat_until_stop, over):
    calls, took, often = [], [], threading.Event()

    def job():
        if over.is_set():
            raise SystemExit  # ends the thread of an attempt that never stops
        calls.append(1)
        if len(calls) >= 9:
            took.append(time.perf_counter() - start)
            often.set()

    coord = _WatchedCoordinator()
    start = time.perf_counter()
    threads = [_start(repeat_until_stop, coord, job) for _ in range(3)]
    yield (
        "calls the job again and again", often.wait(_LIMIT),
        f"it called it {len(calls)} times in {_LIMIT} seconds, in three threads",
    )
    # Of nine calls in three threads, one thread made three: with two pauses between.
    yield (
        "pauses between two calls", took[0] > 0.015,
        "nine calls came at once: nothing waits between them",
    )
    yield (
        "a stop ends the pause", coord.longest > 0.005,
        "the thread sleeps between two calls: a stop that comes meanwhile has to wait",
    )
    coord.request_stop()
    stopped = _all_end(threads)
    over.set()
    yield "stops when asked", stopped, "the coordinator asked, and the thread runs on"


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
        "the thread with the error died alone: nobody told the coordinator",
    )
    try:
        coord.join(threads, stop_grace_period_secs=0)
        heard = "nothing"
    except Exception as error:
        heard = str(error)
    yield (
        "the error comes out of join", heard == "the job broke",
        f"join raised {heard}: the others were stopped, the error was lost",
    )


_CAUSES = ("local variables", "batch too large", "no data", "thread failed")


@exercise(
    "Exercise 3: why no step",
    "`first_step` under 'OutOfRange at step 0' returns the two answers that tell "
    "the causes apart; the table below it says how.",
    "the first line: `joined, left = first_step(build)`.",
)
def check_why_no_step(why_no_step):
    """Brings pipelines that run no step: `why_no_step(build)` names the cause.

    Args:
      why_no_step: takes a function that builds a pipeline in the current graph and
        returns its batch and an init op; returns one of four causes.
    """
    before = set(threading.enumerate())
    with tempfile.TemporaryDirectory() as folder:
        for what, cause, build in _broken_pipelines(Path(folder)):
            found = _within_limit(why_no_step, build)
            yield (
                f"names a cause for {what}", found in _CAUSES,
                f"it returned {found!r}, which is none of the four",
            )
            yield (
                f"names the right one: {cause}", found == cause, f"it said {found!r}",
            )
    left = [thread for thread in threading.enumerate() if thread not in before]
    yield (
        "leaves no thread behind", _all_end(left),
        f"{len(left)} threads still run: they were started and never joined",
    )


def _within_limit(function, argument):
    """Returns `function(argument)`, or raises its error; gives up after a while."""
    answers: list = []

    def call():
        try:
            answers.append((function(argument), None))
        except Exception as error:
            answers.append((None, error))

    thread = _start(call)
    thread.join(_PATIENCE)
    if not answers:
        raise PipelineStalled("it waits for a step that never comes")
    value, error = answers[0]
    if error is not None:
        raise error
    return value


def _broken_pipelines(folder: Path):
    """Yields what is broken, its cause, and a function that builds it."""
    rows, bad = folder / "rows.csv", folder / "bad.csv"
    rows.write_text("1,2\n3,4\n5,6\n")
    bad.write_text("1,2\n3,4\nfive,6\n7,8\n")
    (folder / "empty.csv").touch()
    local = tf1.local_variables_initializer
    everywhere = tf1.global_variables_initializer
    yield ("a table of numbers, initialised in part", "local variables",
           lambda: (_table(range(9), 4), everywhere()))
    yield ("seven numbers in batches of nine", "batch too large",
           lambda: (_table(range(7), 9), local()))
    yield ("a file with no line", "no data",
           lambda: (_csv(folder / "empty.csv"), local()))
    yield ("a file with a word for a number", "thread failed",
           lambda: (_csv(bad, 4), local()))
    yield ("a file that is not there", "thread failed",
           lambda: (_csv(folder / "gone.csv"), local()))
    yield ("a data set of nothing", "no data", lambda: (_empty_dataset(), local()))
    yield ("files, initialised in part", "local variables",
           lambda: (_csv(rows, 2), everywhere()))
    yield ("three lines in batches of four", "batch too large",
           lambda: (_csv(rows, 4), local()))


def _table(numbers, batch_size):
    [number] = tf1.train.slice_input_producer([list(numbers)], num_epochs=1)
    return tf1.train.shuffle_batch([number], batch_size, 20, 0)


def _csv(path, batch_size=2):
    names = tf1.train.string_input_producer([str(path)], num_epochs=1, name="inbox")
    columns = tf.io.decode_csv(tf1.TextLineReader().read(names)[1], [[0], [0]])
    queue = tf1.FIFOQueue(20, [tf.int32, tf.int32], [[], []], name="columns")
    tf1.train.add_queue_runner(tf1.train.QueueRunner(queue, [queue.enqueue(columns)]))
    return queue.dequeue_many(batch_size)


def _empty_dataset():
    iterator = tf1.data.make_one_shot_iterator(tf.data.Dataset.range(0))
    return tf1.train.batch([iterator.get_next()], 3)


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
