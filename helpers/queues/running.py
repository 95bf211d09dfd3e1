"""Runs queue pipelines: starts the threads, makes the steps, and stops everything.

Taught in lesson 03a, "The plain loop", and 03b, "The hang": the same loop, and a step
in a thread with a limit.
"""

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.arguments import numbers, real, whole
from helpers.errors import DataError, PipelineStalled
from helpers.queues import wording
from helpers.queues.calls import InterruptibleCalls, attempt
from helpers.queues.diagnosis import diagnose
from helpers.queues.ends import OnlyTrueEnds, is_end_of_data
from helpers.queues.hooks import add_hook
from helpers.queues.internals import Queue, is_closed
from helpers.queues.preflight import check_pipeline, queues_to_start
from helpers.queues.threads import NamingCoordinator, stop_threads

_LOOK = 2.0  # seconds for a look at the queues after a stall
_ANSWER = 10.0  # seconds that a session gets at least for its first answer


@numbers(stall=real(0, infinite=True), grace=real(0, infinite=True))
@contextlib.contextmanager
def running_queues(
    session: tf1.Session, *, stall: float = 60, grace: float = 10
) -> Iterator["Runner"]:
    """Context manager that starts the queue runners and always stops them.

    Initialise the variables first, then step inside the block, through the runner
    that it yields. Leave the block before you close the session. However the block
    ends, all threads are stopped and joined, and the first real error comes out: the
    block's own; else that of the first thread that failed. That the data of this
    session ended is no error; that another session's ended, in a step of yours
    inside the block, is one.

    Args:
      session: an open session whose variables are initialised.
      stall: seconds that one step may take before it counts as stalled; `math.inf`
        for no limit.
      grace: seconds that threads and a step under way get to stop; `math.inf` for no
        limit. A step that waits for a queue is freed at once. One that computes for
        longer cannot be cut short: the session is closed under it, which loses the
        variables, and the error says so.

    Yields:
      A `Runner`: `runner.run(fetches)` instead of `session.run(fetches)`, or
      `for values in runner.steps(fetches)`.

    Raises:
      RuntimeError: the session is closed, its runners run already, a variable that
        they need is not initialised, or the pipeline was stopped once before; or it
        is a `MonitoredSession`, which starts its runners itself, and whose hooks a
        step from here would pass by; at the end: a thread did not stop.
      PipelineStalled: a step took longer than `stall`; names the queue that starves.
        Or the session did not answer for so long before the start.
      DataError: the data ended before the first step.
      tf.errors.OpError: what a thread or a step failed with, in one line, with
        TensorFlow's own error as its cause.
    """
    queues = queues_to_start(session)
    take_off, error = add_hook(session, OnlyTrueEnds()), None
    calls, coord = InterruptibleCalls(), NamingCoordinator()
    runner = Runner(session, calls, coord, stall)
    try:
        _check(queues, session, calls, max(stall, _ANSWER))
        with session.graph.as_default():
            tf1.train.start_queue_runners(session, coord)
        yield runner
    except BaseException as own:  # Ctrl-C too: the threads have to stop first
        error = own
    lost = False
    try:  # coord.request_stop(), then coord.join()
        failed, lost = stop_threads(session, coord, calls, grace)
        error = _first_real(error, failed, runner)
    except BaseException as again:  # Ctrl-C once more: then nothing is waited for
        error, lost = again, is_closed(session)
    finally:
        take_off()
    if lost:
        error = wording.with_session_lost(error)
    if error is not None:
        raise error


class Runner:
    """Runs interruptible steps while the queues are running.

    Steps run in one other thread, because TensorFlow does not let Ctrl-C or
    the notebook's stop button into a blocked `session.run`. The caller waits in
    Python, where they arrive at once.

    Attributes:
      coord: the coordinator. Give it to Python threads of your own, and register
        them with it, to have them stopped and joined too.
      steps_done: how many steps have finished.
    """

    def __init__(
        self,
        session: tf1.Session,
        calls: InterruptibleCalls,
        coord: NamingCoordinator,
        stall: float,
    ):
        self.coord = coord
        self.steps_done = 0
        self._session, self._calls = session, calls
        self._stall = stall
        self._end: Exception | None = None

    def run(self, fetches: Any, feed_dict: dict | None = None) -> Any:
        """Runs one step like `session.run`, but can be interrupted.

        It gives up `stall` seconds and a little later, and leaving the block then
        takes `grace` seconds and a little more, whatever the step does.

        Args:
          fetches: as for `session.run`.
          feed_dict: as for `session.run`.

        Returns:
          The values of `fetches`.

        Raises:
          tf.errors.OutOfRangeError: the data has come to its end, and nothing else.
            Let it pass: the block takes it for its normal end.
          RuntimeError: a step was asked for after that, after an interrupt, or while
            another thread is in one.
        """
        if self._end is not None:
            raise RuntimeError(
                f"the data has ended after {self.steps_done} steps, and queues cannot "
                "be reopened: for another fit build a new graph and session, or ask "
                "for more epochs"
            )
        if self.coord.should_stop():
            self._raise_failure()
            raise RuntimeError("the coordinator was asked to stop: no step runs now")
        try:
            values = self._calls.call(
                self._stall, self._session.run, fetches, feed_dict
            )
        except TimeoutError:
            raise PipelineStalled(self._stalled(fetches)) from None
        except tf.errors.OpError as error:
            raise self._explained(error) from error
        self.steps_done += 1
        return values

    @numbers(n=whole(0))
    def steps(
        self, fetches: Any, n: int | None = None, feed_dict: dict | None = None
    ) -> Iterator:
        """Runs steps until the data ends and yields the values of each.

        Args:
          fetches: as for `session.run`.
          n: at most so many steps; None for as many as there is data.
          feed_dict: as for `session.run`, the same for every step.

        Yields:
          The values of `fetches` of each step.
        """
        done = 0
        while n is None or done < n:
            try:
                values = self.run(fetches, feed_dict)
            except tf.errors.OutOfRangeError as error:
                if not self.is_end(error):
                    raise
                return
            yield values
            done += 1

    def is_end(self, error: BaseException) -> bool:
        """Returns whether an error is the end of this pipeline's data."""
        return self._end is not None and error is self._end

    def _explained(self, error: tf.errors.OpError) -> Exception:
        """Converts the error of a step to a one-line error with its cause."""
        ended = is_end_of_data(error)
        if ended or isinstance(error, tf.errors.CancelledError):
            # A queue closed: at its end, or because a thread failed just before.
            self._raise_failure()
        if ended:
            self._end = wording.short(error)
            if not self.steps_done:
                look = functools.partial(diagnose, self._session)
                return DataError(wording.nothing_came(attempt(_LOOK, look)))
            return self._end
        return wording.short(error)

    def _raise_failure(self) -> None:
        """Raises the error of the first thread that failed, if any."""
        failed = self.coord.failure()
        if failed is not None:
            raise failed

    def _stalled(self, fetches) -> str:
        look = functools.partial(diagnose, self._session, fetches)
        return wording.stalled(self._stall, attempt(_LOOK, look))


def _check(
    queues: list[Queue], session: tf1.Session, calls: InterruptibleCalls, limit: float
) -> None:
    """Checks a pipeline before its start, with a time limit."""
    try:
        check_pipeline(queues, functools.partial(calls.call, limit, session.run))
    except TimeoutError:
        raise PipelineStalled(
            f"the session did not answer for {limit:g} s: see whether its server lives"
        ) from None


def _first_real(
    own: BaseException | None, failed: BaseException | None, runner: Runner
) -> BaseException | None:
    """Returns the error to raise: that of the block, or else that of a thread.

    A queue that closes under a step is no error of its own: it is the end of the
    data, or the echo of a thread that failed.
    """
    if own is None or runner.is_end(own):
        return failed
    if isinstance(own, tf.errors.CancelledError) and failed is not None:
        return failed
    return own
