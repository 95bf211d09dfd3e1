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

_LOOK = 2.0  # time limit in seconds for a diagnosis after a stall
_ANSWER = 10.0  # minimum time limit in seconds for the first answer


@numbers(stall=real(0, infinite=True), grace=real(0, infinite=True))
@contextlib.contextmanager
def running_queues(
    session: tf1.Session, *, stall: float = 60, grace: float = 10
) -> Iterator["Runner"]:
    """Context manager that starts the queue runners and always stops them.

    Initialise the variables first, and run the steps inside the block with the runner
    that it yields. Leave the block before you close the session. However the block
    ends, all threads are stopped and joined. The first real error is raised: that of
    the block, or else that of the first thread that failed. The normal end of this
    session's data is not an error, but the end of another session's data, in a step
    inside the block, is one.

    Args:
      session: An open session whose variables are initialised.
      stall: Time limit of one step in seconds, or `math.inf` for none.
      grace: Time limit in seconds for threads and the current step to stop, or
        `math.inf` for none. A step that waits for a queue is released at once. A step
        that computes for longer cannot be interrupted: the session is closed, its
        variables are lost, and the error says so.

    Yields:
      A `Runner`. Use `runner.run(fetches)` instead of `session.run(fetches)`, or `for
      values in runner.steps(fetches)`.

    Raises:
      RuntimeError: If the session is closed, if its runners are already running, if
        they need an uninitialised variable, or if the pipeline was stopped before; if
        the session is a `MonitoredSession`, which starts its own runners and whose
        hooks these steps would bypass; or, at the end, if a thread did not stop.
      PipelineStalled: If a step took longer than `stall`, with the name of the queue
        that starves, or if the session did not answer before the start.
      DataError: If the data ended before the first step.
      tf.errors.OpError: If a thread or a step failed. The message is one line, and the
        cause is TensorFlow's own error.
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
    except BaseException as own:  # even Ctrl-C, so that the threads are stopped
        error = own
    lost = False
    try:  # coord.request_stop(), then coord.join()
        failed, lost = stop_threads(session, coord, calls, grace)
        error = _first_real(error, failed, runner)
    except BaseException as again:  # a second Ctrl-C ends all waiting
        error, lost = again, is_closed(session)
    finally:
        take_off()
    if lost:
        error = wording.with_session_lost(error)
    if error is not None:
        raise error


class Runner:
    """Runner of interruptible steps on a session whose queues are running.

    Steps run in another thread, because TensorFlow does not let Ctrl-C or the
    notebook's stop button interrupt a blocked `session.run`. The caller waits in
    Python, where interrupts take effect at once. `running_queues` creates the runner.

    Attributes:
      coord: Coordinator. Your own Python threads are stopped and joined too if you pass
        it to them and register them with it.
      steps_done: Number of completed steps.
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

        A step is given up soon after `stall` seconds. Leaving the block then takes
        little more than `grace` seconds, whatever the step does.

        Args:
          fetches: Fetches, as for `session.run`.
          feed_dict: Feeds, as for `session.run`.

        Returns:
          The values of `fetches`.

        Raises:
          tf.errors.OutOfRangeError: If the data has ended, and for no other reason. Do
            not catch it: the block treats it as a normal end.
          RuntimeError: If a step is requested after the end of the data, after an
            interrupt, or while another thread runs a step.
        """
        if self._end is not None:
            raise RuntimeError(
                f"The data ended after {self.steps_done} steps, and a closed queue "
                "cannot be reopened. Use more epochs, or build a new graph and session."
            )
        if self.coord.should_stop():
            self._raise_failure()
            raise RuntimeError(
                "Cannot run another step after a stop was requested. Leave the "
                "running_queues block."
            )
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
          fetches: Fetches, as for `session.run`.
          n: Maximum number of steps. Default: all steps for which there is data.
          feed_dict: Feeds, as for `session.run`, the same for every step.

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
            # The queue was closed, at its end or because a thread has just failed.
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
            f"The session did not respond within {limit:g} s. Check that its server is "
            "running."
        ) from None


def _first_real(
    own: BaseException | None, failed: BaseException | None, runner: Runner
) -> BaseException | None:
    """Returns the error to raise: that of the block, or else that of a thread.

    A queue that closes during a step is not an error in itself. It marks the end of the
    data, or it is a consequence of a thread's failure.
    """
    if own is None or runner.is_end(own):
        return failed
    if isinstance(own, tf.errors.CancelledError) and failed is not None:
        return failed
    return own
