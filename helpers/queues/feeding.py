"""Python thread that fills a queue from NumPy arrays or from a generator.

Taught in lesson 03c, "A Python thread": it looks for room before it enqueues.
"""

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.arguments import numbers, whole
from helpers.errors import first_line
from helpers.queues import rows
from helpers.queues.internals import (
    FEED_THREAD,
    building,
    busy_sessions,
    count_thread,
    probe_queue,
    queue_filled_by,
    runners_of,
)

_CHUNK = 64  # rows per enqueue, small compared with most queues
_LOOK_AGAIN = 0.002  # seconds before a full queue is checked again

Source = np.ndarray | tuple[np.ndarray, ...] | Callable[[], Iterable]


@numbers(epochs=whole(), seed=whole(0))
def feed_queue(
    queue: tf1.QueueBase,
    source: Source,
    *,
    epochs: int | None = None,
    seed: int | None = None,
) -> "Feed":
    """Fills a queue from a Python thread, with rows from arrays or a generator.

    `running_queues` starts and stops the thread. The data stays outside the graph, so
    it can be of any size. Each row is enqueued exactly once per epoch. If the thread is
    stopped, it remembers its position, and the next `running_queues` block on the same
    session continues from there.

    With `epochs=None`, the queue stays open when the block ends, so you can train
    again. There is one exception: if a step is waiting for rows at that moment, for
    example after a stall or Ctrl-C, the queue has to be closed to release the step.
    With a number of epochs, the queue is closed after the last row, and steps end when
    it is empty.

    Args:
      queue: Queue without a runner, with a known shape of every component.
      source: One array, or a tuple with one array per component, each of the shape
        `[rows, ...component's shape]`; or a function without arguments that returns a
        new iterable of items for each epoch. An item is a tuple with one value per
        component, or the value itself if there is only one component.
      epochs: Number of passes over the source, or None for endless feeding.
      seed: Seed for shuffling the rows of arrays anew in every epoch. With None, the
        rows keep their order.

    Returns:
      The `Feed`, which has already been added to the graph's queue runners.

    Raises:
      TypeError: If `epochs` is not a whole number.
      ValueError: If the queue already has a runner, or if the arrays are empty, differ
        in length, or do not fit the queue's components. A value fits if the conversion
        does not change it. Values may be rounded to a float dtype, but must remain
        finite.
    """
    op = queue.queue_ref.op
    name = op.name
    if any(queue_filled_by(runner) is op for runner in runners_of(op.graph)):
        raise ValueError(
            f"Queue {name} already has a queue runner. Pass another queue to "
            "feed_queue."
        )
    feed = Feed(queue, _chunks(queue, source, epochs, seed))
    with op.graph.as_default():
        tf1.train.add_queue_runner(feed)
    return feed


class Feed(tf1.train.QueueRunner):
    """Queue runner with one thread that takes its rows from Python.

    The thread checks that there is room before it enqueues anything, so it never blocks
    inside TensorFlow and can stop within milliseconds while the queue stays open.
    Therefore it can be restarted, whereas an ordinary runner can stop only by closing
    its queue for good.

    Attributes:
      rows: Number of rows that have been enqueued so far.
      has_ended: Whether all rows of all epochs have been enqueued and the queue is
        closed.
      failure: Error of the source, or None. After an error, the source has no more
        rows.
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
        self.has_ended = False
        self.failure: Exception | None = None

    def create_threads(
        self,
        sess: tf1.Session,
        coord: Any = None,
        daemon: bool = False,
        start: bool = False,
    ) -> list[threading.Thread]:
        """Creates the feeding thread; called by `running_queues`.

        Args:
          sess: Session to feed.
          coord: Coordinator that stops the thread and receives its errors. It is
            required.
          daemon: Whether the thread ends with the program.
          start: Whether to start the thread at once.

        Returns:
          A list with the thread, or an empty list if it is already running.

        Raises:
          RuntimeError: If the feed is running in another session, because a source has
            only one position.
        """
        busy = busy_sessions(self)
        if sess in busy:
            return []
        if busy:
            raise RuntimeError(
                f"Queue {self.name} is already being fed in another session. Stop it "
                "there first."
            )
        count_thread(self, sess, 1)
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
                with contextlib.suppress(Exception):  # the session may be closed
                    session.run(self.cancel_op)  # the only way to release the consumers
        finally:
            count_thread(self, session, 0)

    def _fill(self, session: tf1.Session, coord: tf1.train.Coordinator) -> None:
        """Enqueues as many rows as fit, and keeps the rest of a chunk.

        Waiting until a whole chunk fits could last forever, because a shuffle queue
        keeps some rows back while its consumer waits too.
        """
        if self.has_ended:
            return
        enqueue = session.make_callable(self.enqueue_ops[0], feed_list=self._inputs)
        look = session.make_callable(self._size)
        while not coord.should_stop():
            if self._next is None:
                self._next = self._taken()
            if self._next is None:
                session.run(self.close_op)
                self.has_ended = True
                return
            count = len(self._next[0])
            if self._capacity >= 0:
                count = min(count, self._capacity - int(look()))
            if count <= 0:
                coord.wait_for_stop(_LOOK_AGAIN)
                continue
            enqueue(*(component[:count] for component in self._next))
            left = [component[count:] for component in self._next]
            self._next = left if len(left[0]) else None
            self.rows += count

    def _taken(self) -> list[np.ndarray] | None:
        """Returns the next rows of the source, or None at its end."""
        if self.failure is None:
            try:
                return next(self._chunks, None)
            except BaseException as error:  # even sys.exit, which ends threads silently
                self.failure = _as_failure(queue_filled_by(self).name, error)
        raise self.failure


def _as_failure(queue: str, error: BaseException) -> Exception:
    """Returns the exception to raise if the source of a feed has failed.

    Ordinary Python errors are returned unchanged. A TensorFlow error would look like an
    error of this pipeline, and an object that is not an `Exception` would end the
    thread silently, so both are wrapped.
    """
    if isinstance(error, Exception) and not isinstance(error, tf.errors.OpError):
        return error
    text = f"{type(error).__name__}: {first_line(error)}".removesuffix(": ")
    new = RuntimeError(f"The source of queue '{queue}' failed: {text}")
    new.__cause__ = error
    return new


def _chunks(queue, source: Source, epochs, seed) -> Iterator[list[np.ndarray]]:
    """Validates a source and yields its rows in chunks that fit into the queue."""
    name = queue.queue_ref.op.name
    if isinstance(source, Iterator):
        raise ValueError(
            f"The source of queue {name} is an iterator, which can be read only once. "
            "Pass the function that creates it instead."
        )
    if callable(source):
        if seed is not None:
            raise ValueError(
                f"`seed` is not supported when the source of queue {name} is a "
                "function. Omit `seed`, or pass arrays."
            )
        return rows.called(name, source, queue.dtypes, epochs)
    arrays = rows.checked_arrays(queue, source)
    capacity = queue.queue_ref.op.get_attr("capacity")
    size = _CHUNK if capacity < 0 else min(_CHUNK, capacity)
    random = None if seed is None else np.random.default_rng(seed)
    return rows.sliced(arrays, epochs, random, size)
