"""A Python thread that feeds a queue from NumPy arrays or from a generator."""

import threading
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.errors import first_line
from helpers.queues.doctor import building, filled_by, probe_queue, runners_of

_CHUNK = 64  # rows per enqueue: one run for many rows, small against most queues
_LOOK_AGAIN = 0.002  # seconds between two looks at a full queue
FEED_THREAD = "feed-"  # how the names of feeding threads begin

Source = np.ndarray | tuple[np.ndarray, ...] | Callable[[], Iterable]


def feed_queue(
    queue: tf1.QueueBase,
    source: Source,
    *,
    epochs: int | None = None,
    seed: int | None = None,
) -> "Feed":
    """Lets a Python thread fill a queue; `running_queues` starts and stops it.

    The data stays outside the graph, so its size has no limit. Every row is put in
    exactly once per epoch, whatever stops in between: the feed keeps its place, and
    the next `running_queues` on the session goes on with the next row. With
    `epochs=None` the queue stays open when the block ends, so that you can train
    again; but not when a step waits in vain for rows at that moment (a stall, Ctrl-C),
    since only closing the queue frees it. When the last of `epochs` is in, the queue
    is closed: steps drain it, then end.

    Args:
      queue: with the shape of every component given, and with no other runner.
      source: one array, or a tuple with one array per component, all
        `[rows, ...component's shape]`; or a function without arguments that
        returns a fresh iterable of items for each epoch. An item is a tuple with
        one value per component (or the value itself, where there is only one).
      epochs: how often to go through the source; None for ever.
      seed: shuffles the rows of arrays anew in every epoch; None keeps their order.

    Returns:
      The `Feed`, which is in the graph's collection of queue runners already.

    Raises:
      ValueError: the queue has no shapes or has a runner already, or the arrays are
        empty, differ in length, or do not fit the queue's components.
    """
    name = queue.queue_ref.op.name
    graph = queue.queue_ref.graph
    if any(shape.rank is None for shape in queue.shapes):
        raise ValueError(f"{name}: give the queue its `shapes`, so that rows can enter")
    if any(filled_by(r) is queue.queue_ref.op for r in runners_of(graph)):
        raise ValueError(f"{name}: the queue has a runner already; feed another queue")
    if epochs is not None and epochs < 1:
        raise ValueError(f"{name}: epochs is {epochs}; at least 1, or None for ever")
    if callable(source):
        if seed is not None:
            raise ValueError(f"{name}: a function shuffles by itself; leave out `seed`")
        chunks = _called(name, source, queue.dtypes, epochs)
    else:
        arrays = _checked(queue, source)
        capacity = queue.queue_ref.op.get_attr("capacity")
        size = _CHUNK if capacity < 0 else min(_CHUNK, capacity)
        chunks = _sliced(arrays, epochs, seed, size)
    feed = Feed(queue, chunks)
    with graph.as_default():
        tf1.train.add_queue_runner(feed)
    return feed


class Feed(tf1.train.QueueRunner):
    """A queue runner whose one thread takes its rows from Python.

    It looks whether there is room before it puts anything in, and so never blocks
    inside TensorFlow: it stops within milliseconds with the queue still open. That
    is what makes it restartable, where an ordinary runner can stop only by closing
    its queue for good.

    Attributes:
      rows: how many rows the queue has taken so far.
    """

    def __init__(self, queue: tf1.QueueBase, chunks: Iterator[list[np.ndarray]]):
        graph = queue.queue_ref.graph
        with building(graph, f"feed/{queue.queue_ref.op.name}"):
            self._inputs = [
                tf1.placeholder(dtype, tf.TensorShape([None]).concatenate(shape))
                for dtype, shape in zip(queue.dtypes, queue.shapes, strict=True)
            ]
            super().__init__(queue, [queue.enqueue_many(self._inputs)])
        self._size = probe_queue(queue.queue_ref.op)[0]
        self._capacity = queue.queue_ref.op.get_attr("capacity")
        self._chunks = chunks
        self._next: list[np.ndarray] | None = None
        self.rows = 0

    def create_threads(self, sess, coord=None, daemon=False, start=False):
        """Makes the feeding thread; called by `running_queues`.

        Args:
          sess: the session to feed.
          coord: says when to stop and hears of errors. It must be there.
          daemon: whether the thread dies with the program.
          start: whether to start it at once.

        Returns:
          A list with the thread; empty if it runs already.

        Raises:
          ValueError: there is no coordinator.
          RuntimeError: it feeds another session; a source has only one place.
        """
        if coord is None:
            raise ValueError(f"{self.name}: a feed needs a coordinator")
        with self._lock:
            if self._runs_per_session.get(sess):
                return []
            if any(self._runs_per_session.values()):
                raise RuntimeError(f"{self.name}: the feed runs in another session")
            self._runs_per_session[sess] = 1
        thread = threading.Thread(
            target=self._feed, args=(sess, coord), daemon=daemon,
            name=f"{FEED_THREAD}{self.name}",
        )
        coord.register_thread(thread)
        if start:
            thread.start()
        return [thread]

    def _feed(self, session: tf1.Session, coord: tf1.train.Coordinator) -> None:
        try:
            self._fill(session, coord)
        except Exception as error:
            if not coord.should_stop():
                coord.request_stop(error)
                session.run(self.cancel_op)  # nobody else would free the consumers
        finally:
            with self._lock:
                self._runs_per_session[session] -= 1

    def _fill(self, session: tf1.Session, coord: tf1.train.Coordinator) -> None:
        """Puts in what there is room for, and remembers what is left of a chunk.

        Waiting for room for a whole chunk could last for ever: a shuffle queue keeps
        rows back, and its consumer may wait too.
        """
        enqueue = session.make_callable(self.enqueue_ops[0], feed_list=self._inputs)
        look = session.make_callable(self._size)
        while not coord.should_stop():
            if self._next is None:
                self._next = next(self._chunks, None)
            if self._next is None:
                session.run(self.close_op)
                return
            count = len(self._next[0])
            if self._capacity >= 0:
                count = min(count, self._capacity - int(look()))
            if count <= 0:
                coord.wait_for_stop(_LOOK_AGAIN)
                continue
            enqueue(*(rows[:count] for rows in self._next))
            left = [rows[count:] for rows in self._next]
            self._next = left if len(left[0]) else None
            self.rows += count


def _checked(queue: tf1.QueueBase, source) -> list[np.ndarray]:
    """Returns the arrays in the queue's types, or says which does not fit."""
    name = queue.queue_ref.op.name
    source = source if isinstance(source, tuple) else (source,)
    arrays = [np.asarray(array) for array in source]
    if len(arrays) != len(queue.dtypes):
        raise ValueError(
            f"{name}: expected {len(queue.dtypes)} arrays, one per component, got "
            f"{len(arrays)}"
        )
    lengths = [len(array) if array.ndim else 0 for array in arrays]
    if len(set(lengths)) > 1 or not lengths[0]:
        raise ValueError(f"{name}: arrays need the same number of rows, got {lengths}")
    for i, (array, shape) in enumerate(zip(arrays, queue.shapes, strict=True)):
        if not shape.is_compatible_with(array.shape[1:]):
            raise ValueError(
                f"{name}: component {i}: expected rows of shape {shape}, got "
                f"{array.shape[1:]}"
            )
    return [
        _typed(array, dtype, f"{name}: component {i}")
        for i, (array, dtype) in enumerate(zip(arrays, queue.dtypes, strict=True))
    ]


def _typed(array: np.ndarray, dtype: tf.DType, where: str) -> np.ndarray:
    """Returns an array in a component's type, if that is of the same kind."""
    try:
        return array.astype(dtype.as_numpy_dtype, casting="same_kind", copy=False)
    except TypeError as error:
        raise ValueError(
            f"{where}: {array.dtype} values do not fit into {dtype.name}: convert them "
            "first"
        ) from error


def _sliced(arrays, epochs, seed, size) -> Iterator[list[np.ndarray]]:
    """Yields the rows of all epochs in chunks, `[chunk, ...]` per component."""
    random = np.random.default_rng(seed)
    rows = len(arrays[0])
    epoch = 0
    while epoch != epochs:
        order = np.arange(rows) if seed is None else random.permutation(rows)
        for start in range(0, rows, size):
            chosen = order[start : start + size]
            yield [array[chosen] for array in arrays]
        epoch += 1


def _called(name, source, dtypes, epochs) -> Iterator[list[np.ndarray]]:
    """Yields the items of all epochs one by one, as chunks of one row."""
    epoch = 0
    while epoch != epochs:
        items = 0
        for item in source():
            values = item if isinstance(item, tuple) else (item,)
            if len(values) != len(dtypes):
                raise ValueError(
                    f"{name}: item {items} has {len(values)} values, the queue takes "
                    f"{len(dtypes)}"
                )
            yield [
                _row(value, dtype, f"{name}: item {items}: component {i}")
                for i, (value, dtype) in enumerate(zip(values, dtypes, strict=True))
            ]
            items += 1
        if not items:
            raise ValueError(f"{name}: the source yielded nothing in epoch {epoch}")
        epoch += 1


def _row(value, dtype: tf.DType, where: str) -> np.ndarray:
    """Returns one value as a chunk of one row, if the component can hold it."""
    try:
        row = np.asarray(value, dtype.as_numpy_dtype)
        if dtype.is_integer and not np.array_equal(row, value):
            raise ValueError(f"{row} is another number")  # cut off, or wrapped around
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(
            f"{where} does not fit into {dtype.name} ({first_line(error)})"
        ) from error
    return row[np.newaxis]
