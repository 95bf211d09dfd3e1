"""Figures of lesson 03a: queue ops by queue state, and the fate of the last items."""

import itertools

import tensorflow as tf
import tensorflow.compat.v1 as tf1
from matplotlib.figure import Figure

from helpers import svg
from helpers.explore import Frame
from helpers.plots import sheet, tank

SIZE = (664, 84)  # of a frame
ITEMS = 99
SOON = tf1.RunOptions(timeout_in_ms=300)
OPS = ("enqueue", "dequeue", "dequeue_many(3)", "dequeue_up_to(3)")
STATES = list(itertools.product([False, True], [0, 2, 4]))  # closed, items of 4


def outcome(op: str, closed: bool, held: int) -> str:
    """Returns the outcome of one queue op on a queue with a capacity of four.

    Args:
      op: Name of the op, one of `OPS`.
      closed: Whether the queue has been closed.
      held: Number of items in the queue.

    Returns:
      `goes on`, `waits`, or the name of the error without the word `Error`.

    Taught in lesson 03a, 'The basic rule'.
    """
    name, _, count = op.rstrip(")").partition("(")
    with tf.Graph().as_default() as graph:
        queue = tf1.FIFOQueue(4, [tf.int32], [[]])
        fill, close = queue.enqueue_many([tf.range(held)]), queue.close()
        tried = (queue.dequeue() if name == "dequeue"
                 else getattr(queue, name)(int(count or 9)))
    with tf1.Session(graph=graph) as session:
        session.run(fill)
        if closed:
            session.run(close)
        try:
            session.run(tried, options=SOON)
        except tf.errors.DeadlineExceededError:
            return "waits"
        except (tf.errors.OutOfRangeError, tf.errors.CancelledError) as error:
            return type(error).__name__.removesuffix("Error")
    return "goes on"


def draw_states(found: dict[tuple[bool, int], list[str]], title: str) -> Figure:
    """Draws each state of a queue, with the outcome of every op below it.

    Args:
      found: Outcome of each of `OPS`, for each of `STATES`.
      title: Title of the figure.
    """
    fig, ax = sheet(8.4, 2.3)
    for y, op in enumerate(OPS):
        ax.text(0, 1.1 - 0.3 * y, op)
    for x, ((closed, held), words) in enumerate(found.items()):
        left = 1.35 + 1.18 * x
        tank(ax, left, 1.4, held, 4, "closed" if closed else "open", closed=closed)
        for y, word in enumerate(words):
            ax.text(left, 1.1 - 0.3 * y, word,
                    fontweight="bold" if word == "waits" else "normal")
    ax.set_title(title)
    return fig


def take_until_the_end(
    queue: str, takes: str, then: str
) -> tuple[list[list[int]], int, str]:
    """Dequeues batches until the queue is exhausted or the op blocks.

    Args:
      queue: `"FIFO"`, or anything else for a `RandomShuffleQueue` that keeps 20 items.
      takes: `"dequeue_many(10)"` or `"dequeue_up_to(10)"`, with any number.
      then: `"closed"` to close the full queue, or anything else to leave it open.

    Returns:
      The batches, the number of items that are left in the queue, and the name of the
      last error.

    Taught in lesson 03a, 'The last batch'.
    """
    name, count = takes.rstrip(")").split("(")
    with tf.Graph().as_default() as graph:
        items = (tf1.FIFOQueue(ITEMS, [tf.int32], [[]]) if queue == "FIFO" else
                 tf1.RandomShuffleQueue(ITEMS, 20, [tf.int32], [[]], seed=7))
        take, size = getattr(items, name)(int(count)), items.size()
        fill, close = items.enqueue_many([tf.range(ITEMS)]), items.close()
    batches: list[list[int]] = []
    with tf1.Session(graph=graph) as session:
        session.run(fill)
        if then == "closed":
            session.run(close)
        try:
            while True:
                batches.append(session.run(take, options=SOON).tolist())
        except (tf.errors.OutOfRangeError, tf.errors.DeadlineExceededError) as error:
            return batches, session.run(size), type(error).__name__


def take_frame(queue: str, takes: str, then: str) -> Frame:
    """Draws the fate of each queue item: delivered, left in the queue, or lost.

    Delivered items are filled squares, items left in the queue are hollow, and lost
    ones are red.

    The arguments are those of `take_until_the_end`.
    """
    batches, inside, end = take_until_the_end(queue, takes, then)
    lost = ITEMS - sum(map(len, batches)) - inside
    kinds = ["ac"[n % 2] for n, items in enumerate(batches) for _ in items]
    kinds += ["soft"] * inside + ["bad"] * lost
    hollow = {"fill": "none", "stroke": "currentColor"}
    squares = [svg.box(4 + 20 * (k % 33), 4 + 26 * (k // 33), 16, 20, css,
                       **hollow if css == "soft" else {})
               for k, css in enumerate(kinds)]
    return Frame(squares, f"{ITEMS - inside - lost} items arrived in {len(batches)} "
                          f"batches, {inside} stayed inside, and {lost} are lost. "
                          f"The last call raised {end}.")
