"""Queues and runners of a graph, read through TensorFlow's private names.

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
# Ops that dequeue file names and read records from these files.
READERS = ("ReaderReadV2", "ReaderReadUpToV2")
FEED_THREAD = "feed-"  # prefix of the names of feeding threads


@dataclass(frozen=True)
class Queue:
    """Queue of a graph, with its runners and the ops that inspect it.

    Attributes:
      op: Op of the queue.
      size: Number of items in the queue, int32 `[]`.
      closed: Whether the queue is closed, bool `[]`.
      cancel: Op that closes the queue for good and cancels waiting enqueue ops.
      enqueues: Ops that add items.
      sources: Queues from which its items come, and whether these contain file names.
      wanted: Number of items that the largest dequeue op takes at once, as far as
        known.
      runners: Queue runners that fill the queue.
      alive: Number of their threads that are alive in the session, or None if there
        never was one.
    """

    op: tf.Operation
    size: tf.Tensor
    closed: tf.Tensor
    cancel: tf.Operation
    enqueues: list[tf.Operation]
    sources: dict[tf.Operation, bool]
    wanted: int
    runners: list[tf1.train.QueueRunner]
    alive: int | None

    @property
    def is_fed(self) -> bool:
        """Whether `feed_queue` fills the queue, which can stop without closing it."""
        return any(hasattr(runner, "has_ended") for runner in self.runners)


def raw_session(session: Any) -> tf1.Session:
    """Returns the plain session inside a `MonitoredSession`, or `session` itself."""
    inner = getattr(session, "_tf_sess", None)
    return inner() if inner is not None else session


def is_closed(session: tf1.Session) -> bool:
    """Returns whether a plain session is closed."""
    return session._closed


@contextlib.contextmanager
def building(graph: tf.Graph, scope: str) -> Iterator[None]:
    """Context manager for adding ops to any graph, even to a finalized one."""
    finalized = graph.finalized
    if finalized:
        graph._unsafe_unfinalize()  # the added ops are harmless
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
    """Returns ops that read the size and state of a queue, and one that closes it.

    The ops are built only once. Closing the queue also cancels waiting enqueue ops.

    Args:
      queue: Op of the queue.

    Returns:
      The size, int32 `[]`; whether the queue is closed, bool `[]`; and the op that
      closes the queue for good.
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
    """Returns a bool scalar tensor that tells whether a variable is initialised.

    The tensor is built only once per variable.
    """
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
    """Returns the queue ops of a graph, in the order of their creation."""
    return [op for op in graph.get_operations() if op.type in _QUEUES]


def queues_of(session: tf1.Session) -> list[Queue]:
    """Returns the queues of a session with their runners and live threads.

    All further questions are answered from the result, without another look.

    Args:
      session: A plain session. Its graph gets the ops of `probe_queue` for each queue.

    Returns:
      The queues, in the order in which they were built.
    """
    ops = queue_ops(session.graph)
    runners: dict[tf.Operation, list] = {op: [] for op in ops}
    for runner in runners_of(session.graph):
        runners.get(queue_filled_by(runner), []).append(runner)
    return [_looked_at(op, runners[op], session) for op in ops]


def _looked_at(op: tf.Operation, runners: list, session: tf1.Session) -> Queue:
    enqueues, dequeues = _consumers(op, ENQUEUES), _consumers(op, DEQUEUES)
    living = [runner._runs_per_session[session] for runner in runners
              if session in runner._runs_per_session]  # the only source
    return Queue(
        op, *probe_queue(op), enqueues, queues_taken_from(ancestors(enqueues)),
        max((items_taken(dequeue) or 1 for dequeue in dequeues), default=1),
        runners, sum(living) if living else None,
    )


def taken_from(queues: list[Queue], fetches: Any) -> list[Queue]:
    """Returns the queues that a step dequeues from, directly or indirectly."""
    if fetches is None or not queues:
        return queues
    steps = fetched_ops(queues[0].op.graph, fetches)
    waiting, reached = [*queues_taken_from(ancestors(steps))], set()
    looked_at = {queue.op: queue for queue in queues}
    while waiting:
        op = waiting.pop()
        if op in looked_at and op not in reached:
            reached.add(op)
            waiting += looked_at[op].sources
    return [queue for queue in queues if queue.op in reached]


def queues_taken_from(ops: Collection[tf.Operation]) -> dict[tf.Operation, bool]:
    """Maps each queue that ops read to whether its items are file names.

    Inside a `while_loop`, the result is not the queue but the op that passes it into
    the loop.
    """
    queues = {op.inputs[0].op: False for op in ops if op.type in DEQUEUES}
    return queues | {op.inputs[1].op: True for op in ops if op.type in READERS}


def _consumers(queue: tf.Operation, kinds: tuple[str, ...]) -> list[tf.Operation]:
    return [op for op in queue.outputs[0].consumers() if op.type in kinds]


def items_taken(dequeue: tf.Operation) -> int | None:
    """Returns the number of items that a dequeue op takes, or None if unknown."""
    if dequeue.type == "QueueDequeueV2":
        return 1
    count = tf.get_static_value(dequeue.inputs[1])
    return None if count is None else int(count)


def runners_of(graph: tf.Graph) -> list[tf1.train.QueueRunner]:
    """Returns the queue runners in the graph's collection."""
    return graph.get_collection(tf1.GraphKeys.QUEUE_RUNNERS)


def queue_filled_by(runner: tf1.train.QueueRunner) -> tf.Operation:
    """Returns the queue op that a runner fills.

    The runner's `.name` lacks the scope in eager mode.
    """
    ref = getattr(runner.queue, "queue_ref", None)
    return runner.queue if ref is None else ref.op  # an imported runner has the op


def count_thread(
    runner: tf1.train.QueueRunner, session: tf1.Session, living: int
) -> None:
    """Records the number of live threads of a runner in a session."""
    with runner._lock:
        runner._runs_per_session[session] = living


def busy_sessions(runner: tf1.train.QueueRunner) -> list[tf1.Session]:
    """Returns the sessions in which threads of a runner are alive."""
    with runner._lock:
        return [session for session, living in runner._runs_per_session.items()
                if living]
