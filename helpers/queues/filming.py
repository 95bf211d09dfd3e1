"""Records the sizes of queues and the waiting threads over time."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf1

from helpers.explore import Explorable
from helpers.files import whole_file
from helpers.queues import film_drawing
from helpers.queues.diagnosis import Diagnosis, QueueState, diagnose, examined
from helpers.queues.film_calls import WatchedCalls
from helpers.queues.film_frames import Moment, Wait, waits_for, word_for
from helpers.queues.hooks import SessionHook, add_hook, hooks_of
from helpers.queues.internals import Queue, queues_of, raw_session, taken_from

_BETWEEN = 0.05  # seconds between two frames
_FRAMES = 1200  # longer films drop every second frame
_LAST = 2.0  # time limit in seconds for the last frame
# Reading the queues in the calling thread takes no thread away from the steps.
_IN_THIS_THREAD = tf1.RunOptions(inter_op_thread_pool=-1)


@contextlib.contextmanager
def film(session: tf1.Session, fetches: Any = None) -> Iterator["Film"]:
    """Context manager that records the queues of a session over time.

        with queues.film(session, loss) as movie, running_queues(session) as runner:
            ...
        movie.show()

    Enter the block before the threads of the pipeline start. Twenty times per second,
    the film records how full each queue is, and which threads wait for which queue. It
    ends with the block, or when `running_queues` begins to stop its threads, so the
    last frame shows the pipeline before it was taken down.

    Args:
      session: An open session, but not a `MonitoredSession`.
      fetches: Fetches of a step. Only queues from which the step dequeues, directly or
        through other queues, are recorded. Default: all queues of the graph.

    Yields:
      A `Film`, which is complete when the block has ended.

    Raises:
      RuntimeError: If the threads of a queue are already running, or if another film of
        the session is being recorded.
    """
    recorder = _Recorder(session, taken_from(_idle_queues(session), fetches), fetches)
    try:
        recorder.begin()
        yield recorder.movie
    finally:
        recorder.end()


class Film:
    """Recording of the queue sizes and the waiting threads of a session over time.

    Attributes:
      queues: States of the queues at the start, as in a `Diagnosis`.
      frames: Frames in the order of time.
      diagnosis: Diagnosis at the end, or None if the session did not answer.
    """

    def __init__(self, queues: tuple[QueueState, ...]):
        self.queues = queues
        self.frames: list[Moment] = []
        self.diagnosis: Diagnosis | None = None

    @property
    def starving(self) -> str | None:
        """Name of the queue that causes the final stall, or None."""
        root = self.diagnosis.starving if self.diagnosis else None
        return root.name if root else None

    @property
    def steps(self) -> int:
        """Number of completed runs that dequeued items and enqueued none."""
        return self.frames[-1].steps

    def level(self, queue: str) -> tuple[np.ndarray, np.ndarray]:
        """Returns the number of items in a queue over time.

        Args:
          queue: Name of the queue.

        Returns:
          The seconds since the start, float64 `[frames]`, and the number of items in
          the queue, int64 `[frames]`.
        """
        place = [state.name for state in self.queues].index(queue)
        return (np.array([frame.seconds for frame in self.frames]),
                np.array([frame.sizes[place] for frame in self.frames]))

    def summary(self) -> str:
        """Summarises the film in one or two sentences."""
        last, plural = self.frames[-1], "" if len(self.queues) == 1 else "s"
        summary = (f"{len(self.queues)} queue{plural} over {last.seconds:.1f} s, "
                f"steps done: {last.steps}.")
        root = self.diagnosis.starving if self.diagnosis else None
        if root is not None:
            summary += f" At the end, '{root.name}' starves: {root.why}"
        elif self.diagnosis is not None:
            summary += " At the end, no queue starves."
        for text in last.waiting()[:1]:
            summary += f" {text[0].upper()}{text[1:]}."
        return summary

    def save(self, path: str | Path) -> None:
        """Writes the film as one self-contained HTML page.

        Args:
          path: Path of the HTML file.
        """
        page = film_drawing.as_page(self.queues, self.frames, self.summary())
        with whole_file(Path(path)) as temporary:
            temporary.write_text(page.page(), "utf-8")

    def show(self) -> None:
        """Displays the film with a slider for the time, and prints its summary."""
        self._page().show()
        print(f"Film: {self.summary()}")

    def _repr_html_(self) -> str:
        return self._page()._repr_html_()

    def _page(self) -> Explorable:
        return film_drawing.as_page(self.queues, self.frames, "Film of the queues")


class _Recorder(SessionHook):
    """Session hook that records the frames of one film in its own thread."""

    def __init__(self, session: tf1.Session, queues: list[Queue], fetches: Any):
        self.movie = Film(examined(queues, session).queues)
        self._session, self._fetches = session, fetches
        self._look = session.make_callable(
            [(queue.size, queue.closed) for queue in queues], accept_options=True
        )
        self._calls = WatchedCalls(session.graph, [q.op.name for q in queues])
        self._take_off: Callable[[], None] = lambda: None
        self._between, self._start, self._looked = _BETWEEN, 0.0, 0.0
        self._over, self._done = threading.Event(), threading.Event()

    def begin(self) -> None:
        """Takes the first frame and starts the recording thread."""
        self._start = time.monotonic()
        self._take()
        self._take_off = add_hook(self._session, self)
        threading.Thread(target=self._record, name="film", daemon=True).start()

    def around(self, call: Callable, fetches: Any, feeds: Any) -> Callable:
        """Returns the call, wrapped so that its start and end are recorded."""
        return self._calls.noted(call, fetches, feeds)

    def before_stop(self) -> None:
        """Ends the film before the pipeline is taken down."""
        self.end()

    def end(self) -> None:
        """Stops the recording after a last frame."""
        self._over.set()
        try:  # not `join`, which Python 3.11 breaks after Ctrl-C
            self._done.wait(_LAST)
        finally:
            self._take_off()

    def _record(self) -> None:
        try:
            over = False
            while not over:
                over = self._over.wait(self._between)
                with contextlib.suppress(Exception):  # closed, or out of time
                    self._take()
            with contextlib.suppress(Exception):
                self.movie.diagnosis = diagnose(self._session, self._fetches)
        finally:
            self._done.set()

    def _take(self) -> None:
        """Records the queue sizes and the waiting threads as one frame."""
        before = set(self._calls.under_way.copy().values())
        looked = self._look(options=_IN_THIS_THREAD)
        now = time.monotonic()
        lasting = [c for c in self._calls.under_way.copy().values() if c in before]
        states = {
            state.name: replace(state, size=int(size), closed=bool(closed))
            for state, (size, closed) in zip(self.movie.queues, looked, strict=True)
        }
        for call in lasting:
            if (found := waits_for(call, states)) != call.waits:
                # A call that began after the last frame has waited since it began.
                call.since = call.start if call.start >= self._looked else now
                call.waits = found
        self._looked = now
        waits = [Wait(call.who, *call.waits, max(0.0, call.since - self._start))
                 for call in lasting if call.waits]
        self._keep(Moment(
            now - self._start, self._calls.steps,
            tuple(state.size for state in states.values()),
            tuple(map(word_for, states.values())),
            tuple(sorted(waits, key=lambda wait: (wait.since, wait.who))),
        ))

    def _keep(self, frame: Moment) -> None:
        """Appends a frame, and drops every second frame of a long film."""
        frames = self.movie.frames
        frames.append(frame)
        if len(frames) > _FRAMES:
            del frames[1:-1:2]
            self._between *= 2


def _idle_queues(session: tf1.Session) -> list[Queue]:
    """Returns the queues of a session, or raises an error if threads already run."""
    if raw_session(session) is not session:
        raise RuntimeError(
            "A MonitoredSession cannot be filmed, because its threads start before "
            "filming can begin. Use a plain session with running_queues."
        )
    if any(isinstance(hook, _Recorder) for hook in hooks_of(session)):
        raise RuntimeError(
            "This session is already being filmed. Leave the with block of the other "
            "film first."
        )
    queues = queues_of(session)
    if running := [queue.op.name for queue in queues if queue.alive]:
        raise RuntimeError(
            f"The threads of queue '{running[0]}' are already running. Enter the film "
            "first: `with film(session) as movie, running_queues(session) as runner`."
        )
    return queues
