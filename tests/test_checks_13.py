"""The checks of lessons 13a and 13b: right answers of any shape, and wrong ones."""

import numpy as np
import pytest
import tensorflow as tf

from helpers.checks.lesson_13a import check_first_bad, check_swap
from helpers.checks.lesson_13b import check_clipped_on_the_way, check_in_parts


def by_tuple(a, b):
    new_a, new_b = tf.tuple([b.read_value(), a.read_value()])
    return tf.group(a.assign(new_a), b.assign(new_b))


def behind_both(a, b):
    old = [a.read_value(), b.read_value()]
    with tf.control_dependencies(old):
        return tf.group(a.assign(old[1]), b.assign(old[0]))


def one_behind_the_other(a, b):
    old_a, old_b = a.read_value(), b.read_value()
    with tf.control_dependencies([old_a, old_b]):
        first = a.assign(old_b).op
    with tf.control_dependencies([first]):
        return b.assign(old_a).op


def each_write_waits(a, b):
    old_a, old_b = a.read_value(), b.read_value()
    with tf.control_dependencies([old_a]):
        to_a = a.assign(old_b)
    with tf.control_dependencies([old_b]):
        return tf.group(to_a, b.assign(old_a))


@pytest.mark.parametrize("attempt", [by_tuple, behind_both, one_behind_the_other,
                                     each_write_waits])
def test_swap_accepts(attempt):
    report = check_swap(attempt)
    assert report, report


def chained(a, b):
    with tf.control_dependencies([a.assign(b.read_value())]):
        return b.assign(a.read_value()).op


@pytest.mark.parametrize("attempt, said", [
    (lambda a, b: tf.group(a.assign(b.read_value()), b.assign(a.read_value())),
     "no edge says"),
    (chained, "too late"), (lambda a, b: tf.group(a.assign(b)), "it runs what writes"),
    (lambda a, b: a.assign(b.read_value()), "it returned"),
    (lambda a, b: tf.group(a.assign(a), b.assign(b)), "too late"),
])
def test_swap_refuses(attempt, said):
    report = check_swap(attempt)
    assert not report and said in repr(report).replace("\n      ", " "), report


def first_bad(session, fetch, feeds, one_run=True, all_ops=False, inputs=True):
    waiting, needed = [fetch.op], []
    while waiting:
        op = waiting.pop(0)
        if op not in needed:
            needed.append(op)
            waiting += [tensor.op for tensor in op.inputs]
    ops = session.graph.get_operations() if all_ops else needed
    tensors = [t for op in ops for t in op.outputs if t.dtype == tf.float32]
    values = (session.run(tensors, feeds) if one_run
              else [session.run(tensor, feeds) for tensor in tensors])
    bad = [t.op for t, value in zip(tensors, values, strict=True)
           if not np.isfinite(value).all()]
    good = [op for op in bad if not inputs or not {t.op for t in op.inputs} & {*bad}]
    return good[0].name if good else None


def in_the_order_of_building(session, fetch, feeds):
    names = set()

    def visit(op):
        names.add(op.name)
        for tensor in op.inputs:
            if tensor.op.name not in names:
                visit(tensor.op)

    visit(fetch.op)
    ops = [op for op in session.graph.get_operations() if op.name in names]
    outputs = {op.name: [t for t in op.outputs if t.dtype.is_floating] for op in ops}
    for name, values in session.run(outputs, feeds).items():
        if any(not np.isfinite(value).all() for value in values):
            return name
    return None


@pytest.mark.parametrize("attempt", [first_bad, in_the_order_of_building])
def test_first_bad_accepts(attempt):
    report = check_first_bad(attempt)
    assert report, report


@pytest.mark.parametrize("attempt", [
    lambda *args: first_bad(*args, one_run=False),  # the lesson's own mistake
    lambda *args: first_bad(*args, all_ops=True),
    lambda *args: first_bad(*args, inputs=False),
    lambda session, fetch, feeds: "root", lambda session, fetch, feeds: None,
    lambda *args: (first_bad(*args) or "") + ":0",
])
def test_first_bad_refuses(attempt):
    assert not check_first_bad(attempt)


def in_parts(run, rows, size, weight=lambda part, rows: len(part) / len(rows)):
    parts = [rows[k:k + size] for k in range(0, len(rows), size)]
    return sum(run(part) * weight(part, rows) for part in parts)


def evenly(run, rows, size):
    parts = np.array_split(rows, -(-len(rows) // size))
    return np.average([run(part) for part in parts], 0, list(map(len, parts)))


@pytest.mark.parametrize("attempt", [
    in_parts, evenly, lambda run, rows, size: in_parts(run, rows[::-1], size),
    lambda run, rows, size: np.mean([run(rows[k:k + 1]) for k in range(len(rows))], 0),
])
def test_in_parts_accepts(attempt):
    report = check_in_parts(attempt)
    assert report, report


@pytest.mark.parametrize("attempt", [
    lambda run, rows, size: run(rows),
    lambda run, rows, size: in_parts(run, rows, size, lambda part, rows: 1),
    lambda run, rows, size: np.mean(
        [run(rows[k:k + size]) for k in range(0, len(rows), size)], 0),
    lambda run, rows, size: in_parts(run, np.unique(rows, axis=0), size),
    lambda run, rows, size: in_parts(run, rows[:len(rows) // size * size], size),
])
def test_in_parts_refuses(attempt):
    assert not check_in_parts(attempt)


def clipped(x, most, forward=tf.identity):
    @tf.custom_gradient
    def through(x):
        return forward(x), lambda above: tf.clip_by_value(above, -most, most)
    return through(x)


def by_grad(x, most):
    @tf.custom_gradient
    def through(x):
        def backward(above):
            return tf.maximum(tf.minimum(above, most), -most)
        return x + tf.zeros([], x.dtype), backward
    return through(x)


@pytest.mark.parametrize("attempt", [clipped, by_grad])
def test_clipped_accepts(attempt):
    report = check_clipped_on_the_way(attempt)
    assert report, report


@pytest.mark.parametrize("attempt", [
    lambda x, most: x, lambda x, most: tf.clip_by_value(x, -most, most),
    lambda x, most: clipped(x, 2.0), lambda x, most: tf.stop_gradient(x),
    lambda x, most: clipped(x, most, lambda v: tf.clip_by_value(v, -most, most)),
    lambda x, most: tf.custom_gradient(
        lambda v: (tf.identity(v), lambda above: tf.ones_like(above) * most))(x),
])
def test_clipped_refuses(attempt):
    assert not check_clipped_on_the_way(attempt)
