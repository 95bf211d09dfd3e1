"""Stops the threads of a pipeline: frees them from their queues and joins them.

Taught in lesson 03a, "The plain loop", and in 03c, "A Python thread": what waits for a
queue ends when the op that closes the queue is run.
"""

import threading
import time
from typing import Any

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.queues import wording
from helpers.queues.calls import InterruptibleCalls, attempt, waitable
from helpers.queues.diagnosis import examined
from helpers.queues.hooks import hooks_of
from helpers.queues.internals import FEED_THREAD, Queue, is_closed, queues_of

_FREE = 0.5  # seconds before the queues of threads are closed
_SPARE = 1.0  # more seconds before the queue of a feed is closed


class NamingCoordinator(tf1.train.Coordinator):
    """Coordinator that records its threads and the first failure.

    Attributes:
      threads: Threads that were registered. Queue runners register theirs.
      failed: Description of the first failure, for a message.
    """

    def __init__(self) -> None:
        super().__init__()
        self.threads: list[threading.Thread] = []
        self.failed = "A thread failed"

    def register_thread(self, thread: threading.Thread) -> None:
        """Registers a thread to be joined; see `tf1.train.Coordinator`."""
        super().register_thread(thread)
        self.threads.append(thread)

    def request_stop(self, ex: Any = None) -> None:
        """Asks all threads to stop; see `tf1.train.Coordinator`."""
        if self.joined:
            return  # too late: the thread was already reported
        if ex is not None and not self.should_stop():
            self.failed = _failed(threading.current_thread().name)
        super().request_stop(ex)

    def failure(self) -> BaseException | None:
        """Returns the first error of a thread, on one line, or None."""
        try:
            self.raise_requested_exception()
        except Exception as error:
            return self.readable(error)
        return None

    def readable(self, error: BaseException) -> BaseException:
        """Shortens a thread's error to one line that names its queue."""
        if not isinstance(error, tf.errors.OpError):
            return error
        new = wording.short(error, f"{self.failed}: ")
        new.__cause__ = error
        return new


def stop_threads(
    session: tf1.Session, coord: NamingCoordinator, calls: InterruptibleCalls,
    grace: float,
) -> tuple[BaseException | None, bool]:
    """Stops and joins all threads that run in a session.

    Args:
      session: Session whose queue runners were started.
      coord: Coordinator of their threads.
      calls: Thread in which the steps run.
      grace: Seconds in which all threads may end on their own.

    Returns:
      The error of a thread, or None, and whether the session had to be closed.
    """
    for hook in hooks_of(session):
        hook.before_stop()
    was_closed, lost = is_closed(session), False
    queues = queues_of(session)  # again, because queues may have been added
    coord.request_stop()
    try:
        _free(session, queues, coord, calls, grace)
        failed = _joined(queues, coord)
    finally:  # even after a second Ctrl-C
        if not calls.end(_FREE):
            lost = not was_closed
            attempt(_FREE, session.close)  # ends the step, or waits for it
    return failed, lost


def _joined(queues: list[Queue], coord: NamingCoordinator) -> BaseException | None:
    try:
        coord.join(stop_grace_period_secs=0)
    except Exception as error:
        return coord.readable(error)
    # A source may have failed after the stop was requested.
    failures = (getattr(runner, "failure", None)
                for queue in queues for runner in queue.runners)
    return next(filter(None, failures), None)


def _free(
    session: tf1.Session, queues: list[Queue], coord: NamingCoordinator,
    calls: InterruptibleCalls, grace: float,
) -> None:
    """Waits for all threads, and closes the queues that block them.

    A feed checks for room before it enqueues, so its queue can stay open for the next
    training. It is closed only if a step or a thread finds it empty, or after the time
    limit.
    """
    fed = [queue for queue in queues if queue.is_fed]
    if _all_ended(coord, calls, _FREE):
        return
    _close_queues(session, [queue for queue in queues if not queue.is_fed])
    if fed and not _all_ended(coord, calls, _SPARE) and _waiting(coord, calls):
        states = attempt(_FREE, lambda: examined(queues, session).queues)
        starving = {state.name for state in states or () if state.starves}
        _close_queues(session, [queue for queue in fed if queue.op.name in starving])
    if not _all_ended(coord, calls, grace) and _waiting(coord, calls):
        _close_queues(session, fed)


def _all_ended(
    coord: NamingCoordinator, calls: InterruptibleCalls, seconds: float
) -> bool:
    """Waits for all threads and the current step; returns whether all ended."""
    deadline = time.monotonic() + seconds
    ended = calls.end(seconds)
    for thread in coord.threads:
        thread.join(waitable(deadline - time.monotonic()))
    return ended and not any(thread.is_alive() for thread in coord.threads)


def _waiting(coord: NamingCoordinator, calls: InterruptibleCalls) -> bool:
    """Returns whether a step, or a thread that is no feed's, is still running."""
    return not calls.end(0) or any(
        thread.is_alive() and not thread.name.startswith(FEED_THREAD)
        for thread in coord.threads
    )


def _close_queues(session: tf1.Session, queues: list[Queue]) -> None:
    """Closes queues to release the ops that wait for them."""
    attempt(_FREE, lambda: session.run([queue.cancel for queue in queues]))


def _failed(thread: str) -> str:
    """Describes a failed thread, based on its name."""
    if thread.startswith("QueueRunnerThread-"):
        queue = thread.split("-", 1)[1].rsplit("-", 1)[0]
        return f"A thread that fills queue '{queue}' failed"
    if thread.startswith(FEED_THREAD):
        queue = thread.removeprefix(FEED_THREAD)
        return f"The thread that feeds queue '{queue}' failed"
    return f"Thread {thread} failed"
