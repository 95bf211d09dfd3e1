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


REFUSED = [
    (256, tf.uint8, "256"), (2**40, tf.int32, str(2**40)), (-1, tf.uint8, "-1"),
    (1.5, tf.int32, "1.5"), (float("nan"), tf.int32, "nan"), (2, tf.bool, "2"),
    (1e300, tf.float32, "1e\\+300"), ("3", tf.int32, "'3'"), (3, tf.string, "3"),
    (None, tf.float32, "None"),
]


@pytest.mark.parametrize(("item", "dtype", "said"), REFUSED)
def test_a_value_that_would_change_is_refused(item, dtype, said):
    graph, value, _ = fed(lambda: iter([item]), dtype=dtype)
    with pytest.raises(ValueError, match=f"numbers: item 0: component 0.*{said}"):
        all_of(graph, value)


@pytest.mark.parametrize(
    ("array", "dtype", "said"),
    [(np.array([3, 256], np.uint16), tf.uint8, "256"),
     (np.array([b"end\0\0", b"longer"]), tf.string, "drops zero bytes"),
     (np.array(["a", None], object), tf.string, "None")],
)
def test_an_array_is_refused_for_one_of_its_values(array, dtype, said):
    with pytest.raises(ValueError, match=f"numbers: component 0.*{said}"):
        fed(array, dtype=dtype)
