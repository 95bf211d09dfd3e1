"""The checks before the start: what would hang, or end without a step, is refused."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.queues.internals import (
    is_closed,
    living_threads,
    probe_queue,
    probe_variable,
    queue_filled_by,
    raw_session,
    runners_of,
    variables_behind,
)

Run = Callable[[list], Any]


def check_session(session: tf1.Session) -> None:
    """Refuses a session whose runners cannot be started from here.

    Args:
      session: what the caller passed.

    Raises:
      RuntimeError: it is closed, a `MonitoredSession`, or its runners run already.
    """
    if session is not raw_session(session):
        raise RuntimeError(
            "a MonitoredSession starts and stops the queue runners itself: call "
            "its session.run, with no running_queues around it"
        )
    if is_closed(session):
        raise RuntimeError("the session is closed: open a new one")
    for runner in runners_of(session.graph):
        if living_threads(runner, session):
            raise RuntimeError(
                f"the threads of queue '{queue_filled_by(runner).name}' run already: "
                "a cell run twice, start_queue_runners, or a MonitoredSession; "
                "leave them to one"
            )


def check_pipeline(graph: tf.Graph, run: Run) -> None:
    """Refuses queues that are closed and variables that have no value.

    Args:
      graph: of the session.
      run: runs fetches in the session; it may raise at a limit of its own.

    Raises:
      RuntimeError: names the queue or the variable, and the fix.
    """
    runners = runners_of(graph)
    if runners:
        _check_open(runners, run)
        _check_initialised(graph, [op for r in runners for op in r.enqueue_ops], run)


def _has_ended(runner: tf1.train.QueueRunner) -> bool:
    """Whether a feed has closed its queue because all rows are in."""
    return getattr(runner, "has_ended", False)


def _check_open(runners: list[tf1.train.QueueRunner], run: Run) -> None:
    """Refuses closed queues: the pipeline would end without a step."""
    queues = [queue_filled_by(runner) for runner in runners]
    found = run([probe_queue(queue)[:2] for queue in queues])
    for runner, queue, (size, closed) in zip(runners, queues, found, strict=True):
        if closed and not (size and _has_ended(runner)):  # else steps drain it
            raise RuntimeError(
                f"queue '{queue.name}' is closed: this pipeline has run to its end or "
                "was stopped once, and queues cannot be reopened: build a new graph "
                "and session"
            )


def _check_initialised(graph: tf.Graph, enqueues: list, run: Run) -> None:
    """Refuses to start threads that would die on a variable without a value."""
    needed = variables_behind(enqueues)
    found = run([probe_variable(op) for op in needed]) if needed else []
    missing = [op.name for op, is_set in zip(needed, found, strict=True) if not is_set]
    if missing:
        name = min(missing)
        raise RuntimeError(
            f"the pipeline needs variable '{name}', which is not initialised: run "
            f"{_initializer_of(name, graph)} before running_queues"
        )


def _initializer_of(variable: str, graph: tf.Graph) -> str:
    """Returns what gives a variable its value."""
    for key, initializer in (
        (tf1.GraphKeys.LOCAL_VARIABLES, "tf1.local_variables_initializer()"),
        (tf1.GraphKeys.GLOBAL_VARIABLES, "tf1.global_variables_initializer()"),
    ):
        if variable in {found.op.name for found in graph.get_collection(key)}:
            return initializer
    return "its own .initializer"
