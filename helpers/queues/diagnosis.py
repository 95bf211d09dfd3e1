"""Diagnosis of queue pipelines: the state of each queue, and the cause of a stall.

Taught in lesson 03b, "The hang": size, closed and living threads, queue by queue.
"""

from dataclasses import dataclass, replace
from typing import Any

import tensorflow.compat.v1 as tf1

from helpers.queues.internals import Queue, queues_of, raw_session, taken_from


@dataclass(frozen=True)
class QueueState:
    """State of one queue of a session at one moment.

    Attributes:
      name: Name of the queue's op.
      kind: `FIFOQueue`, `RandomShuffleQueue`, `PaddingFIFOQueue`, or `PriorityQueue`.
      size: Number of items in the queue.
      capacity: Number of items that fit, or -1 for no limit.
      kept: Number of items that an open queue does not release (`min_after_dequeue`).
      closed: Whether the queue is closed. A closed queue accepts no items and cannot be
        reopened.
      wanted: Number of items that the largest dequeue op of the graph takes at once.
      threads: Number of enqueuing threads of the queue's runners, or 0 without a
        runner.
      alive: Number of these threads that are alive in this session, or None if they
        were never started.
      waits_for: Names of the empty queues from which the enqueue ops take their items.
      why: Reason why the queue is empty, or "" if it does not starve.
    """

    name: str
    kind: str
    size: int
    capacity: int
    kept: int
    closed: bool
    wanted: int
    threads: int
    alive: int | None
    waits_for: tuple[str, ...] = ()
    why: str = ""

    @property
    def starves(self) -> bool:
        """Whether a dequeue op that starts now would have to wait."""
        return not self.closed and self.size - self.kept < self.wanted

    def __str__(self) -> str:
        capacity = "any number" if self.capacity < 0 else self.capacity
        kept = f" ({self.kept} kept back)" if self.kept else ""
        runner = "no runner"
        if self.threads:
            alive = "never started" if self.alive is None else f"{self.alive} alive"
            plural = "" if self.threads == 1 else "s"
            runner = f"{self.threads} runner thread{plural}, {alive}"
        return (
            f"{self.name}: {self.kind}, {self.size} of {capacity}{kept}, "
            f"{'closed' if self.closed else 'open'}, {runner}"
        )


@dataclass(frozen=True)
class Diagnosis:
    """States of all queues of a session, with the one that causes a stall.

    Attributes:
      queues: States of the queues, in the order in which the graph was built.
    """

    queues: tuple[QueueState, ...]

    @property
    def starving(self) -> QueueState | None:
        """The queue that causes the stall: it starves and waits for no other."""
        starving = {queue.name: queue for queue in self.queues if queue.starves}
        if not starving:
            return None
        root = list(starving.values())[-1]  # built last, so nearest to the consumer
        seen = set()
        while ahead := [name for name in root.waits_for if name not in seen]:
            seen.add(root.name)
            root = starving[ahead[0]]
        return root

    def __str__(self) -> str:
        if not self.queues:
            return ("The graph of this session has no queue. Check that the pipeline "
                    "was built in this graph.")
        lines = [f"  {queue}" for queue in self.queues]
        root = self.starving
        if root is None:
            lines.append("No queue starves.")
        else:
            lines.append(f"'{root.name}' starves: {root.why}")
        return "\n".join([f"Queues of this session: {len(self.queues)}", *lines])

    __repr__ = __str__


def diagnose(session: tf1.Session, fetches: Any = None) -> Diagnosis:
    """Returns the state of every queue, and the cause if one of them starves.

    The call moves no item. The first call for a graph adds three small ops per queue
    under the name scope `queue_doctor`.

    Args:
      session: An open session, which may be a `MonitoredSession`.
      fetches: Fetches of a step. Only queues from which the step dequeues, directly or
        through other queues, are examined. Default: all queues of the graph.

    Returns:
      A `Diagnosis`, which can be printed, with the attributes `queues` and `starving`.
    """
    raw = raw_session(session)
    return examined(taken_from(queues_of(raw), fetches), raw)


def examined(queues: list[Queue], session: tf1.Session) -> Diagnosis:
    """Returns the diagnosis of queues that have been looked up already."""
    if not queues:
        return Diagnosis(())
    values = session.run([(queue.size, queue.closed) for queue in queues])
    states = {queue.op.name: _state(queue, size, closed)
              for queue, (size, closed) in zip(queues, values, strict=True)}
    return Diagnosis(tuple(_explained(queue, states) for queue in queues))


def _state(queue: Queue, size: int, closed: bool) -> QueueState:
    """Combines the static facts about a queue with its size and closed flag."""
    kept = 0
    if queue.op.type == "RandomShuffleQueueV2":
        kept = queue.op.get_attr("min_after_dequeue")
    return QueueState(
        name=queue.op.name,
        kind=queue.op.type.removesuffix("V2"),
        size=int(size),
        capacity=queue.op.get_attr("capacity"),
        kept=kept,
        closed=bool(closed),
        wanted=queue.wanted,
        threads=sum(len(runner.enqueue_ops) for runner in queue.runners),
        alive=queue.alive,
    )


def _explained(queue: Queue, states: dict[str, QueueState]) -> QueueState:
    """Returns the state of a queue with the cause of its starvation."""
    state = states[queue.op.name]
    if not state.starves:
        return state
    waits_for = []
    for op, of_files in queue.sources.items():
        source = states.get(op.name)
        # A reader empties even a healthy queue of file names at once, so an empty one
        # means nothing as long as its threads are alive.
        if state.alive and source and source is not state and source.starves and not (
                of_files and source.alive):
            waits_for.append(op.name)
    waits_for.sort()
    reads = any(queue.sources.values())
    why = _cause(state, bool(queue.enqueues), tuple(waits_for), reads)
    return replace(state, waits_for=tuple(waits_for), why=why)


def _cause(
    state: QueueState, fillable: bool, waits_for: tuple[str, ...], reads: bool
) -> str:
    """Describes the probable cause of an empty queue, and the fix."""
    if not fillable:
        return "no op of the graph adds items to it. Build an enqueue op."
    if not state.threads:
        return "it has no runner. Use tf1.train.add_queue_runner or feed_queue."
    if state.alive is None:
        return ("its runner was never started. Call tf1.train.start_queue_runners, or "
                "run the step inside running_queues(session).")
    if not state.alive:
        return (f"{_threads(state.threads)} no longer alive, and the queue was not "
                "closed.")
    if waits_for:
        return f"{_threads(state.alive)} waiting for '{waits_for[0]}'."
    if reads:
        return (
            f"{_threads(state.alive)} reading, but no record arrives. Check for empty "
            "files with num_epochs=None, and for a slow disk."
        )
    return (
        f"{_threads(state.alive)} alive, but the queue holds {state.size} of the "
        f"{state.kept + state.wanted} items that are needed. Check whether its source "
        "is slow, blocked, or exhausted."
    )


def _threads(count: int) -> str:
    return "its thread is" if count == 1 else f"its {count} threads are"
