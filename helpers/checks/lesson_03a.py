"""Checks of lesson 03a: the body of a thread, and a pipeline that delivers."""

import contextlib
import threading
from collections import Counter

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.attempts import QUEUES
from helpers.checks.claims import answering, drawn, exercise, same, tensor
from helpers.queues import running_queues

_LIMIT = 10  # seconds before an attempt counts as stuck
_ERRORS = (ValueError, OSError, KeyError,
           lambda words: tf.errors.InvalidArgumentError(None, None, words))


class _ScriptedCoordinator(tf1.train.Coordinator):
    """A coordinator and its job, which notes the seconds waited before each call."""

    def __init__(self, last, how, error):
        super().__init__()
        self._last, self._how, self._error = last, how, error
        self._waits, self.pauses, self._asked = [], [], 0
        if not last:
            self.request_stop()

    def should_stop(self):
        """Says whether to stop; see `tf1.train.Coordinator`."""
        self._asked += 1
        if self._asked > 1000:
            raise SystemExit  # ends the thread of an attempt that spins
        return self.stops

    @property
    def stops(self):
        """Whether the stop was asked for."""
        return super().should_stop()

    def wait_for_stop(self, timeout=None):
        """Waits for the stop; see `tf1.train.Coordinator`."""
        self._waits.append(1e9 if timeout is None else timeout)
        if len(self._waits) > 1000:
            raise SystemExit  # ends the thread of an attempt that calls no job
        if self._how == "in a pause" and len(self.pauses) >= self._last > 0:
            self.request_stop()
        return super().wait_for_stop(0)

    def job(self):
        """Stops or fails at its last call; what it returns means nothing."""
        self.pauses.append(sum(self._waits))
        self._waits.clear()
        self._asked = 0
        if len(self.pauses) > self._last + 20:
            raise SystemExit  # ends the thread of an attempt that never stops
        if len(self.pauses) == self._last and self._how == "in the job":
            self.request_stop()
        if len(self.pauses) == self._last and self._error is not None:
            raise self._error
        return len(self.pauses) % 2 > 0


def _thread_case(rng, size):
    """Draws after how many calls there is a stop or an error, and which."""
    how = ["in a pause", "in the job", "by an error"][size % 3]
    error = _ERRORS[rng.integers(len(_ERRORS))]("the job broke")
    return (size if size < 11 else 10_000), how, error if how == "by an error" else None


@exercise(
    "Exercise 1: repeat until stop",
    "under `Stop threads together` are a worker that waits for the stop, and one that "
    "breaks; you need both.",
    "begin with `with coord.stop_on_exception():` and in it `while not "
    "coord.wait_for_stop(0.01):`. What is left: `job()`.",
)
def check_repeat_until_stop(attempt):
    """Runs `(coord, job)` in threads that are stopped, and that break."""
    for last, how, error in drawn(_thread_case, 12):
        coord = _ScriptedCoordinator(last, how, error)
        thread = threading.Thread(
            target=_in_silence, args=(attempt, coord, coord.job), daemon=True)
        thread.start()
        thread.join(_LIMIT)
        case = f"a stop {how} {last}"
        yield ("pauses about a hundredth of a second, through the coordinator",
               all(0.004 < pause < 0.03 for pause in coord.pauses[1:]),
               f"{case}: seconds between two calls, in which it could hear of a stop: "
               f"{coord.pauses[1:]}")
        yield same("calls the job until the stop", last, len(coord.pauses), case)
        yield ("a stop or an error stops the other threads", coord.stops,
               f"{case}: the thread died alone: nobody told the coordinator, or "
               "request_stop(error) stood outside its `except`, where it fails")
        heard = None
        try:
            coord.join([], stop_grace_period_secs=0)
        except Exception as raised:
            heard = raised
        yield ("the error comes out of join", heard is error,
               f"{case}: join raised {heard!r}")


def _in_silence(body, *arguments):
    with contextlib.suppress(BaseException):  # what the coordinator hears counts
        body(*arguments)


def _delivery(rng, size):
    numbers = rng.integers(-9, 9, 1 + 2 * size).tolist()
    return numbers, int(rng.integers(1, 8)), 1 + size % 4


@exercise(
    "Exercise 2: deliver",
    "under `The pipeline of three queues` names come from `string_input_producer`; "
    "`tf1.train.input_producer` takes integers, with the same `num_epochs`.",
    "the first line: `entries = tf1.train.input_producer(tf.constant(numbers, "
    "tf.int32), num_epochs=1)`.",
    "the second line: `return tf1.train.batch([entries.dequeue()], batch_size, "
    "num_threads=threads, allow_smaller_final_batch=True)`. Nothing is left.",
    adds=QUEUES,
)
def check_deliver(attempt):
    """Counts what the pipelines of `(numbers, batch_size, threads)` deliver."""
    for numbers, batch_size, threads in drawn(_delivery, 12):
        case = f"{numbers}, batches of {batch_size}, {threads} threads"
        with tf.Graph().as_default() as graph:
            batch = attempt(list(numbers), batch_size, threads)
        yield tensor("returns an int32 tensor", tf.int32, batch, case)
        yield from delivers(graph, batch, numbers, batch_size, threads, case)


def delivers(graph, batch, items, batch_size, threads, case):
    """Yields whether a pipeline's batches hold every item once, by so many threads."""
    yield same("as many threads as asked fill the queue of batches", threads,
               len(feeding(batch)), case)
    with tf1.Session(graph=graph) as session, answering(case):
        initialise(session)
        with running_queues(session, stall=_LIMIT) as runner:
            got = [values.tolist()
                   for values in runner.steps(batch, n=len(items) + 5)]
    came = Counter(str(one) for values in got for one in values)
    all_of_it = Counter(map(str, items))
    yield ("every item comes exactly once", came == all_of_it,
           f"{case}: missing {dict(all_of_it - came)}, too many "
           f"{dict(came - all_of_it)}")
    left = len(items) % batch_size
    due = [batch_size] * (len(items) // batch_size) + [left] * bool(left)
    yield same("in full batches, the last may be smaller", due, [*map(len, got)], case)


def initialise(session):
    """Initialises all variables of a session's graph, the local ones too."""
    with session.graph.as_default():
        session.run([tf1.global_variables_initializer(),
                     tf1.local_variables_initializer()])


def feeding(batch):
    """Returns the ops of the threads that fill the queue from which a batch comes."""
    waiting = [batch.op]
    for op in waiting:
        if op.type.startswith("QueueDequeue"):
            runners = op.graph.get_collection(tf1.GraphKeys.QUEUE_RUNNERS)
            return [put for runner in runners for put in runner.enqueue_ops
                    if put.inputs[0] is op.inputs[0]]
        waiting += [source.op for source in op.inputs]
    return []
