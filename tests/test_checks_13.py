"""The checks of lesson 13: right answers of any shape pass, wrong ones are named."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.lesson_13 import check_first_bad, check_in_parts, check_swap

pytestmark = pytest.mark.timeout(60)


def words(report):
    return " ".join(repr(report).split())


def with_tuple(a, b):
    new_a, new_b = tf.tuple([b.read_value(), a.read_value()])
    return tf.group(a.assign(new_a), b.assign(new_b))


def with_control_edges(a, b):
    old_a, old_b = a.read_value(), b.read_value()
    with tf.control_dependencies([old_a, old_b]):
        return tf.group(a.assign(old_b), b.assign(old_a))


def in_a_chain(a, b):
    """Keeps one old value, then writes one after the other."""
    old = a.read_value()
    with tf.control_dependencies([old]):
        first = a.assign(b.read_value())
    with tf.control_dependencies([first]):
        return b.assign(old).op


@pytest.mark.parametrize("attempt", [with_tuple, with_control_edges, in_a_chain])
def test_swap_takes_right_answers(attempt):
    assert check_swap(attempt)


def one_after_the_other(a, b):
    first = a.assign(b.read_value())
    with tf.control_dependencies([first]):
        return b.assign(a.read_value()).op


def built_outside(a, b):
    first, second = a.assign(b.read_value()).op, b.assign(a.read_value()).op
    with tf.control_dependencies([a.read_value(), b.read_value()]):
        return tf.group(first, second)


@pytest.mark.parametrize(
    ("attempt", "word"),
    [(lambda a, b: [a.assign(b), b.assign(a)], "returned list"),
     (lambda a, b: tf.group(a.assign(b), b.assign(a)), "no edge says which"),
     (one_after_the_other, "a value is read after"),
     (built_outside, "no edge says which"),
     (lambda a, b: tf.group(a.assign(b)), "it runs what writes ['a']"),
     (lambda a, b: tf.no_op(), "neither variable"),
     (lambda a, b: with_tuple(a, a), "it runs what writes ['a']"),
     (lambda a, b: (with_tuple(a, b), with_tuple(a, b))[0].name, "returned str")],
)
def test_swap_names_what_is_wrong(attempt, word):
    report = check_swap(attempt)
    assert not report and word in words(report)


def needed(fetch, stop_at_floats=False):
    found, waiting = [], [fetch.op]
    while waiting:
        op = waiting.pop(0)
        if op not in found:
            found.append(op)
            waiting += [t.op for t in op.inputs
                        if t.dtype.is_floating or not stop_at_floats]
    return found


def not_finite(value):
    return not np.isfinite(value).all()


def by_walking(session, fetch, feeds, ops=needed, bad=not_finite, choose=None):
    tensors = [t for op in ops(fetch) for t in op.outputs if t.dtype.is_floating]
    values = session.run(tensors, feeds)
    wrong = {t.op.name: t.op for t, v in zip(tensors, values, strict=True) if bad(v)}
    if choose:
        return choose(list(wrong)) if wrong else None
    guilty = [name for name, op in wrong.items()
              if not any(t.op.name in wrong for t in op.inputs)]
    return guilty[0] if guilty else None


def by_one_run_each(session, fetch, feeds):
    """Goes from the front: graphs list their ops in an order that can run."""
    ops = set(needed(fetch))
    for op in session.graph.get_operations():
        for tensor in op.outputs if op in ops else []:
            if tensor.dtype.is_floating and not np.isfinite(
                    session.run(tensor, feeds)).all():
                return op.name
    return None


def by_dump(session, fetch, feeds):
    from tensorflow.python import debug as tfdbg

    from helpers.tracing import as_written

    with tempfile.TemporaryDirectory() as folder, tf1.Session(
            graph=session.graph, config=as_written()) as fresh:
        options, metadata = tf1.RunOptions(), tf1.RunMetadata()
        tfdbg.watch_graph(options, session.graph,
                          debug_urls=["file://" + Path(folder).as_posix()])
        fresh.run(fetch, feeds, options=options, run_metadata=metadata)
        dump = tfdbg.DebugDumpDir(folder, partition_graphs=metadata.partition_graphs)
        names = [d.node_name for d in dump.find(tfdbg.has_inf_or_nan)]
        return next((n for n in names if not set(dump.node_inputs(n)) & set(names)),
                    None)


@pytest.mark.parametrize("attempt", [by_walking, by_one_run_each, by_dump])
def test_first_bad_takes_right_answers(attempt):
    assert check_first_bad(attempt)


def everything(fetch):
    return fetch.graph.get_operations()


@pytest.mark.parametrize(
    ("attempt", "word"),
    [(lambda s, f, x: by_walking(s, f, x, ops=everything), "never_fed"),
     (lambda s, f, x: by_walking(s, f, x, choose=lambda bad: bad[0]), "gave 'both'"),
     (lambda s, f, x: by_walking(s, f, x, bad=lambda v: np.isnan(v).any()),
      "for the fetch hidden"),
     (lambda s, f, x: by_walking(s, f, x, ops=lambda f: needed(f, True)),
      "for the fetch large"),
     (lambda s, f, x: None if np.isfinite(s.run(f, x)).all()
      else by_walking(s, f, x), "for the fetch large"),
     (lambda s, f, x: by_walking(s, f, x) and by_walking(s, f, x) + ":0",
      "name of a tensor"),
     (lambda s, f, x: [by_walking(s, f, x)], "returned list")],
)
def test_first_bad_names_what_is_wrong(attempt, word):
    report = check_first_bad(attempt)
    assert not report and word in words(report)


def slices(rows, size):
    return [rows[first:first + size] for first in range(0, len(rows), size)]


def by_shares(run, rows, size):
    return sum(run(part) * len(part) / len(rows) for part in slices(rows, size))


def by_average(run, rows, size):
    parts = slices(rows, size)
    return np.average([run(p) for p in parts], axis=0, weights=[len(p) for p in parts])


def by_recursion(run, rows, size):
    if len(rows) <= size:
        return run(rows)
    share = size / len(rows)
    return share * run(rows[:size]) + (1 - share) * by_recursion(
        run, rows[size:], size)


@pytest.mark.parametrize("attempt", [by_shares, by_average, by_recursion])
def test_in_parts_takes_right_answers(attempt):
    assert check_in_parts(attempt)


def changes(run, rows, size):
    found = by_shares(run, rows, size)
    rows *= 2
    return found


@pytest.mark.parametrize(
    ("attempt", "word"),
    [(lambda r, x, n: np.mean([r(p) for p in slices(x, n)], axis=0),
      "last part that is smaller: equal"),
     (lambda r, x, n: sum(r(p) for p in slices(x, n)), "2.00 times"),
     (lambda r, x, n: r(x), "a part of 10 rows"),
     (lambda r, x, n: np.mean([r(x[i:i + n]) for i in range(0, len(x) - n + 1, n)],
                              axis=0), "8 rows were run"),
     (lambda r, x, n: sum(r(p) * n / len(x) for p in slices(x, n)),
      "last part that is smaller: equal"),
     (lambda r, x, n: [r(p) for p in slices(x, n)], "the shape is"),
     (changes, "is changed")],
)
def test_in_parts_names_what_is_wrong(attempt, word):
    report = check_in_parts(attempt)
    assert not report and word in words(report)


@pytest.mark.parametrize("check", [check_swap, check_first_bad, check_in_parts])
def test_two_hints_and_a_stub_that_nobody_touched(check):
    def stub(*_):
        pass

    assert "not tried yet" in repr(check(stub, hints=2))
    report = check(lambda *_: "wrong", hints=2)
    assert not report and "Hint 1" in repr(report) and "Hint 2" in repr(report)
