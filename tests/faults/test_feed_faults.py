"""Sources that fail, lie or hold what does not fit: every row once, or an error."""

import itertools
import sys
import threading
import time
from collections import Counter

import hypothesis
import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from hypothesis import strategies as some

from helpers.errors import DataError
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


def ended_session():
    """Runs another session's data to its end; what its last step raises."""
    with tf.Graph().as_default() as graph:
        other = tf1.FIFOQueue(3, [tf.int32], shapes=[[]], name="other")
        close, taken = other.close(), other.dequeue()
    with tf1.Session(graph=graph) as session:
        session.run(close)
        return session.run(taken)


def ended_dataset():
    with tf.Graph().as_default() as graph:
        taken = tf1.data.make_one_shot_iterator(tf.data.Dataset.range(0)).get_next()
    with tf1.Session(graph=graph) as session:
        return session.run(taken)


def cancelled():
    raise tf.errors.CancelledError(None, None, "queue '_3_other' is closed")


@pytest.mark.parametrize("epoch", [0, 1])
@pytest.mark.parametrize(
    ("fails", "name"),
    [(ended_session, "OutOfRangeError: FIFOQueue '_.*other' is closed"),
     (ended_dataset, "OutOfRangeError: End of sequence"),
     (cancelled, "CancelledError: queue")],
)
def test_another_sessions_end_is_no_end_of_the_source(fails, name, epoch):
    calls = itertools.count()

    def source():
        yield from range(3)
        time.sleep(0.2)  # the queue is empty by then
        if next(calls) == epoch:
            fails()

    graph, value, _ = fed(source, epochs=2)
    message = f"the source of queue 'numbers' failed: {name}"
    with pytest.raises(RuntimeError, match=message) as caught:
        all_of(graph, value)
    assert isinstance(caught.value.__cause__, tf.errors.OpError)


def exits():
    sys.exit("no such folder")


def interrupts():
    raise KeyboardInterrupt


def closes():
    raise GeneratorExit("closed")


@pytest.mark.parametrize(
    ("fails", "name"),
    [(exits, "SystemExit: no such folder"), (interrupts, "KeyboardInterrupt"),
     (closes, "GeneratorExit: closed")],
)
def test_a_source_that_ends_its_thread_is_heard_at_once(fails, name):
    def source():
        yield 1
        fails()

    graph, value, _ = fed(source)
    message = f"^the source of queue 'numbers' failed: {name}$"
    with pytest.raises(RuntimeError, match=message):
        all_of(graph, value, stall=60)  # the test's own limit comes soon after


@pytest.mark.parametrize(
    "error",
    [UnicodeDecodeError("utf-8", b"na\xefve", 2, 3, "unexpected end of data"),
     ValueError("no more paper"), OSError(5, "Input/output error"),
     MemoryError()],
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


class Mute(Exception):
    """Its text raises, and TensorFlow's coordinator logs the text."""

    def __str__(self):
        raise ValueError("no text")


def test_an_error_whose_text_raises_is_heard_at_once():
    def source():
        yield 1
        raise Mute

    graph, value, _ = fed(source)
    with pytest.raises(RuntimeError, match="Mute: .an error without a text") as caught:
        all_of(graph, value, stall=60)
    assert isinstance(caught.value.__cause__, Mute)


@pytest.mark.parametrize("rows_left", [True, False])
def test_a_source_that_fails_while_the_block_ends_is_heard(rows_left):
    """In that block and in the next, which asks for the rows that never came."""
    asked, ending = threading.Event(), threading.Event()
    failed = ValueError("no more paper")

    def source():
        yield from range(5 if rows_left else 4)
        asked.set()
        ending.wait(20)
        time.sleep(0.3)
        raise failed

    graph, value, feed = fed(source)
    with tf1.Session(graph=graph) as session:
        with pytest.raises(ValueError, match="paper"), running_queues(session) as first:
            got = [v.tolist() for v in first.steps(value, n=2)]
            asked.wait(20)
            ending.set()
        with (
            pytest.raises(ValueError, match="paper") as caught,
            running_queues(session, stall=20) as runner,
        ):
            got += [v.tolist() for v in runner.steps(value, n=9)]
    assert caught.value is failed and feed.failure is failed
    assert list(itertools.chain(*got)) in ([0, 1, 2, 3], [0, 1, 2, 3, 4])


REFUSED = [
    (256, tf.uint8, "256"), (2**40, tf.int32, str(2**40)), (-1, tf.uint8, "-1"),
    (np.uint64(2**63), tf.int64, str(2**63)), (2**70, tf.int64, str(2**70)),
    (1.5, tf.int32, "1.5"), (float("nan"), tf.int32, "nan"), (2, tf.bool, "2"),
    (float("nan"), tf.bool, "nan"), (1e300, tf.float32, "1e\\+300"),
    (70000, tf.float16, "70000"), (1j, tf.float32, "1j"), ("3", tf.int32, "'3'"),
    (None, tf.float32, "None"), (3, tf.string, "3"), (None, tf.string, "None"),
    (np.ma.masked, tf.float32, "masked"), (np.datetime64("NaT"), tf.int64, "None"),
]


@pytest.mark.parametrize(("item", "dtype", "said"), REFUSED)
def test_a_value_that_would_change_is_refused(item, dtype, said):
    graph, value, _ = fed(lambda: iter([item]), dtype=dtype)
    with pytest.raises(ValueError, match=f"numbers: item 0: component 0.*{said}"):
        all_of(graph, value)


@pytest.mark.parametrize(
    ("array", "dtype", "said"),
    [(np.array([3, 256], np.uint16), tf.uint8, "256"),
     (np.ma.array([1, 2], mask=[True, False]), tf.int64, "masked values"),
     (np.array([b"end\0\0", b"longer"]), tf.string, "drops zero bytes"),
     (np.array(["a", None], object), tf.string, "None")],
)
def test_an_array_is_refused_for_one_of_its_values(array, dtype, said):
    with pytest.raises(ValueError, match=f"numbers: component 0.*{said}"):
        fed(array, dtype=dtype)


@pytest.mark.parametrize(
    ("array", "dtype"),
    [(np.array([0, 255], np.uint16), tf.uint8), (np.array([True, False]), tf.uint8),
     (np.array([0.1, np.nan, np.inf]), tf.float32), (np.array([1.5]), tf.bfloat16),
     (np.array(["ab", "c"]), tf.string), ([b"end\0\0", b"\0"], tf.string),
     (np.array([b"ab\0"], object), tf.string), (np.array([b"ab", b"cd"]), tf.string)],
)
def test_what_fits_after_rounding_is_taken(array, dtype):
    graph, value, _ = fed(array, dtype=dtype, epochs=1)
    got = all_of(graph, value)
    if dtype == tf.string:
        expected = [bytes(v) if isinstance(v, bytes) else v.encode() for v in array]
    else:
        expected = np.asarray(array).astype(dtype.as_numpy_dtype).tolist()
    assert repr(got) == repr(expected)


@pytest.mark.parametrize(
    ("source", "said"),
    [(iter([1, 2]), "give the function, not the iterator"),
     ((number for number in range(3)), "give the function, not the iterator"),
     (None, "does not fit"), (np.arange(0), "same number of rows"),
     ([[1, 2], [3]], "no array of one shape"), ({"a": 1}, "does not fit")],
    ids=["iterator", "generator", "none", "empty", "ragged", "dictionary"],
)
def test_what_is_no_source_is_refused(source, said):
    with pytest.raises(ValueError, match=f"numbers: .*{said}"):
        fed(source)


class Planned(Exception):
    """What the source of a drawn case raises."""


@some.composite
def feeds(draw):
    """Draws a queue, a source of rows, and the row at which it fails, if it does."""
    rows = draw(some.integers(1, 30))
    epochs = draw(some.integers(1, 3))
    return {
        "rows": rows,
        "epochs": epochs,
        "dtype": draw(some.sampled_from([tf.int32, tf.uint8, tf.float64, tf.string])),
        "capacity": draw(some.integers(1, 20)),
        "kept": draw(some.none() | some.integers(0, 10)),
        "batch": draw(some.integers(1, 9)),
        "callable": draw(some.booleans()),
        "shuffled": draw(some.booleans()),
        "bad": draw(some.none() | some.integers(0, rows * epochs - 1)),
        "error": draw(some.sampled_from([
            Planned(), SystemExit("planned"), tf.errors.OutOfRangeError(None, None, ""),
        ])),
        "fit": draw(some.none() | some.integers(1, 5)),
    }


def drawn_graph(case):
    """Builds a drawn queue with its feed; returns the graph, a batch and the feed."""
    values = np.arange(case["rows"]).astype(str).astype(object)
    if case["dtype"] != tf.string:
        values = np.arange(case["rows"]).astype(case["dtype"].as_numpy_dtype)
    given = itertools.count()

    def source():
        for value in values:
            if next(given) == case["bad"]:
                raise case["error"]
            yield value

    with tf.Graph().as_default() as graph:
        if case["kept"] is None:
            queue = tf1.FIFOQueue(case["capacity"], [case["dtype"]], shapes=[[]])
        else:
            queue = tf1.RandomShuffleQueue(
                case["capacity"] + case["kept"], case["kept"], [case["dtype"]],
                shapes=[[]],
            )
        batch = queue.dequeue_up_to(case["batch"])
        if case["callable"]:
            feed = feed_queue(queue, source, epochs=case["epochs"])
        else:
            seed = 5 if case["shuffled"] else None
            feed = feed_queue(queue, values, epochs=case["epochs"], seed=seed)
    return graph, batch, feed


def fits(session, batch, n):
    """Yields the rows of fit after fit, until the data has ended."""
    while True:
        steps = 0
        with running_queues(session, stall=30) as runner:
            for values in runner.steps(batch, n=n):
                steps += 1
                yield [int(value) for value in values.tolist()]
        if n is None or steps < n:
            return


@hypothesis.settings(
    max_examples=60, deadline=None, derandomize=True, database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)
@hypothesis.given(feeds())
def holds_every_row_once_or_an_error(case):
    graph, batch, feed = drawn_graph(case)
    got, ended = [], False
    fails = case["callable"] and case["bad"] is not None
    with tf1.Session(graph=graph) as session:
        try:
            for values in fits(session, batch, case["fit"]):
                got += values
            ended = True
        except (Planned, RuntimeError, DataError) as error:
            # The last row came with a block's last step: the next one says so.
            ended = "has run to its end" in str(error) or "ended before" in str(error)
            assert ended or feed.failure is error, error
    assert ended != fails
    expected = dict.fromkeys(range(case["rows"]), case["epochs"])
    if not fails:
        assert Counter(got) == expected
    assert all(count <= case["epochs"] for count in Counter(got).values())


@pytest.mark.timeout(300)
def test_every_row_once_per_epoch_or_an_error(tried):
    """Generates feeds; a failing one is printed as small as it gets."""
    holds_every_row_once_or_an_error()
    tried(60)
