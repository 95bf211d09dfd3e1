"""A graph's queues and runners, the ops that look at them, TensorFlow's private names.

Taught in lesson 03b, "The hang": size, closed, and which threads live.
"""

import contextlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.graph import ancestors, fetched_ops

_QUEUES = (
    "FIFOQueueV2", "RandomShuffleQueueV2", "PaddingFIFOQueueV2", "PriorityQueueV2"
)
DEQUEUES = ("QueueDequeueV2", "QueueDequeueManyV2", "QueueDequeueUpToV2")
ENQUEUES = ("QueueEnqueueV2", "QueueEnqueueManyV2")
# These take the names of files from a queue, and read records from the files.
READERS = ("ReaderReadV2", "ReaderReadUpToV2")
FEED_THREAD = "feed-"  # how the names of feeding threads begin


@dataclass(frozen=True)
class Queue:
    """A queue of a graph, who is around it, and the ops that look at it.

    Attributes:
      op: the queue.
      size: int32 `[]`, the items inside.
      closed: bool `[]`.
      cancel: closes the queue for good, and cancels the enqueue ops that wait.
      enqueues: the ops that put items in.
      dequeues: the ops that take items out.
      runners: those that fill it.
    """

    op: tf.Operation
    size: tf.Tensor
    closed: tf.Tensor
    cancel: tf.Operation
    enqueues: list[tf.Operation]
    dequeues: list[tf.Operation]
    runners: list[tf1.train.QueueRunner]

    @property
    def is_fed(self) -> bool:
        """Whether `feed_queue` fills it: that stops without closing the queue."""
        return any(map(is_feed, self.runners))

    @property
    def wanted(self) -> int:
        """How many items the largest dequeue op takes at once, as far as is known."""
        return max((items_taken(op) or 1 for op in self.dequeues), default=1)

    @property
    def threads(self) -> int:
        """How many enqueuing threads its runners plan."""
        return sum(len(runner.enqueue_ops) for runner in self.runners)

    @property
    def sources(self) -> dict[tf.Operation, bool]:
        """The queues that its items come from, and whether as names of files."""
        return queues_taken_from(ancestors(self.enqueues))

    def alive(self, session: tf1.Session) -> int | None:
        """Returns how many of its threads live in a session; None if none ever did."""
        counts = [living_threads(runner, session) for runner in self.runners]
        started = [count for count in counts if count is not None]
        return sum(started) if started else None


def raw_session(session: Any) -> tf1.Session:
    """Returns the plain session inside a `MonitoredSession`, or `session` itself."""
    inner = getattr(session, "_tf_sess", None)
    return inner() if inner is not None else session


def is_closed(session: tf1.Session) -> bool:
    """Says whether a plain session was closed."""
    return session._closed


@contextlib.contextmanager
def building(graph: tf.Graph, scope: str) -> Iterator[None]:
    """Adds ops to a graph whatever surrounds the caller, also to a finalized one."""
    finalized = graph.finalized
    if finalized:
        graph._unsafe_unfinalize()  # MonitoredSession finalizes; probes are harmless
    try:
        with (
            graph.as_default(),
            graph.control_dependencies(None),
            graph.name_scope(f"{scope}/"),
        ):
            yield
    finally:
        if finalized:
            graph.finalize()


def probe_queue(queue: tf.Operation) -> tuple[tf.Tensor, tf.Tensor, tf.Operation]:
    """Returns three ops on a queue: its size, whether it is closed, and closing it.

    They are built once. Closing cancels the enqueue ops that wait.

    Args:
      queue: the queue's op.

    Returns:
      int32 `[]`, bool `[]`, and the op that closes the queue for good.
    """
    graph, handle = queue.graph, queue.outputs[0]
    name = f"queue_doctor/{queue.name}"
    with contextlib.suppress(KeyError):
        return (
            graph.get_tensor_by_name(f"{name}/size:0"),
            graph.get_tensor_by_name(f"{name}/closed:0"),
            graph.get_operation_by_name(f"{name}/cancel"),
        )
    with building(graph, name), graph.colocate_with(queue, ignore_existing=True):
        return (
            tf.raw_ops.QueueSizeV2(handle=handle, name="size"),
            tf.raw_ops.QueueIsClosedV2(handle=handle, name="closed"),
            tf.raw_ops.QueueCloseV2(
                handle=handle, cancel_pending_enqueues=True, name="cancel"
            ),
        )


def probe_variable(variable: tf.Operation) -> tf.Tensor:
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


def queue_ops(graph: tf.Graph) -> list[tf.Operation]:
    """Returns the queues of a graph, in the order in which they were built."""
    return [op for op in graph.get_operations() if op.type in _QUEUES]


def queues_of(graph: tf.Graph, fetches: Any = None) -> list[Queue]:
    """Looks once at the queues of a graph; all else is asked of what it returns.

    Args:
      graph: gets the ops of `probe_queue`, for each queue.
      fetches: what a step fetches, for the queues that it takes from alone.

    Returns:
      The queues, in the order in which they were built.
    """
    ops = queue_ops(graph)
    if fetches is not None:
        behind = _queues_behind(graph, fetches)
        ops = [op for op in ops if op in behind]
    runners: dict[tf.Operation, list] = {op: [] for op in ops}
    for runner in runners_of(graph):
        runners.get(queue_filled_by(runner), []).append(runner)
    return [Queue(op, *probe_queue(op), _consumers(op, ENQUEUES),
                  _consumers(op, DEQUEUES), runners[op]) for op in ops]


def queues_taken_from(ops: Collection[tf.Operation]) -> dict[tf.Operation, bool]:
    """Returns the queues that ops take from, and whether that is names of files.

    In a `while_loop` it is not the queue but the op that brings it into the loop.
    """
    found = {op.inputs[0].op: False for op in ops if op.type in DEQUEUES}
    return found | {op.inputs[1].op: True for op in ops if op.type in READERS}


def _consumers(queue: tf.Operation, kinds: tuple[str, ...]) -> list[tf.Operation]:
    return [op for op in queue.outputs[0].consumers() if op.type in kinds]


def items_taken(dequeue: tf.Operation) -> int | None:
    """Returns how many items an op takes at once; None when only a run can tell."""
    if dequeue.type == "QueueDequeueV2":
        return 1
    count = tf.get_static_value(dequeue.inputs[1])
    return None if count is None else int(count)


def _queues_behind(graph: tf.Graph, fetches: Any) -> set[tf.Operation]:
    """Returns the queues that running `fetches` takes from, however indirectly."""
    waiting = fetched_ops(graph, fetches)
    found: set[tf.Operation] = set()
    while waiting:
        taken = set(queues_taken_from(ancestors(waiting)))
        waiting = [op for queue in taken - found
                   for op in _consumers(queue, ENQUEUES)]
        found |= taken
    return found


def runners_of(graph: tf.Graph) -> list[tf1.train.QueueRunner]:
    """Returns the queue runners in the graph's collection."""
    return graph.get_collection(tf1.GraphKeys.QUEUE_RUNNERS)


def is_feed(runner: tf1.train.QueueRunner) -> bool:
    """Says whether a runner stops without closing its queue, as `feed_queue`'s does."""
    return hasattr(runner, "has_ended")


def queue_filled_by(runner: tf1.train.QueueRunner) -> tf.Operation:
    """Returns the queue that a runner fills; its `.name` lacks the scope in eager."""
    ref = getattr(runner.queue, "queue_ref", None)
    return runner.queue if ref is None else ref.op  # an imported runner has the op


def living_threads(runner: tf1.train.QueueRunner, session: tf1.Session) -> int | None:
    """Returns how many enqueuing threads of a runner live; None if never started."""
    return runner._runs_per_session.get(session)  # the only place that knows


def queue_that_is_filled(session: tf1.Session) -> str | None:
    """Returns the name of a queue whose runner has threads that live in a session."""
    return next((queue_filled_by(runner).name for runner in runners_of(session.graph)
                 if living_threads(runner, session)), None)


def count_thread(
    runner: tf1.train.QueueRunner, session: tf1.Session, living: int
) -> None:
    """Notes how many threads of a runner live in a session."""
    with runner._lock:
        runner._runs_per_session[session] = living


def busy_sessions(runner: tf1.train.QueueRunner) -> list[tf1.Session]:
    """Returns the sessions in which threads of a runner live."""
    with runner._lock:
        return [session for session, living in runner._runs_per_session.items()
                if living]
