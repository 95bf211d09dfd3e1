"""Checks of a pipeline that run before its threads are started."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.graph import VARIABLE_TYPES, ancestors
from helpers.queues.internals import (
    Queue,
    is_closed,
    probe_variable,
    queues_of,
    raw_session,
)

Run = Callable[[list], Any]


def queues_to_start(session: tf1.Session) -> list[Queue]:
    """Returns the queues of a session whose runners can be started.

    Args:
      session: Session that the caller passed.

    Raises:
      RuntimeError: If the session is closed, is a `MonitoredSession`, or has queue
        runners that are already running.
    """
    if session is not raw_session(session):
        raise RuntimeError(
            "A MonitoredSession runs its own queue runners. Call its run method "
            "without running_queues."
        )
    if is_closed(session):
        raise RuntimeError(
            "The session is closed. Open a new session before running its queues."
        )
    queues = queues_of(session)
    if running := [queue.op.name for queue in queues if queue.alive]:
        raise RuntimeError(
            f"The threads of queue '{running[0]}' are already running. Remove the call "
            "of start_queue_runners, or replace the MonitoredSession with a Session."
        )
    return queues


def check_pipeline(queues: list[Queue], run: Run) -> None:
    """Raises `RuntimeError` for closed queues and uninitialised variables.

    Args:
      queues: Queues of a session. Those without a runner are ignored.
      run: Function that runs fetches in the session. It may have its own time limit.

    Raises:
      RuntimeError: If a check fails. The message names the queue or the variable, and
        the fix.
    """
    if filled := [queue for queue in queues if queue.runners]:
        _check_open(filled, run)
        _check_initialised([op for queue in filled for runner in queue.runners
                            for op in runner.enqueue_ops], run)


def _check_open(queues: list[Queue], run: Run) -> None:
    """Raises `RuntimeError` if a queue is closed and has no rows to drain."""
    values = run([(queue.size, queue.closed) for queue in queues])
    for queue, (size, closed) in zip(queues, values, strict=True):
        # A feed that has ended closes its own queue, and steps may still drain it.
        ended = all(getattr(each, "has_ended", False) for each in queue.runners)
        if closed and not (size and ended):
            raise RuntimeError(
                f"Queue '{queue.op.name}' is closed, because this pipeline has ended "
                "or was stopped before. Queues cannot be reopened, so build a new "
                "graph and session."
            )


def _check_initialised(enqueues: list[tf.Operation], run: Run) -> None:
    """Raises `RuntimeError` if a pipeline reads an uninitialised variable."""
    needed = [op for op in ancestors(enqueues) if op.type in VARIABLE_TYPES]
    flags = run([probe_variable(op) for op in needed]) if needed else []
    missing = [op.name for op, is_set in zip(needed, flags, strict=True) if not is_set]
    if missing:
        name = min(missing)
        initializer = _initializer_of(name, enqueues[0].graph)
        raise RuntimeError(
            f"The pipeline needs the variable '{name}', which is not initialised. Run "
            f"{initializer} before running_queues."
        )


def _initializer_of(variable: str, graph: tf.Graph) -> str:
    """Returns the code that initialises a variable."""
    for key, initializer in (
        (tf1.GraphKeys.LOCAL_VARIABLES, "tf1.local_variables_initializer()"),
        (tf1.GraphKeys.GLOBAL_VARIABLES, "tf1.global_variables_initializer()"),
    ):
        if variable in {v.op.name for v in graph.get_collection(key)}:
            return initializer
    return "its own .initializer"
