"""Monitors the steps of a program's sessions and reports when none of them ends."""

import contextlib
import functools
import linecache
import sys
import sysconfig
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf1

from helpers.errors import first_line
from helpers.files import ROOT
from helpers.graph import fetched_ops
from helpers.queues.outside import (
    ENQUEUES,
    Diagnosis,
    Film,
    QueueState,
    SessionHook,
    add_hook,
    attempt,
    check_pipeline,
    diagnose,
    film,
    is_closed,
    queue_filled_by,
    queue_ops,
    queues_of,
    runners_of,
    stalled,
)

RUNNER = "QueueRunnerThread-"  # prefix of the names of its threads
_GROWTH = 20  # calls before which the graph has grown, until it is reported
_LOOK = 2.0  # time limit for a look at the queues, in seconds
_PATHS = sysconfig.get_paths()
_NOT_THEIRS = ("<frozen", str(ROOT / "helpers"), str(ROOT / "legacy"),
               _PATHS["stdlib"], _PATHS["purelib"], _PATHS["platlib"])


class Step(NamedTuple):
    """Session call that is in progress."""

    session: tf1.Session
    fetches: Any
    start: float  # on the clock `time.monotonic`


class StepHook(SessionHook):
    """Session hook that reports each call to a `Stalls` object."""

    def __init__(self, stalls: "Stalls", session: tf1.Session) -> None:
        self._stalls, self._session = stalls, weakref.ref(session)

    def around(self, call: Callable, fetches: Any, feeds: Any) -> Callable:
        """Wraps a session call to record its start and end."""
        return self._stalls.noted(self._session(), fetches, call)


class Stalls:
    """Monitor of all sessions in this process that reports stalled steps."""

    def __init__(self, stall: float, path: Path | None, died: list) -> None:
        """Prepares the monitor.

        Args:
          stall: Seconds without the end of a step that count as a stall.
          path: File for the recording, or `None` for no recording.
          died: List that receives each thread that an error ends, with the error.
        """
        self._died = died
        self._feeders: dict[threading.Thread, Step] = {}  # last step of each thread
        self._stall, self._path = stall, path
        self._under_way: dict[int, Step] = {}  # by thread id
        self._looking: set[int] = set()  # ids of threads that run checks
        self._sessions: weakref.WeakSet = weakref.WeakSet()
        # For each session, the ops of its graph and the calls before which they grew.
        self._grown: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
        self._ended, self._done = time.monotonic(), 0
        self._told = 0.0  # end of the last step before the reported stall
        self._movie: Film | None = None
        self._open = contextlib.ExitStack()

    def hook_on(self, session: tf1.Session) -> None:
        """Starts to monitor the calls of a session."""
        self._sessions.add(session)
        self._begin_film(session)
        add_hook(session, StepHook(self, session))

    def noted(self, session: tf1.Session, fetches: Any, call: Callable) -> Callable:
        """Wraps a session call of the program to record its start and end."""
        thread = threading.current_thread()
        if thread.ident in self._looking or thread.name == "film":
            return call
        self._begin_film(session)
        return functools.partial(self._make, session, fetches, call)

    def _make(self, session, fetches, call, *arguments, **options) -> Any:
        thread = threading.get_ident()
        step = Step(session, fetches, time.monotonic())
        self._under_way[thread] = step
        if not _fills(thread):
            self._note_growth(session)
        if thread != threading.main_thread().ident and not _fills(thread):
            self._feeders[threading.current_thread()] = step
        try:
            return call(*arguments, **options)
        finally:
            del self._under_way[thread]
            if not _fills(thread):
                self._ended = time.monotonic()
                self._done += 1

    def _note_growth(self, session: tf1.Session) -> None:
        """Prints once where ops are built if that happens again and again."""
        graph = session.graph
        ops, grew = self._grown.get(session, (graph.version, 0))
        grew += graph.version > ops
        self._grown[session] = graph.version, grew
        if grew == _GROWTH and graph.version > ops:
            say(f"The graph has grown before {grew} calls of session.run, so each call "
                "takes longer. Build the op before the loop. It was built here:")
            _show_lines(graph.get_operations()[-1].traceback)

    @contextlib.contextmanager
    def _unnoted(self) -> Iterator[None]:
        thread = threading.get_ident()
        self._looking.add(thread)
        try:
            yield
        finally:
            self._looking.discard(thread)

    def _begin_film(self, session: tf1.Session) -> None:
        """Starts recording once a session has a queue, if requested."""
        if not self._path or self._movie or not queue_ops(session.graph):
            return
        try:
            with self._unnoted():
                self._movie = self._open.enter_context(film(session))
        except (RuntimeError, ValueError) as error:
            say(f"The queues cannot be recorded: {error}")
            self._path = None

    def end_film(self) -> None:
        """Stops the recording and writes it to its file."""
        self._open.close()
        if self._movie:
            self._save(self._movie.diagnosis)

    def _save(self, diagnosis: Diagnosis | None) -> None:
        """Writes the frames that have been recorded so far."""
        shot = Film(self._movie.queues)
        shot.frames = self._movie.frames.copy()
        shot.diagnosis = diagnosis
        shot.save(self._path)
        say(f"The recording of the queues is in {self._path}.")

    def say_end(self) -> None:
        """Prints how many session calls the program completed."""
        say(f"The program has ended. Number of session.run calls: {self._done}.")

    def step_of_main(self) -> Step | None:
        """Returns the step that the main thread is running, or `None`."""
        return self._under_way.get(threading.main_thread().ident)

    def say_if_over(self) -> None:
        """Prints that a reported stall was only a slow step, if one has ended."""
        if self._told and self._told != self._ended:
            say(f"A step has ended {self._ended - self._told:.1f} s after the one "
                "before, so it was slow, but did not hang.")
            self._told = 0.0

    def look(self) -> None:
        """Reports a stall, or the end of a reported stall."""
        self.say_if_over()
        if time.monotonic() - self._ended > self._stall and self._open_sessions():
            self.report_once()

    def report_once(self) -> None:
        """Prints the state of queues and threads, once per stall."""
        if self._told == self._ended:
            return
        self._told = self._ended
        ago = time.monotonic() - self._ended
        since = time.strftime("%H:%M:%S", time.localtime(time.time() - ago))
        say(f"No step has ended since {since}. Calls of session.run that ended before: "
            f"{self._done}.")
        under_way, diagnosis = dict(self._under_way), None
        stand = {step.session: step.fetches for thread, step in under_way.items()
                 if not _fills(thread)}
        for session in stand or self._open_sessions():
            diagnosis = self._examine(session, stand.get(session))
        frames = sys._current_frames()
        for thread in dict.fromkeys([threading.main_thread().ident, *under_way]):
            if thread in frames:
                _show_thread(thread, frames[thread], under_way.get(thread))
        if self._movie:
            self._save(diagnosis)
        say("The program continues unchanged. Press Ctrl-C to end it.")

    def failed(self) -> list[BaseException]:
        """Returns the errors that ended the threads of queue runners."""
        return [error for session in self._sessions
                for runner in runners_of(session.graph)
                for error in runner.exceptions_raised]

    def _say_dead_feeders(self, session: tf1.Session) -> None:
        """Prints which threads that filled a queue have ended, and how."""
        causes = dict(self._died)
        for thread, step in self._feeders.items():
            if thread.is_alive() or step.session is not session:
                continue
            ops = fetched_ops(session.graph, step.fetches)
            names = [op.inputs[0].op.name for op in ops if op.type in ENQUEUES]
            how = "has ended"
            if thread in causes:
                error = causes[thread]
                how = f"ended with {type(error).__name__}: {first_line(error)}"
            for name in names:
                say(f"Thread {thread.name}, which filled '{name}', {how}.")

    def _open_sessions(self) -> list[tf1.Session]:
        return [session for session in self._sessions if not is_closed(session)]

    def _examine(self, session: tf1.Session, fetches: Any) -> Diagnosis | None:
        """Prints and returns the diagnosis of a session's queues."""
        found = self._look_at(diagnose, session, fetches)
        if found is None or found.queues or fetches is not None:
            say(stalled(self._stall, found))
        for queue in found.queues if found else ():
            show(f"{queue}{_why(queue)}")
        self._say_dead_feeders(session)
        failed = [(queue_filled_by(runner).name, error)
                  for runner in runners_of(session.graph)
                  for error in runner.exceptions_raised]
        for name, error in failed:
            say(f"A thread that fills '{name}' failed: {type(error).__name__}: "
                f"{first_line(error)}")
        if failed:
            self._look_at(check_pipeline, queues_of(session), session.run)
        return found

    def _look_at(self, look: Callable, *arguments: Any) -> Any:
        """Runs a check on a session, and returns `None` if it takes too long."""

        def unnoted() -> Any:
            with self._unnoted():
                try:
                    return look(*arguments)
                except RuntimeError as error:  # a requirement is missing
                    say(str(error))
            return None

        return attempt(_LOOK, unnoted)


def _why(queue: QueueState) -> str:
    """Returns why a queue starves, or that it is full, or "" otherwise."""
    if queue.why:
        return f"; starves: {queue.why}"
    full = 0 <= queue.capacity <= queue.size and not queue.closed
    return "; full: the thread that fills it waits" if full else ""


def _fills(thread: int) -> bool:
    """Returns whether a thread id belongs to a queue runner."""
    return _name_of(thread).startswith(RUNNER)


def _name_of(thread: int) -> str:
    return next((t.name for t in threading.enumerate() if t.ident == thread), "")


def _show_lines(stack: traceback.StackSummary) -> None:
    """Prints the lines of the program in a stack."""
    for line in stack:
        if not line.filename.startswith(_NOT_THEIRS):
            text = linecache.getline(line.filename, line.lineno).strip()
            show(f"{line.filename}:{line.lineno} in {line.name}: {text}")


def _show_thread(thread: int, frame: Any, step: Step | None) -> None:
    """Prints the program lines of a thread, or where its op was built."""
    stack, doing = traceback.extract_stack(frame), "outside of session.run"
    if step is not None:
        doing = f"in session.run for {time.monotonic() - step.start:.1f} s"
        if _fills(thread):
            stack = step.session.graph.as_graph_element(step.fetches).traceback
            doing = f"{doing}; its op was built here"
    say(f"{_name_of(thread)}, {doing}:")
    _show_lines(stack)
    while frame is not None:
        coordinator = frame.f_locals.get("self")
        if frame.f_code.co_name == "join" and hasattr(coordinator, "should_stop"):
            asked = "has been" if coordinator.should_stop() else "has not been"
            say(f"It waits for the threads of a coordinator that {asked} asked to "
                "stop.")
        frame = frame.f_back


def say(text: str) -> None:
    """Prints a line to standard error, marked as a message of `tf1 watch`."""
    print(f"tf1 watch: {text}", file=sys.stderr, flush=True)


def show(text: str) -> None:
    """Prints an indented line that continues the previous message."""
    print(f"    {text}", file=sys.stderr, flush=True)
