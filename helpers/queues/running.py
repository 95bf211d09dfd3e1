"""Driving the queue runners of a session: started, watched, stopped, joined."""

import contextlib
import queue
import re
import threading
import time
from collections.abc import Callable, Iterator

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.errors import DataError, PipelineStalled, first_line
from helpers.graph import holds_variable
from helpers.queues.doctor import (
    ancestors,
    building,
    diagnose,
    filled_by,
    living_threads,
    probe_queue,
    queue_ops,
    raw_session,
    runners_of,
)
from helpers.queues.feeding import FEED_THREAD, Feed

_POLL = 0.2  # seconds: how late Windows notices Ctrl-C; elsewhere it is at once
_FREE = 0.5  # seconds that threads get before queues are closed under them
_SPARE = 1.0  # seconds more before the queue of a feed is: closing is for good
_LOST = "the session had to be closed under a step, and its variables are lost"
_END_OF_DATA = ("is closed and has insufficient elements", "End of sequence")


@contextlib.contextmanager
def running_queues(
    session: tf1.Session, *, stall: float = 60, grace: float = 10
) -> Iterator["Runner"]:
    """Starts the queue runners of a session's graph, and always stops them again.

    Initialise the variables first, then step inside the block, through the runner
    that it yields. Leave the block before you close the session. However the block
    ends, all threads are stopped and joined, and the first real error comes out: the
    block's own; else that of the first thread that failed; an end of the data is no
    error.

    Args:
      session: an open session whose variables are initialised.
      stall: seconds that one step may take before it counts as stalled.
      grace: seconds that threads and a step under way get to stop. A step that
        waits for a queue is freed at once. One that computes for longer cannot be
        cut short: the session is closed under it, which loses the variables, and
        the error says so.

    Yields:
      A `Runner`: `runner.run(fetches)` in place of `session.run(fetches)`, or
      `for values in runner.steps(fetches)`.

    Raises:
      RuntimeError: the session is closed, its runners run already, a variable that
        they need is not initialised, or the pipeline was stopped once before; or it
        is a `MonitoredSession`, which starts its runners itself, and whose hooks a
        step from here would pass by; at the end: a thread did not stop, or the
        session was closed too early.
      PipelineStalled: a step took longer than `stall`; names the queue that starves.
      DataError: the data ended before the first step.
      tf.errors.OpError: what a thread or a step failed with, in one line, with
        TensorFlow's own error as its cause.
    """
    runner = Runner(session, stall, grace)
    runner._start()
    own = None
    try:
        yield runner
    except BaseException as error:  # Ctrl-C too: the threads have to stop first
        own = error
    try:
        first = _first_real(own, runner._stop())
    except BaseException as error:  # Ctrl-C once more: then nothing is waited for
        first = error
    if runner._lost:
        first = _with(first or RuntimeError(), _LOST)
    if first is not None:
        raise first


class Runner:
    """Runs steps on a session whose queues are running; `running_queues` makes it.

    Each step runs in a thread of its own, because TensorFlow does not let Ctrl-C or
    the notebook's stop button into a blocked `session.run`. The caller waits in
    Python, where they arrive at once.

    Attributes:
      coord: the coordinator. Give it to Python threads of your own, and register
        them with it, to have them stopped and joined too.
      steps_done: how many steps have finished.
    """

    def __init__(self, session: tf1.Session, stall: float, grace: float):
        self.coord = _NamingCoordinator()
        self.steps_done = 0
        self._session = session
        self._stall = stall
        self._grace = grace
        self._ended = False
        self._lost = False

    def run(self, fetches, feed_dict: dict | None = None):
        """Runs one step: `session.run`, but it can be interrupted.

        It gives up `stall` seconds and a little later, and leaving the block then
        takes `grace` seconds and a little more, whatever the step does.

        Args:
          fetches: as for `session.run`.
          feed_dict: as for `session.run`.

        Returns:
          The values of `fetches`.

        Raises:
          tf.errors.OutOfRangeError: the data has come to its end. Let it pass:
            the block takes it for its normal end.
          RuntimeError: a step was asked for after that, after an interrupt, or while
            another thread is in one.
        """
        if self._ended:
            raise RuntimeError(
                f"the data has ended after {self.steps_done} steps, and queues cannot "
                "be reopened: for another fit build a new graph and session, or ask "
                "for more epochs"
            )
        if self.coord.should_stop():
            self._raise_failure()
            raise RuntimeError("the coordinator was asked to stop: no step runs now")
        try:
            values = self._steps.call(
                self._stall, self._session.run, fetches, feed_dict
            )
        except TimeoutError:
            raise PipelineStalled(self._stalled(fetches)) from None
        except tf.errors.OpError as error:
            raise self._explained(error) from error
        except RuntimeError as error:
            if self._session._closed:
                raise _closed_early(error) from error
            raise
        self.steps_done += 1
        return values

    def steps(self, fetches, n: int | None = None, feed_dict: dict | None = None):
        """Runs step after step until the data ends.

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
                if not _is_end(error):
                    raise
                return
            yield values
            done += 1

    def _start(self) -> None:
        """Checks that the runners can run, then starts them."""
        if self._session is not raw_session(self._session):
            raise RuntimeError(
                "a MonitoredSession starts and stops the queue runners itself: call "
                "its session.run, with no running_queues around it"
            )
        if self._session._closed:
            raise RuntimeError("the session is closed: open a new one")
        graph = self._session.graph
        runners = runners_of(graph)
        for runner in runners:
            if living_threads(runner, self._session):
                raise RuntimeError(
                    f"the threads of queue '{filled_by(runner).name}' run already: "
                    "a cell run twice, start_queue_runners, or a MonitoredSession; "
                    "leave them to one"
                )
        self._probes = {op.name: probe_queue(op) for op in queue_ops(graph)}
        self._feeds = {filled_by(r).name for r in runners if isinstance(r, Feed)}
        _check_open(self._session, runners, self._probes)
        _check_initialised(self._session, runners)
        self._steps = _StepThread()
        try:
            with graph.as_default():  # only here threads get their queue's full name
                for runner in runners:
                    runner.create_threads(
                        self._session, coord=self.coord, daemon=True, start=True
                    )
        except BaseException:
            self._stop()
            raise

    def _stop(self) -> BaseException | None:
        """Stops and joins everything; returns what a thread failed with."""
        closed_early = self._session._closed
        self.coord.request_stop()
        failed = None
        try:
            self._free_all()
            self.coord.join(stop_grace_period_secs=0)
        except Exception as error:
            failed = error
        finally:  # after a second Ctrl-C, too
            if not self._steps.end(_FREE):
                self._lost = not closed_early
                _within(_FREE, self._session.close)  # ends the step, or waits for it
        if closed_early:
            return _closed_early(failed)
        return failed and self._readable(failed)

    def _free_all(self) -> None:
        """Waits for all to end, closing the queues that somebody waits for.

        No runner closes a feed's queue, so that it can be fed again. It is closed
        only under a step or a thread that finds it empty, or after the grace.
        """
        if self._all_ended(_FREE):
            return
        self._close_queues(self._probes.keys() - self._feeds)
        if self._feeds and not self._all_ended(_SPARE) and self._somebody_waits():
            self._close_queues(self._feeds & self._starving())
        if not self._all_ended(self._grace) and self._somebody_waits():
            self._close_queues(self._feeds)

    def _all_ended(self, seconds: float) -> bool:
        """Waits for the threads and the step under way; says whether all ended."""
        deadline = time.monotonic() + seconds
        ended = self._steps.end(seconds)
        for thread in self.coord.threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return ended and not any(thread.is_alive() for thread in self.coord.threads)

    def _somebody_waits(self) -> bool:
        """Whether a step, or a thread other than a feed's, has not ended yet."""
        return not self._steps.end(0) or any(
            thread.is_alive() and not thread.name.startswith(FEED_THREAD)
            for thread in self.coord.threads
        )

    def _starving(self) -> set[str]:
        """Returns the names of the queues that starve; none if nobody can say."""
        found = _limited(_FREE, lambda: diagnose(self._session).queues)
        return {state.name for state in found or () if state.starves}

    def _close_queues(self, names: set[str]) -> None:
        """Closes queues, to free what waits for one that no runner closes."""
        cancels = [self._probes[name][2] for name in names]
        _within(_FREE, lambda: self._session.run(cancels))

    def _explained(self, error: tf.errors.OpError) -> Exception:
        """Returns what a step's error means, in one line."""
        if self._session._closed:
            return _closed_early(error)
        if _is_end(error) or isinstance(error, tf.errors.CancelledError):
            # A queue closed: at its end, or because a thread failed just before.
            self._raise_failure()
            if _is_end(error):
                self._ended = True
                if not self.steps_done:
                    return DataError(self._nothing_came())
        return _short(error)

    def _raise_failure(self) -> None:
        """Raises what a thread has failed with, if one has."""
        try:
            self.coord.raise_requested_exception()
        except Exception as error:
            failed = self._readable(error)
        else:
            return
        raise failed

    def _readable(self, error: BaseException) -> BaseException:
        """Returns a thread's error in one line that names its queue."""
        if isinstance(error, UnicodeDecodeError):
            new = DataError(
                f"{self.coord.culprit}: TensorFlow failed on a record, and failed "
                "again in writing its message, which is not text: is every record a "
                "serialized tf.train.Example?"
            )
        elif isinstance(error, tf.errors.OpError):
            new = _short(error, f"{self.coord.culprit}: ")
        else:
            return error
        new.__cause__ = error
        return new

    def _stalled(self, fetches) -> str:
        limit = f"no step finished for {self._stall:g} s"
        if not self._probes:
            return f"{limit}; the graph of this session has no queue: built in another?"
        root = _limited(2.0, lambda: diagnose(self._session, fetches).starving)
        if root is None:
            return f"{limit}, yet no queue starves: the step is slow; raise `stall`"
        return f"{limit}: queue '{root.name}' starves: {root.why}"

    def _nothing_came(self) -> str:
        """Returns why the data ended before the first step."""
        states = diagnose(self._session).queues
        left = [s for s in states if s.closed and 0 < s.size < s.wanted]
        if not left:
            return "the data ended before the first step: the source holds nothing"
        return (
            f"the data ended before the first step: queue '{left[0].name}' holds "
            f"{left[0].size} items and a step wants {left[0].wanted}: use a smaller "
            "batch, or allow_smaller_final_batch=True"
        )


class _NamingCoordinator(tf1.train.Coordinator):
    """A coordinator that remembers its threads, and which of them failed first.

    Attributes:
      threads: those registered with it; queue runners register theirs.
      culprit: what failed first, for a message.
    """

    def __init__(self):
        super().__init__()
        self.threads: list[threading.Thread] = []
        self.culprit = "a thread"

    def register_thread(self, thread: threading.Thread) -> None:
        """Takes on a thread to be joined; see `tf1.train.Coordinator`."""
        super().register_thread(thread)
        self.threads.append(thread)

    def request_stop(self, ex=None):
        """Asks all threads to stop; see `tf1.train.Coordinator`."""
        if self.joined:
            return  # a straggler, named already: nobody is left to hear of its error
        if ex is not None and not self.should_stop():
            name = threading.current_thread().name
            if name.startswith("QueueRunnerThread-"):
                queue_name = name.split("-", 1)[1].rsplit("-", 1)[0]
                name = f"a thread that fills queue '{queue_name}' failed"
            self.culprit = name
        super().request_stop(ex)


class _StepThread:
    """Makes calls in a thread, one at a time, so that the caller can be interrupted."""

    def __init__(self):
        self._calls: queue.SimpleQueue = queue.SimpleQueue()
        self._answers: queue.SimpleQueue = queue.SimpleQueue()
        self._one_caller = threading.Lock()
        self._ended = threading.Event()
        self._left = False
        self._thread = threading.Thread(
            target=self._serve, name="guarded-step", daemon=True
        )
        self._thread.start()

    def call(self, seconds: float, function: Callable, *arguments):
        """Returns `function(*arguments)`; TimeoutError after so many seconds."""
        if not self._one_caller.acquire(blocking=False):
            raise RuntimeError(
                "another thread is in a step, and steps go one at a time: call "
                "runner.run from one thread, and session.run from the others"
            )
        try:
            if self._left:
                raise RuntimeError(
                    "the step before this one was interrupted: leave the "
                    "running_queues block"
                )
            self._left = True
            self._calls.put((function, arguments))
            value, error = self._answer(time.monotonic() + seconds)
            self._left = False
        finally:
            self._one_caller.release()
        if error is not None:
            raise error
        return value

    def end(self, seconds: float) -> bool:
        """Ends the thread after the call it is in; says whether it has ended."""
        self._calls.put(None)
        # Not `join`: a Ctrl-C in it makes Python 3.11 take the thread for ended.
        return self._ended.wait(seconds)

    def _answer(self, deadline: float):
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            with contextlib.suppress(queue.Empty):
                return self._answers.get(timeout=min(left, _POLL))

    def _serve(self) -> None:
        while (call := self._calls.get()) is not None:
            function, arguments = call
            try:
                self._answers.put((function(*arguments), None))
            except BaseException as error:
                self._answers.put((None, error))
            del call, function, arguments  # or a graph lives until the next step
        self._ended.set()


def _check_open(session, runners, probes) -> None:
    """Refuses a pipeline whose queues are closed: it would end without a step."""
    if not runners:
        return
    names = [filled_by(runner).name for runner in runners]
    closed = session.run([probes[name][1] for name in names])
    for name, is_closed in zip(names, closed, strict=True):
        if is_closed:
            raise RuntimeError(
                f"queue '{name}' is closed: this pipeline has run to its end or was "
                "stopped once, and queues cannot be reopened: build a new graph and "
                "session"
            )


def _check_initialised(session, runners) -> None:
    """Refuses to start threads that would die on a variable without a value."""
    graph = session.graph
    needed = ancestors([op for runner in runners for op in runner.enqueue_ops])
    checks = {op.name: _initialised(op) for op in needed if holds_variable(op.type)}
    found = session.run(checks) if checks else {}
    missing = [name for name, is_set in found.items() if not is_set]
    if not missing:
        return
    local = graph.get_collection(tf1.GraphKeys.LOCAL_VARIABLES)
    everywhere = graph.get_collection(tf1.GraphKeys.GLOBAL_VARIABLES)
    mend = "its own .initializer"
    if missing[0] in {variable.op.name for variable in local}:
        mend = "tf1.local_variables_initializer()"
    elif missing[0] in {variable.op.name for variable in everywhere}:
        mend = "tf1.global_variables_initializer()"
    raise RuntimeError(
        f"the pipeline needs variable '{missing[0]}', which is not initialised: run "
        f"{mend} before running_queues"
    )


def _initialised(variable: tf.Operation) -> tf.Tensor:
    """Returns bool `[]`: whether a variable has a value; built once per variable."""
    graph, scope = variable.graph, f"queue_doctor/{variable.name}"
    with contextlib.suppress(KeyError):
        return graph.get_tensor_by_name(f"{scope}/initialised:0")
    with building(graph, scope), graph.colocate_with(variable, ignore_existing=True):
        if variable.type == "VarHandleOp":
            return tf.raw_ops.VarIsInitializedOp(
                resource=variable.outputs[0], name="initialised"
            )
        ref = variable.outputs[0]
        return tf.raw_ops.IsVariableInitialized(ref=ref, name="initialised")


def _is_end(error: BaseException) -> bool:
    """Whether an error means that the data has ended, and nothing worse."""
    return isinstance(error, tf.errors.OutOfRangeError) and any(
        text in str(error) for text in _END_OF_DATA
    )


def _first_real(
    own: BaseException | None, failed: BaseException | None
) -> BaseException | None:
    """Returns the error to raise: the block's own, else a thread's, else none.

    A queue that closes under a step is no error of its own: it is the end of the
    data, or the echo of a thread that failed.
    """
    if own is None or _is_end(own):
        return failed
    if isinstance(own, tf.errors.CancelledError) and failed is not None:
        return failed
    return own


def _short(error: tf.errors.OpError, before: str = "") -> tf.errors.OpError:
    """Returns an error of the same type that says one line."""
    line = re.sub(r"'_\d+_", "'", first_line(error))  # TensorFlow counts its queues
    return type(error)(None, None, before + line)


def _closed_early(cause: BaseException | None) -> RuntimeError:
    error = RuntimeError(
        "the session was closed while its queues were running: leave the "
        "running_queues block first, then close the session"
    )
    error.__cause__ = cause
    return error


def _with(error: BaseException, sentence: str) -> BaseException:
    """Returns the error with a sentence more in its message, whatever its type."""
    error.args = (f"{error}; {sentence}" if str(error) else sentence,)
    return error


def _within(seconds: float, function: Callable) -> None:
    """Calls a function whose failure tells nothing; leaves it after so many seconds."""

    def call():
        with contextlib.suppress(Exception):
            function()

    thread = threading.Thread(target=call, name="last-resort", daemon=True)
    thread.start()
    thread.join(seconds)


def _limited(seconds: float, function: Callable):
    """Returns `function()`, or None when it fails or takes longer."""
    thread = _StepThread()
    try:
        return thread.call(seconds, function)
    except Exception:
        return None
    finally:
        thread.end(0)
