"""Function calls that can be interrupted because they run in another thread.

TensorFlow does not let Ctrl-C or the notebook's stop button interrupt a blocked
`session.run`. A caller who waits in Python is interrupted at once.
"""

import contextlib
import queue
import threading
import time
from collections.abc import Callable
from typing import Any

_POLL = 0.2  # seconds; delay of Ctrl-C on Windows, elsewhere there is none


class InterruptibleCalls:
    """Worker thread for calls that the caller must be able to interrupt.

    Calls are made one at a time. A call that was abandoned, by Ctrl-C or at its time
    limit, continues in the thread, and no other call is accepted after it.
    """

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue = queue.SimpleQueue()
        self._answers: queue.SimpleQueue = queue.SimpleQueue()
        self._ended = threading.Event()
        self._left = False
        self._thread = threading.Thread(
            target=self._serve, name="guarded-step", daemon=True
        )
        self._thread.start()

    def call(self, seconds: float, function: Callable, *arguments: Any) -> Any:
        """Calls a function in the worker thread, with a time limit.

        Args:
          seconds: Time limit, or `math.inf` for none.
          function: Function to call.
          *arguments: Arguments of the call.

        Returns:
          The return value of the function. Its exceptions propagate.

        Raises:
          TimeoutError: If the call takes longer than `seconds`.
          RuntimeError: If another thread is making a call, or if an earlier call was
            abandoned.
        """
        if self._left:
            raise RuntimeError(
                "Cannot run a step while another one is running or after an "
                "interruption. Leave the running_queues block."
            )
        self._left = True
        self._calls.put((function, arguments))
        value, error = self._answer(time.monotonic() + seconds)
        self._left = False
        if error is not None:
            raise error
        return value

    def end(self, seconds: float) -> bool:
        """Stops the thread after its current call; returns whether it has ended."""
        self._calls.put(None)
        # Not `join`, because after Ctrl-C, Python 3.11 would treat the thread as ended.
        return self._ended.wait(waitable(seconds))

    def _answer(self, deadline: float) -> tuple[Any, BaseException | None]:
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
            del call, function, arguments  # or the graph stays until the next call
        self._ended.set()


def attempt(seconds: float, function: Callable) -> Any:
    """Returns `function()`, or None if it fails or exceeds the time limit."""
    calls = InterruptibleCalls()
    try:
        return calls.call(seconds, function)
    except Exception:
        return None
    finally:
        calls.end(0)


def waitable(seconds: float) -> float:
    """Limits a waiting time to the range that Python's wait functions accept."""
    return max(0.0, min(seconds, threading.TIMEOUT_MAX))
