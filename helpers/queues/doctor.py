"""The queue doctor: what each queue of a session holds, and which one starves why."""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import tensorflow as tf
import tensorflow.compat.v1 as tf1

_KINDS = (
    "FIFOQueueV2", "RandomShuffleQueueV2", "PaddingFIFOQueueV2", "PriorityQueueV2"
)
_DEQUEUES = ("QueueDequeueV2", "QueueDequeueManyV2", "QueueDequeueUpToV2")
_ENQUEUES = ("QueueEnqueueV2", "QueueEnqueueManyV2")
_READERS = ("ReaderReadV2", "ReaderReadUpToV2")


@dataclass(frozen=True)
class QueueState:
    """One queue of one session, at one moment.

    Attributes:
      name: of the queue's op.
      kind: `FIFOQueue`, `RandomShuffleQueue`, `PaddingFIFOQueue`, `PriorityQueue`.
      size: items inside.
      capacity: items that fit; -1 for no limit.
      kept: items that an open queue does not give away (`min_after_dequeue`).
      closed: nothing more can be put in; a closed queue never opens again.
      wanted: items that the hungriest dequeue op of the graph takes at once.
      threads: enqueuing threads that the queue's runners plan; 0 without a runner.
      alive: how many of them live in this session; None if never started.
      waits_for: the empty queues that the enqueue ops take their items from.
      why: what keeps the queue empty; "" when it does not starve.
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
        """Whether a consumer who comes now has to wait."""
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
    """All queues of a session; `print` it.

    Attributes:
      queues: in the order in which the graph was built.
    """

    queues: tuple[QueueState, ...]

    @property
    def starving(self) -> QueueState | None:
        """The queue where the trouble begins: it starves, and waits for no other."""
        hungry = {queue.name: queue for queue in self.queues if queue.starves}
        if not hungry:
            return None
        root = list(hungry.values())[-1]  # built last, so nearest to the consumer
        seen = set()
        while ahead := [name for name in root.waits_for if name not in seen]:
            seen.add(root.name)
            root = hungry[ahead[0]]
        return root

    def __str__(self) -> str:
        if not self.queues:
            return "The graph of this session has no queue: built in another graph?"
        lines = [f"  {queue}" for queue in self.queues]
        root = self.starving
        if root is None:
            lines.append("No queue starves.")
        else:
            lines.append(f"'{root.name}' starves: {root.why}.")
        return "\n".join([f"Queues of this session: {len(self.queues)}", *lines])

    __repr__ = __str__


def diagnose(session: tf1.Session, fetches=None) -> Diagnosis:
    """Says what each queue holds, who fills it, and which one starves and why.

    Looking changes nothing: no item moves. The first look at a graph adds three
    small ops per queue under the name scope `queue_doctor`.

    Args:
      session: an open session, also a `MonitoredSession`.
      fetches: what a step fetches; only queues that it takes from, directly or
        through other queues, are looked at. All queues of the graph if None.

    Returns:
      A `Diagnosis`, to print or to ask for `.queues` and `.starving`.
    """
    raw = raw_session(session)
    queues = queue_ops(raw.graph)
    if fetches is not None:
        behind = _queues_behind(raw.graph, fetches)
        queues = [op for op in queues if op in behind]
    probes = {op: probe_queue(op) for op in queues}
    if not probes:
        return Diagnosis(())
    found = raw.run({op.name: probe[:2] for op, probe in probes.items()})
    states = [_state(op, *found[op.name], raw) for op in probes]
    hungry = {state.name for state in states if state.starves}
    return Diagnosis(tuple(_explained(state, raw, hungry) for state in states))


def raw_session(session) -> tf1.Session:
    """Returns the plain session inside a `MonitoredSession`, or `session` itself."""
    inner = getattr(session, "_tf_sess", None)
    return inner() if inner is not None else session


def queue_ops(graph: tf.Graph) -> list[tf.Operation]:
    """Returns the queues of a graph, in the order in which they were built."""
    return [op for op in graph.get_operations() if op.type in _KINDS]


def probe_queue(queue: tf.Operation) -> tuple[tf.Tensor, tf.Tensor, tf.Operation]:
    """Returns three ops on a queue: its size, whether it is closed, and closing it.

    They are built once. Closing cancels whoever waits to put something in.

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


def ancestors(ops: Iterable[tf.Operation]) -> set[tf.Operation]:
    """Returns the ops, and all that they need before they can run."""
    found: set[tf.Operation] = set()
    waiting = list(ops)
    while waiting:
        op = waiting.pop()
        if op not in found:
            found.add(op)
            waiting += [tensor.op for tensor in op.inputs]
            waiting += op.control_inputs
    return found


def runners_of(graph: tf.Graph) -> list[tf1.train.QueueRunner]:
    """Returns the queue runners in the graph's collection."""
    return graph.get_collection(tf1.GraphKeys.QUEUE_RUNNERS)


def filled_by(runner: tf1.train.QueueRunner) -> tf.Operation:
    """Returns the queue that a runner fills; its `.name` lacks the scope in eager."""
    ref = getattr(runner.queue, "queue_ref", None)
    return runner.queue if ref is None else ref.op  # an imported runner has the op


def living_threads(runner: tf1.train.QueueRunner, session: tf1.Session) -> int | None:
    """Returns how many enqueuing threads of a runner live; None if never started."""
    return runner._runs_per_session.get(session)  # the only place that knows


def _queues_behind(graph: tf.Graph, fetches) -> set[tf.Operation]:
    """Returns the queues that running `fetches` takes from, however indirectly."""
    waiting = []
    for fetch in tf.nest.flatten(fetches, expand_composites=True):
        element = graph.as_graph_element(fetch)
        waiting.append(getattr(element, "op", element))
    found: set[tf.Operation] = set()
    while waiting:
        new = {_queue_of(op) for op in ancestors(waiting) if _takes(op)} - found
        found |= new
        waiting = [op for queue in new for op in _enqueues(queue)]
    return found


def _takes(op: tf.Operation) -> bool:
    return op.type in _DEQUEUES or op.type in _READERS


def _queue_of(op: tf.Operation) -> tf.Operation:
    """Returns the queue that a dequeuing or reading op takes from."""
    return op.inputs[1 if op.type in _READERS else 0].op


def _users(queue: tf.Operation, types: tuple[str, ...]) -> list[tf.Operation]:
    return [op for op in queue.outputs[0].consumers() if op.type in types]


def _enqueues(queue: tf.Operation) -> list[tf.Operation]:
    return _users(queue, _ENQUEUES)


def _state(queue: tf.Operation, size, closed, session: tf1.Session) -> QueueState:
    """Puts together what the graph, the session and the runners know of a queue."""
    runners = [r for r in runners_of(queue.graph) if filled_by(r) is queue]
    alive = [living_threads(runner, session) for runner in runners]
    started = [count for count in alive if count is not None]
    kept = 0
    if queue.type == "RandomShuffleQueueV2":
        kept = queue.get_attr("min_after_dequeue")
    return QueueState(
        name=queue.name,
        kind=queue.type.removesuffix("V2"),
        size=int(size),
        capacity=queue.get_attr("capacity"),
        kept=kept,
        closed=bool(closed),
        wanted=max(map(_wanted, _users(queue, _DEQUEUES)), default=1),
        threads=sum(len(runner.enqueue_ops) for runner in runners),
        alive=sum(started) if started else None,
    )


def _wanted(dequeue: tf.Operation) -> int:
    """Returns how many items an op takes at once; 1 when only a run can tell."""
    if dequeue.type == "QueueDequeueV2":
        return 1
    count = tf.get_static_value(dequeue.inputs[1])
    return 1 if count is None else int(count)


def _explained(
    state: QueueState, session: tf1.Session, hungry: set[str]
) -> QueueState:
    """Returns the state with the cause of its hunger filled in."""
    if not state.starves:
        return state
    enqueues = _enqueues(session.graph.get_operation_by_name(state.name))
    behind = ancestors(enqueues)
    reads = [op for op in behind if op.type in _READERS]
    # A reader empties a healthy queue of file names as fast as it is filled, so
    # there being empty at this moment means nothing as long as its threads live.
    sources = {_queue_of(op).name for op in behind if _takes(op)} - {state.name}
    lively = {_queue_of(op).name for op in reads if _is_fed(op, session)}
    waits_for = tuple(sorted(sources & hungry - lively)) if state.alive else ()
    why = _cause(state, bool(enqueues), waits_for, bool(reads))
    return QueueState(**{**vars(state), "waits_for": waits_for, "why": why})


def _is_fed(reader: tf.Operation, session: tf1.Session) -> bool:
    """Whether threads that live fill the queue of file names that an op reads."""
    queue = _queue_of(reader)
    runners = [r for r in runners_of(queue.graph) if filled_by(r) is queue]
    return any(living_threads(runner, session) for runner in runners)


def _cause(
    state: QueueState, fillable: bool, waits_for: tuple[str, ...], reads: bool
) -> str:
    """Returns why a queue is empty, as far as the outside can tell, and the mend."""
    if not fillable:
        return "no op of the graph puts anything in: build an enqueue op"
    if not state.threads:
        return "it has no runner: use tf1.train.add_queue_runner or feed_queue"
    if state.alive is None:
        return "its runner was never started: step inside running_queues(session)"
    if not state.alive:
        return f"{_threads(state.threads)} no longer alive, and nobody closed it"
    if waits_for:
        return f"{_threads(state.alive)} waiting for '{waits_for[0]}'"
    if reads:
        return (
            f"{_threads(state.alive)} reading and finding nothing: empty files with "
            "num_epochs=None, or a slow disk?"
        )
    return (
        f"{_threads(state.alive)} alive, yet it holds {state.size} where "
        f"{state.kept + state.wanted} are needed: the source is slow, blocked or dry"
    )


def _threads(count: int) -> str:
    return "its thread is" if count == 1 else f"its {count} threads are"
