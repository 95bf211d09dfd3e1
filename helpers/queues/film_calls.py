"""Who is in which call of a session, since when, and what the finished calls moved."""

import contextlib
import functools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.queues.internals import (
    ancestors,
    fetched_ops,
    items_put,
    items_taken,
    puts_items,
    queues_taken_from,
    takes_items,
)


@dataclass(frozen=True)
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


@dataclass(frozen=True, eq=False)
class Call:
    """A call that lasts.

    Attributes:
      who: the thread that makes it, in words.
      flow: what it moves when it is done.
      start: its beginning, on the clock `time.monotonic`.
    """

    who: str
    flow: Flow
    start: float


class WatchedCalls:
    """Stands between the callers of a session and its `run` and `make_callable`.

    A call costs some microseconds more; what it does stays the same. Callables that
    were made before are not seen.

    Attributes:
      under_way: the calls that last now, by the number of their thread.
      steps: how many steps have finished.
      taken: items by queue that finished calls took, as far as the graph says.
      put: items by queue that finished calls put in, as far as the graph says.
      unknown: queues into which a run put what only the run could tell.
      untold: queues from which a run took what only the run could tell.
    """

    def __init__(self, session: tf1.Session):
        self.under_way: dict[int, Call] = {}
        self.steps = 0
        self.taken: Counter[str] = Counter()
        self.put: Counter[str] = Counter()
        self.unknown: set[str] = set()
        self.untold: set[str] = set()
        self._session = session
        self._run, self._make = session.run, session.make_callable
        self._flows: dict[tuple, Flow] = {}
        self._names: dict[int, str] = {}
        self._fillers: Counter[str] = Counter()
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Begins to watch."""
        vars(self._session).update(run=self._watched_run, make_callable=self._made)

    def end(self) -> None:
        """Gives the session its own methods back."""
        for name in ("run", "make_callable"):
            vars(self._session).pop(name, None)

    def _watched_run(
        self, fetches: Any, feed_dict: dict | None = None, *others: Any, **options: Any
    ) -> Any:
        with self._noted(self._flow(fetches, feed_dict or {})):
            return self._run(fetches, feed_dict, *others, **options)

    def _made(
        self, fetches: Any, feed_list: list | None = None, *others: Any, **options: Any
    ) -> Callable:
        function = self._make(fetches, feed_list, *others, **options)
        flow = self._flow(fetches, feed_list or [])
        if not flow.takes and not flow.puts:
            return function

        @functools.wraps(function)
        def watched(*arguments: Any, **keywords: Any) -> Any:
            with self._noted(flow):
                return function(*arguments, **keywords)

        return watched

    @contextlib.contextmanager
    def _noted(self, flow: Flow) -> Iterator[None]:
        """Notes a call while it lasts, and what it moved if it ends well."""
        if not flow.takes and not flow.puts:
            yield
            return
        thread = threading.get_ident()
        outer = self.under_way.get(thread)
        self.under_way[thread] = Call(self._who(thread, flow), flow, time.monotonic())
        try:
            yield
        finally:
            self.under_way.pop(thread)
            if outer is not None:
                self.under_way[thread] = outer
        with self._lock:
            self._add(flow)

    def _add(self, flow: Flow) -> None:
        self.steps += flow.is_step
        for moved, sums, without in (
            (flow.takes, self.taken, self.untold), (flow.puts, self.put, self.unknown)
        ):
            for queue, count in moved.items():
                sums[queue] += count or 0
                if count is None:
                    without.add(queue)

    def _who(self, thread: int, flow: Flow) -> str:
        """Returns a thread's name in words: what it does counts more than its name."""
        if flow.is_step:
            return "the step"
        if thread not in self._names:
            with self._lock:
                queue = next(iter(flow.puts))
                self._fillers[queue] += 1
                self._names[thread] = f"thread {self._fillers[queue]} of '{queue}'"
        return self._names[thread]

    def _flow(self, fetches: Any, fed: Any) -> Flow:
        """Returns what running fetches moves; walks the graph once for each kind."""
        try:
            key = (_names(fetches), _names(list(fed)))
            if key not in self._flows:
                ops = fetched_ops(self._session.graph, fetches)
                self._flows[key] = _flow_of(ancestors(ops, key[1]))
            return self._flows[key]
        except (AttributeError, KeyError, TypeError, ValueError):
            return Flow()  # nothing to fetch: TensorFlow says it better


def _names(elements: Any) -> tuple[str, ...]:
    """Returns the names of what is fetched or fed."""
    flat = tf.nest.flatten(elements, expand_composites=True)
    return tuple(one if isinstance(one, str) else one.name for one in flat)


def _flow_of(ops: set[tf.Operation]) -> Flow:
    """Returns what one run of ops moves: readers take names when they need one."""
    flow = Flow({queue.name: None for queue in queues_taken_from(ops)})
    for op in ops:
        name = op.inputs[0].op.name if takes_items(op) or puts_items(op) else ""
        if takes_items(op):
            flow.takes[name] = items_taken(op)
        elif puts_items(op):
            flow.puts[name] = items_put(op)
    return flow
