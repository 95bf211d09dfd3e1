"""Exercise checks of lesson 03a: the body of a thread, and a queue pipeline."""

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
    """Coordinator that stops at a given call of its job and records the pauses."""

    def __init__(self, last, how, error):
        super().__init__()
        self._last, self._how, self._error = last, how, error
        self._waits, self.pauses, self._asked = [], [], 0
        if not last:
            self.request_stop()

    def should_stop(self):
        """Returns whether a stop was requested, and counts the calls."""
        self._asked += 1
        if self._asked > 1000:
            raise SystemExit  # ends the thread of an attempt that spins
        return self.stops

    @property
    def stops(self):
        """Whether a stop was requested."""
        return super().should_stop()

    def wait_for_stop(self, timeout=None):
        """Records the timeout and returns at once whether a stop was requested."""
        self._waits.append(1e9 if timeout is None else timeout)
        if len(self._waits) > 1000:
            raise SystemExit  # ends the thread of an attempt that calls no job
        if self._how == "in a pause" and len(self.pauses) >= self._last > 0:
            self.request_stop()
        return super().wait_for_stop(0)

    def job(self):
        """Counts its calls, and requests a stop or raises the error in the last."""
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
    """Draws the number of calls before the stop, the way of stopping, and the error."""
    how = ["in a pause", "in the job", "by an error", "by a clean end"][size % 4]
    error = None
    if how == "by an error":
        error = _ERRORS[rng.integers(len(_ERRORS))]("the job broke")
    elif how == "by a clean end":
        error = tf.errors.OutOfRangeError(None, None, "the data has ended")
    return (size if size < 11 else 10_000), how, error


@exercise(
    "Exercise 1: repeat until stop",
    "The section `Stop threads together` has a worker that waits for the stop, and a "
    "function that passes its error to the coordinator. Combine the two.",
    "Begin with `with coord.stop_on_exception():` and continue inside it with `while "
    "not coord.wait_for_stop(0.01):`. The only line that is left is `job()`.",
    about={
        "pauses for about 0.01 s between two calls, with wait_for_stop": (
            "The argument of `wait_for_stop` is a number of seconds. Call it once "
            "between two calls of the job."),
        "calls the job until the stop": (
            "Ask for the stop before each call, also before the first. After an "
            "error, the loop has to end as well, because the thread must not call the "
            "job again."),
        "stops the other threads when it ends": (
            "The job may raise any kind of `Exception`, and each of them has to reach "
            "the coordinator, also an `OutOfRangeError`. See `An error in a thread`."),
        "makes join raise the job's error, and nothing after a clean end": (
            "`join` raises only an error that was passed to the coordinator. The "
            "coordinator itself knows that an `OutOfRangeError` is a clean end."),
    },
)
def check_repeat_until_stop(attempt):
    """Checks a thread function with stops, errors, and the end of the data."""
    for last, how, error in drawn(_thread_case, 12):
        coord = _ScriptedCoordinator(last, how, error)
        thread = threading.Thread(
            target=_in_silence, args=(attempt, coord, coord.job), daemon=True)
        thread.start()
        thread.join(_LIMIT)
        case = f"with a stop {how} (call {last})"
        yield ("pauses for about 0.01 s between two calls, with wait_for_stop",
               all(0.004 < pause < 0.03 for pause in coord.pauses[1:]),
               f"{case}: the seconds in which it waited for the stop between two "
               f"calls were {coord.pauses[1:]}")
        yield same("calls the job until the stop", last, len(coord.pauses), case)
        yield ("stops the other threads when it ends", coord.stops,
               f"{case}: the thread ended, but no stop was requested. If you call "
               "request_stop(error), call it inside the `except` block")
        raised = None
        try:
            coord.join([], stop_grace_period_secs=0)
        except Exception as reraised:
            raised = reraised
        due = error if how == "by an error" else None
        yield ("makes join raise the job's error, and nothing after a clean end",
               raised is due, f"{case}: expected {due!r}, but join raised {raised!r}")


def _in_silence(body, *arguments):
    with contextlib.suppress(BaseException):  # only the coordinator's errors count
        body(*arguments)


def _delivery(rng, size):
    limit = [9, 2**31][size % 2]  # numbers that repeat, and that only int32 holds
    numbers = rng.integers(-limit, limit, 1 + 2 * size).tolist()
    return numbers, int(rng.integers(1, 8)), 1 + size % 4


@exercise(
    "Exercise 2: deliver",
    "In the section `The pipeline of three queues`, the names come from "
    "`string_input_producer`. Its counterpart for integers is "
    "`tf1.train.input_producer`, with the same argument `num_epochs`.",
    "The first line is `entries = tf1.train.input_producer(tf.constant(numbers, "
    "tf.int32), num_epochs=1)`.",
    "The second line is `return tf1.train.batch([entries.dequeue()], batch_size, "
    "num_threads=threads, allow_smaller_final_batch=True)`. Nothing is left to do.",
    about={
        "delivers every item exactly once": (
            "If items come too often, the number of epochs is not limited. If some "
            "are missing, look at the last batch."),
        "fills the queue of batches with the requested number of threads": (
            "There are two queues: one for the entries, and one for the batches. The "
            "number of threads belongs to the queue from which the batches are taken."),
        "runs without an error": (
            "If the data ends before the first step, the last batch has to be allowed "
            "to be smaller; see `The last batch`."),
    },
    adds=QUEUES,
)
def check_deliver(attempt):
    """Checks that a queue pipeline delivers every number exactly once."""
    for numbers, batch_size, threads in drawn(_delivery, 12):
        case = f"{numbers}, batches of {batch_size}, {threads} threads"
        with tf.Graph().as_default() as graph, answering(case):
            batch = attempt(list(numbers), batch_size, threads)
        yield tensor("returns an int32 tensor", tf.int32, batch, case)
        yield from delivers(graph, batch, numbers, batch_size, threads, case)


def delivers(graph, batch, items, batch_size, threads, case):
    """Yields the claims that a pipeline delivers every item once, in full batches."""
    yield same("fills the queue of batches with the requested number of threads",
               threads, len(feeding(batch)[1]), case)
    with tf1.Session(graph=graph) as session, answering(case):
        initialise(session)
        with running_queues(session, stall=_LIMIT) as runner:
            got = [values.tolist()
                   for values in runner.steps(batch, n=len(items) + 5)]
    delivered = Counter(str(item) for values in got for item in values)
    due = Counter(map(str, items))
    wrong = [f"it {how} {item}" + (f" {count} times" if count > 1 else "")
             for how, items in (("did not deliver", due - delivered),
                                ("delivered too often", delivered - due))
             for item, count in [*items.items()][:3]]
    yield ("delivers every item exactly once", not wrong,
           f"{case}: {', and '.join(wrong)}")
    left = len(items) % batch_size
    sizes = [batch_size] * (len(items) // batch_size) + [left] * bool(left)
    yield same("returns full batches, and at most the last is smaller", sizes,
               [*map(len, got)], case)


def initialise(session):
    """Initialises the global and the local variables of a session's graph."""
    with session.graph.as_default():
        session.run([tf1.global_variables_initializer(),
                     tf1.local_variables_initializer()])


def feeding(batch):
    """Returns the queue that a batch is dequeued from, and its enqueue ops."""
    for op in _before(batch):
        if op.type.startswith("QueueDequeue"):
            queue = op.inputs[0]
            runners = op.graph.get_collection(tf1.GraphKeys.QUEUE_RUNNERS)
            return queue, [put for runner in runners for put in runner.enqueue_ops
                           if any(source.type.startswith("QueueEnqueue")
                                  and source.inputs[0] is queue
                                  for source in _before(put))]
    return None, []


def _before(fetch):
    """Yields the op of a fetch and every op on which it depends."""
    waiting = [fetch if isinstance(fetch, tf.Operation) else fetch.op]
    seen = set()
    for op in waiting:
        if op not in seen:
            seen.add(op)
            yield op
            waiting += [source.op for source in op.inputs] + list(op.control_inputs)
