"""The threads of a pipeline: started together, freed from their queues, joined."""

import threading
import time
from typing import Any

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.queues import wording
from helpers.queues.calls import InterruptibleCalls, attempt, waitable
from helpers.queues.doctor import diagnose
from helpers.queues.feeding import FEED_THREAD, Feed
from helpers.queues.filming import end_film
from helpers.queues.internals import (
    is_closed,
    probe_queue,
    queue_filled_by,
    queue_ops,
    runners_of,
)

_FREE = 0.5  # seconds that threads get before queues are closed under them
_SPARE = 1.0  # seconds more before the queue of a feed is: closing is for good


class PipelineThreads:
    """The threads that fill the queues of one session.

    Attributes:
      coord: the coordinator of the threads.
      session_lost: whether `stop` had to close the session under a step.
    """

    def __init__(self, session: tf1.Session, calls: InterruptibleCalls, grace: float):
        """Adds the ops that the stop will need; starts nothing yet.

        Args:
          session: whose queues are filled.
          calls: where the steps run; they are ended with the threads.
          grace: seconds that all get to end by themselves.
        """
        self.coord = CulpritCoordinator()
        self.session_lost = False
        self._session, self._calls, self._grace = session, calls, grace
        self._runners = runners_of(session.graph)
        self._cancels = {op.name: probe_queue(op)[2] for op in queue_ops(session.graph)}
        self._feeds = {
            queue_filled_by(runner).name: runner
            for runner in self._runners if isinstance(runner, Feed)
        }

    def start(self) -> None:
        """Starts the threads of all runners."""
        # Only in its own graph's context a thread gets its queue's full name.
        with self._session.graph.as_default():
            for runner in self._runners:
                runner.create_threads(
                    self._session, coord=self.coord, daemon=True, start=True
                )

    def failure(self) -> BaseException | None:
        """Returns what a thread failed with first, in one line; None if none has."""
        try:
            self.coord.raise_requested_exception()
        except Exception as error:
            return self._readable(error)
        return None

    def stop(self) -> BaseException | None:
        """Stops and joins everything; returns what a thread failed with."""
        end_film(self._session)  # it shows what was there, not how it is taken down
        closed_early = is_closed(self._session)
        self.coord.request_stop()
        try:
            self._free_all()
            failed = self._joined()
        finally:  # after a second Ctrl-C, too
            if not self._calls.end(_FREE):
                self.session_lost = not closed_early
                attempt(_FREE, self._session.close)  # ends the step, or waits for it
        return wording.closed_early(failed) if closed_early else failed

    def _joined(self) -> BaseException | None:
        try:
            self.coord.join(stop_grace_period_secs=0)
        except Exception as error:
            return self._readable(error)
        # A source that failed after the stop was asked for; it has no rows left.
        return next((f.failure for f in self._feeds.values() if f.failure), None)

    def _free_all(self) -> None:
        """Waits for all to end, closing the queues that somebody waits for.

        No runner closes a feed's queue, so that it can be fed again. It is closed
        only under a step or a thread that finds it empty, or after the grace.
        """
        if self._all_ended(_FREE):
            return
        feeds = set(self._feeds)
        self._close_queues(self._cancels.keys() - feeds)
        if feeds and not self._all_ended(_SPARE) and self._somebody_waits():
            self._close_queues(feeds & self._starving())
        if not self._all_ended(self._grace) and self._somebody_waits():
            self._close_queues(feeds)

    def _all_ended(self, seconds: float) -> bool:
        """Waits for the threads and the step under way; says whether all ended."""
        deadline = time.monotonic() + seconds
        ended = self._calls.end(seconds)
        for thread in self.coord.threads:
            thread.join(waitable(deadline - time.monotonic()))
        return ended and not any(thread.is_alive() for thread in self.coord.threads)

    def _somebody_waits(self) -> bool:
        """Whether a step, or a thread other than a feed's, has not ended yet."""
        return not self._calls.end(0) or any(
            thread.is_alive() and not thread.name.startswith(FEED_THREAD)
            for thread in self.coord.threads
        )

    def _starving(self) -> set[str]:
        """Returns the names of the queues that starve; none if nobody can say."""
        found = attempt(_FREE, lambda: diagnose(self._session).queues)
        return {state.name for state in found or () if state.starves}

    def _close_queues(self, names: set[str]) -> None:
        """Closes queues, to free what waits for one that no runner closes."""
        cancels = [self._cancels[name] for name in names]
        attempt(_FREE, lambda: self._session.run(cancels))

    def _readable(self, error: BaseException) -> BaseException:
        """Returns a thread's error in one line that names its queue."""
        if any(error is feed.failure for feed in self._feeds.values()):
            return error  # of the reader's own source: it comes out as it is
        if isinstance(error, UnicodeDecodeError):
            new = wording.unreadable(self.coord.culprit)
        elif isinstance(error, tf.errors.OpError):
            new = wording.short(error, f"{self.coord.culprit}: ")
        else:
            return error
        new.__cause__ = error
        return new


class CulpritCoordinator(tf1.train.Coordinator):
    """A coordinator that remembers its threads, and which of them failed first.

    Attributes:
      threads: those registered with it; queue runners register theirs.
      culprit: what failed first, for a message.
    """

    def __init__(self) -> None:
        super().__init__()
        self.threads: list[threading.Thread] = []
        self.culprit = "a thread"

    def register_thread(self, thread: threading.Thread) -> None:
        """Takes on a thread to be joined; see `tf1.train.Coordinator`."""
        super().register_thread(thread)
        self.threads.append(thread)

    def request_stop(self, ex: Any = None) -> None:
        """Asks all threads to stop; see `tf1.train.Coordinator`."""
        if self.joined:
            return  # a straggler, named already: nobody is left to hear of its error
        if ex is not None and not self.should_stop():
            self.culprit = _culprit(threading.current_thread().name)
        super().request_stop(ex)


def _culprit(thread: str) -> str:
    """Returns who failed, from the name of a thread."""
    if thread.startswith("QueueRunnerThread-"):
        queue = thread.split("-", 1)[1].rsplit("-", 1)[0]
    elif thread.startswith(FEED_THREAD):
        queue = thread.removeprefix(FEED_THREAD)
    else:
        return thread
    return f"a thread that fills queue '{queue}' failed"
