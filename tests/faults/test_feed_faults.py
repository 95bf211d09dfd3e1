"""Sources that fail, lie or hold what does not fit: every row once, or an error."""

import itertools

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.queues import feed_queue, running_queues

pytestmark = pytest.mark.usefixtures("no_thread_left")


def fed(source, *, dtype=tf.int32, shape=(), capacity=5, **options):
    """Returns a graph with a fed queue, what takes up to 2 rows of it, and the feed."""
    with tf.Graph().as_default() as graph:
        queue = tf1.FIFOQueue(capacity, [dtype], shapes=[list(shape)], name="numbers")
        value = queue.dequeue_up_to(2)
        return graph, value, feed_queue(queue, source, **options)


def all_of(graph, value, *, stall=20):
    with (
        tf1.Session(graph=graph) as session,
        running_queues(session, stall=stall) as runner,
    ):
        return list(itertools.chain(*(v.tolist() for v in runner.steps(value))))


@pytest.mark.parametrize(
    "error",
    [UnicodeDecodeError("utf-8", b"na\xefve", 2, 3, "unexpected end of data"),
     ValueError("no more paper")],
    ids=lambda error: type(error).__name__,
)
def test_an_error_of_the_sources_own_comes_out_as_it_is(error):
    def source():
        yield 1
        raise error

    graph, value, _ = fed(source)
    with pytest.raises(type(error)) as caught:
        all_of(graph, value)
    assert caught.value is error


def test_a_value_that_would_change_is_refused_by_its_place():
    graph, value, _ = fed(lambda: iter([1, 2, 256]), dtype=tf.uint8)
    with pytest.raises(ValueError, match="item 2 for queue numbers .* 256,"):
        all_of(graph, value)
    with tf.Graph().as_default():
        queue = tf.queue.FIFOQueue(5, [tf.uint8] * 2, [[], []], name="numbers")
        with pytest.raises(ValueError, match="component 1 .* queue numbers .* 300,"):
            feed_queue(queue, (np.array([1, 2]), np.array([3, 300])))
