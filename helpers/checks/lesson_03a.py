"""Checks of lesson 03a: the body of a thread, and a pipeline that delivers."""

import contextlib
import threading
from collections import Counter

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.report import answering, drawn, exercise, shown
from helpers.queues import diagnose, running_queues

_LIMIT = 10  # seconds before an attempt counts as stuck
_ERRORS = (ValueError, OSError, KeyError, tf.errors.InvalidArgumentError)


class _ScriptedCoordinator(tf1.train.Coordinator):
    """A coordinator that asks for the stop at a set moment, and notes the pauses.

    Attributes:
      calls: how often the job was called.
      paused: seconds that were waited through the coordinator since the last call.
      pauses: those between two calls.
    """

    def __init__(self, stop_in_pause):
        super().__init__()
        self._stop_in_pause = stop_in_pause
        self.calls, self.paused, self.pauses = 0, 0.0, []

    def wait_for_stop(self, timeout=None):
        """Waits for the stop; see `tf1.train.Coordinator`."""
        self.paused += 1e9 if timeout is None else timeout
        if self.calls >= self._stop_in_pause:
            self.request_stop()
        return super().wait_for_stop(min(self.paused, 0.05))


def _thread_case(rng, size):
    return {
        "calls": size + 1,  # after so many calls there is a stop, or an error
        "how": ["in a pause", "in the job", "by an error"][size % 3],
        "error": _ERRORS[rng.integers(len(_ERRORS))],
    }


@exercise(
    "Exercise 1: repeat until stop",
    "the worker that waits for the stop, and the one that breaks, are under 'Stop "
    "threads together'; you need both.",
    "the first line: `with coord.stop_on_exception():`.",
    "the second line: `while not coord.wait_for_stop(0.01):`, and in it `job()`.",
)
def check_repeat_until_stop(repeat_until_stop):
    """Checks the body of a thread: `repeat_until_stop(coord, job)`."""
    for case in drawn(_thread_case, 12):
        stop_in_pause = case["calls"] if case["how"] == "in a pause" else 10**6
        coord = _ScriptedCoordinator(stop_in_pause)
        error = None
        if case["how"] == "by an error":
            error = _made(case["error"])

        def job(coord=coord, case=case, error=error):
            coord.calls += 1
            coord.pauses.append(coord.paused)
            coord.paused = 0.0
            if coord.calls > case["calls"] + 20:
                raise SystemExit  # ends the thread of an attempt that never stops
            if coord.calls == case["calls"]:
                if case["how"] == "in the job":
                    coord.request_stop()
                if error is not None:
                    raise error

        thread = threading.Thread(
            target=_in_silence, args=(repeat_until_stop, coord, job), daemon=True)
        thread.start()
        thread.join(_LIMIT)
        about = f"a stop {case['how']} {case['calls']}"
        yield (
            "pauses about a hundredth of a second, through the coordinator",
            all(0.004 < pause < 0.03 for pause in coord.pauses[1:]),
            f"{about}: it waited {coord.pauses[1:]} seconds for the stop between two "
            "calls; a thread that sleeps cannot hear it",
        )
        yield (
            "calls the job until the stop", coord.calls == case["calls"],
            f"{about}: {shown(case['calls'], coord.calls)} calls",
        )
        yield (
            "ends", not thread.is_alive(), f"{about}: the thread runs on",
        )
        yield (
            "a stop or an error stops the other threads", coord.should_stop(),
            f"{about}: the thread died alone: nobody told the coordinator",
        )
        heard = _joined(coord)
        yield (
            "the error comes out of join", heard is error,
            f"{about}: join raised {heard!r}",
        )


def _made(kind):
    if issubclass(kind, tf.errors.OpError):
        return kind(None, None, "the job broke")
    return kind("the job broke")


def _in_silence(body, *arguments):
    with contextlib.suppress(BaseException):  # what the coordinator hears counts
        body(*arguments)


def _joined(coord):
    """Returns what `join` raises, if anything."""
    try:
        coord.join([], stop_grace_period_secs=0)
    except Exception as error:
        return error
    return None


def _delivery(rng, size):
    numbers = rng.integers(-9, 9, 1 + 2 * size).tolist()
    return numbers, int(rng.integers(1, 8)), 1 + size % 4


@exercise(
    "Exercise 2: deliver",
    "under 'The pipeline of three queues' numbers come from `string_input_producer`; "
    "`tf1.train.input_producer` takes integers the same way, with the same "
    "`num_epochs`.",
    "the first line: `numbers = tf1.train.input_producer(tf.constant(numbers, "
    "tf.int32), num_epochs=1)`.",
    "the second line: `return tf1.train.batch([numbers.dequeue()], batch_size, "
    "num_threads=threads, allow_smaller_final_batch=True)`.",
)
def check_deliver(deliver):
    """Checks a pipeline of queues: `deliver(numbers, batch_size, threads)`."""
    for numbers, batch_size, threads in drawn(_delivery, 12):
        case = f"{numbers}, batches of {batch_size}, {threads} threads"
        with tf.Graph().as_default() as graph:
            batch = deliver(list(numbers), batch_size, threads)
        yield (
            "returns an int32 tensor",
            isinstance(batch, tf.Tensor) and batch.dtype == tf.int32,
            f"it returned {batch!r}",
        )
        with tf1.Session(graph=graph) as session:
            yield from fills_with(threads, session, batch, case)
            with answering(case):
                got = delivered(session, batch, most=len(numbers) + 5)
        yield from comes_once(got, numbers, batch_size, case)


def delivered(session, batch, most):
    """Returns the batches of a pipeline as lists, `most` of them at most."""
    with session.graph.as_default():
        session.run(tf1.global_variables_initializer())
        session.run(tf1.local_variables_initializer())
    with running_queues(session, stall=_LIMIT) as runner:
        return [values.tolist() for values in runner.steps(batch, n=most)]


def feeding_queue(batch):
    """Returns the name of the queue that a batch is taken from; "" if from none."""
    waiting = [batch.op]
    while waiting:
        op = waiting.pop(0)
        if op.type.startswith("QueueDequeue"):
            return op.inputs[0].op.name
        waiting += [tensor.op for tensor in op.inputs]
    return ""


def fills_with(threads, session, batch, case):
    """Yields whether so many threads fill the queue that a batch comes from."""
    last = feeding_queue(batch)
    states = {state.name: state for state in diagnose(session, batch).queues}
    found = states[last].threads if last else 0
    yield (
        "as many threads as asked fill the queue of batches", found == threads,
        f"{case}: {shown(threads, found)} in the runners of the collection",
    )


def comes_once(got, items, batch_size, case):
    """Yields whether the batches hold every item exactly once, in full batches."""
    came = Counter(item for values in got for item in values)
    yield (
        "every item comes exactly once", came == Counter(items),
        f"{case}: {sum(came.values())} came; missing {dict(Counter(items) - came)}, "
        f"too many {dict(came - Counter(items))}",
    )
    sizes, left = [len(values) for values in got], len(items) % batch_size
    due = [batch_size] * (len(items) // batch_size) + [left] * bool(left)
    yield (
        "in full batches, the last may be smaller", sizes == due,
        f"{case}: {shown(due, sizes)} items",
    )
