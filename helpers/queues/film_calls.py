"""Records the session calls in progress, and counts completed steps."""

import functools
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import tensorflow as tf

from helpers.graph import ancestors, fetched_ops
from helpers.queues.internals import (
    DEQUEUES,
    ENQUEUES,
    items_taken,
    queues_taken_from,
)


class Flow(NamedTuple):
    """Items that one run of some ops moves into and out of queues.

    Attributes:
      takes: Number of items taken from each queue, or None if only the run can tell.
      puts: Names of the queues that receive items.
    """

    takes: dict[str, int | None]
    puts: tuple[str, ...]


class Call:
    """Session call in progress, with the queue that it waits for.

    Attributes:
      who: Description of the calling thread.
      flow: Items that the call moves.
      start: Start time on the clock `time.monotonic`.
      waits: Queue that the call waits for, and "items" or "room"; or None.
      since: Time at which this wait began.
    """

    def __init__(self, who: str, flow: Flow):
        self.who, self.flow, self.start = who, flow, time.monotonic()
        self.waits: tuple[str, str] | None = None
        self.since = self.start


class WatchedCalls:
    """Recorder of the session calls in progress that also counts the steps.

    Recording adds a microsecond or two to a call and does not change its effect. Each
    thread writes only under its own number, so no lock is needed.

    Attributes:
      under_way: Calls in progress by thread number.
    """

    def __init__(self, graph: tf.Graph, queues: Collection[str]):
        """Creates a recorder for the named queues of a graph."""
        self.under_way: dict[int, Call] = {}
        self._graph, self._queues = graph, queues
        self._steps: Counter[int] = Counter()
        self._flows: dict[tuple, Flow] = {}
        self._names: dict[tuple[int, str], str] = {}
        self._naming = threading.Lock()

    @property
    def steps(self) -> int:
        """Number of completed calls that dequeued items and enqueued none."""
        return sum(self._steps.copy().values())

    def noted(self, call: Callable, fetches: Any, feeds: Any) -> Callable:
        """Wraps a call so that it is recorded, if it moves items of the queues."""
        flow = self._flow(fetches, feeds)
        if not flow.takes and not flow.puts:
            return call
        return functools.partial(self._noted, flow, call)

    def _noted(
        self, flow: Flow, function: Callable, *arguments: Any, **keywords: Any
    ) -> Any:
        """Runs a call and records it; this is the overhead of a film."""
        thread = threading.get_ident()
        who = self._named(thread, flow.puts[0]) if flow.puts else "the step"
        self.under_way[thread] = Call(who, flow)
        try:
            value = function(*arguments, **keywords)
        finally:
            self.under_way.pop(thread, None)
        self._steps[thread] += not flow.puts
        return value

    def _named(self, thread: int, queue: str) -> str:
        """Returns a descriptive thread name that contains the queue it fills."""
        if (thread, queue) not in self._names:
            with self._naming:
                number = 1 + sum(filled == queue for _, filled in self._names)
                self._names[thread, queue] = f"thread {number} of '{queue}'"
        return self._names[thread, queue]

    def _flow(self, fetches: Any, fed: Any) -> Flow:
        """Returns the items that a run moves, with a cache per set of fetches."""
        try:
            key = (_names(fetches), _names(list(fed)))
            if key not in self._flows:
                ops = ancestors(fetched_ops(self._graph, fetches), key[1])
                self._flows[key] = _flow_of(ops, self._queues)
            return self._flows[key]
        except (AttributeError, KeyError, TypeError, ValueError):
            return Flow({}, ())  # invalid fetches: TensorFlow reports them


def _names(elements: Any) -> tuple[str, ...]:
    """Returns the names of fetched or fed elements."""
    flat = tf.nest.flatten(elements, expand_composites=True)
    return tuple(element if isinstance(element, str) else element.name
                 for element in flat)


def _flow_of(ops: set[tf.Operation], queues: Collection[str]) -> Flow:
    """Returns the items that one run of the given ops moves."""
    takes: dict[str, int | None] = {op.name: None for op in queues_taken_from(ops)}
    takes |= {op.inputs[0].op.name: items_taken(op) for op in ops
              if op.type in DEQUEUES}
    puts = [op.inputs[0].op.name for op in ops if op.type in ENQUEUES]
    return Flow({name: count for name, count in takes.items() if name in queues},
                tuple(name for name in puts if name in queues))
