"""Who is in which call of a session, since when, and what the finished calls moved."""

import functools
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from helpers.graph import ancestors, fetched_ops
from helpers.queues.internals import (
    items_put,
    items_taken,
    puts_items,
    queues_taken_from,
    takes_items,
)


@dataclass(frozen=True, eq=False)
class Flow:
    """What one run of some ops moves.

    Attributes:
      takes: items by queue that one run takes; None when only the run can tell.
      puts: items by queue that one run puts in; None when only the run can tell.
    """

    takes: dict[str, int | None] = field(default_factory=dict)
    puts: dict[str, int | None] = field(default_factory=dict)

    @property
    def is_step(self) -> bool:
        """Whether this takes from queues and fills none: a step of the training."""
        return bool(self.takes) and not self.puts


class Call:
    """A call that lasts.

    Attributes:
      who: the thread that makes it, in words.
      flow: what it moves when it is done.
      start: its beginning, on the clock `time.monotonic`.
    """

    __slots__ = ("who", "flow", "start")

    def __init__(self, who: str, flow: Flow, start: float):
        self.who, self.flow, self.start = who, flow, start


@dataclass
class Tally:
    """What all finished calls have moved.

    Attributes:
      steps: how many of them were steps.
      taken: items by queue, as far as the graph says.
      put: items by queue, as far as the graph says.
      unknown: queues into which a run put what only the run could tell.
      untold: queues from which a run took what only the run could tell.
    """

    steps: int = 0
    taken: Counter[str] = field(default_factory=Counter)
    put: Counter[str] = field(default_factory=Counter)
    unknown: set[str] = field(default_factory=set)
    untold: set[str] = field(default_factory=set)

    def add(self, flow: Flow, runs: int) -> None:
        """Adds some runs of the same ops."""
        self.steps += runs * flow.is_step
        for moved, sums, without in (
            (flow.takes, self.taken, self.untold), (flow.puts, self.put, self.unknown)
        ):
            for queue, count in moved.items():
                sums[queue] += runs * (count or 0)
                if count is None:
                    without.add(queue)


class WatchedCalls:
    """Notes each call of a session while it lasts, and what the finished ones moved.

    Noting costs a call a microsecond or two; what it does stays the same. A thread
    writes under its own number only, so that no lock is needed.

    Attributes:
      under_way: the calls that last now, by the number of their thread.
    """

    def __init__(self, graph: tf.Graph, queues: Collection[str]):
        """Prepares to watch.

        Args:
          graph: of the session.
          queues: names of the queues that count; other calls are not noted.
        """
        self.under_way: dict[int, Call] = {}
        self._graph, self._queues = graph, queues
        self._done: dict[tuple[int, Flow], int] = {}
        self._flows: dict[tuple, Flow] = {}
        self._names: dict[tuple[int, Flow], str] = {}
        self._fillers: Counter[str] = Counter()
        self._naming = threading.Lock()

    def noted(self, call: Callable, fetches: Any, feeds: Any) -> Callable:
        """Returns a call that notes itself, if it moves items of the queues."""
        flow = self._flow(fetches, feeds)
        if not flow.takes and not flow.puts:
            return call
        return functools.partial(self._noted, flow, call)

    def tally(self) -> Tally:
        """Returns what the calls that are done have moved."""
        tally = Tally()
        for (_, flow), runs in self._done.copy().items():
            tally.add(flow, runs)
        return tally

    def _noted(
        self, flow: Flow, function: Callable, *arguments: Any, **keywords: Any
    ) -> Any:
        """Makes a call; notes it while it lasts, and that it is done if it ends well.

        The lines of this function are what a film costs a pipeline.
        """
        thread = threading.get_ident()
        key = thread, flow
        who = self._names.get(key) if flow.puts else "the step"
        self.under_way[thread] = Call(who or self._named(key), flow, time.monotonic())
        try:
            value = function(*arguments, **keywords)
        finally:
            self.under_way.pop(thread, None)
        self._done[key] = self._done.get(key, 0) + 1
        return value

    def _named(self, key: tuple[int, Flow]) -> str:
        """Gives a thread a name: what it fills says more than what it is called."""
        with self._naming:
            queue = next(iter(key[1].puts))
            self._fillers[queue] += 1
            self._names[key] = f"thread {self._fillers[queue]} of '{queue}'"
        return self._names[key]

    def _flow(self, fetches: Any, fed: Any) -> Flow:
        """Returns what running fetches moves; walks the graph once for each kind."""
        try:
            key = (_names(fetches), _names(list(fed)))
            if key not in self._flows:
                ops = fetched_ops(self._graph, fetches)
                self._flows[key] = _flow_of(
                    ancestors(ops, key[1]), self._queues
                )
            return self._flows[key]
        except (AttributeError, KeyError, TypeError, ValueError):
            return Flow()  # nothing to fetch: TensorFlow says it better


def _names(elements: Any) -> tuple[str, ...]:
    """Returns the names of what is fetched or fed."""
    flat = tf.nest.flatten(elements, expand_composites=True)
    return tuple(one if isinstance(one, str) else one.name for one in flat)


def _flow_of(ops: set[tf.Operation], queues: Collection[str]) -> Flow:
    """Returns what one run of ops moves: readers take names when they need one."""
    flow = Flow({op.name: None for op in queues_taken_from(ops) if op.name in queues})
    for op in ops:
        moves = takes_items(op) or puts_items(op)
        name = op.inputs[0].op.name if moves else ""
        if name in queues:
            if takes_items(op):
                flow.takes[name] = items_taken(op)
            else:
                flow.puts[name] = items_put(op)
    return flow
