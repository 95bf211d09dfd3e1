"""The checks of lesson 02: right answers of any shape pass, wrong ones are named."""

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import towers
from helpers.checks.lesson_02 import check_both_busy, check_spread


def refused(report, fault):
    assert not report
    assert fault in " ".join(repr(report).split())


def spread(x, nodes, devices, *, home=None, multiply=tf.matmul, cut=tf.split,
           join=tf.concat, work=None, join_on=None):
    """The answer of the solutions, with one part of it replaced."""
    with tf.device(home or devices[0]):
        kernel = tf1.get_variable("kernel", [x.shape[-1], nodes])
        slices = cut(x, len(devices))
    products = []
    for device, piece in zip(work or devices, slices, strict=True):
        with tf.device(device):
            products.append(multiply(piece, kernel))
    with tf.device(join_on or devices[0]):
        return join(products, axis=0)


def by_index(x, nodes, devices):
    size = x.shape[0] // len(devices)
    with tf1.device(towers.variables_on(devices[0])):
        products = []
        for n, device in enumerate(devices):
            with (tf.device(device),
                  tf1.variable_scope("shared", reuse=tf1.AUTO_REUSE)):
                kernel = tf1.get_variable("kernel", [x.shape[1], nodes])
                products.append(x[n * size : (n + 1) * size] @ kernel)
    with tf.device(devices[0]):
        return tf.reshape(tf.stack(products), [-1, nodes])


def einsum(a, b):
    return tf.einsum("ij,jk->ik", a, b)


@pytest.mark.parametrize(
    "attempt",
    [
        spread,
        by_index,
        lambda x, n, d: spread(x, n, d, multiply=einsum),
        lambda x, n, d: spread(x, n, d, multiply=lambda a, b: tf.tensordot(a, b, 1)),
    ],
)
def test_spread_accepts(attempt):
    report = check_spread(attempt)
    assert report, report


def a_kernel_each(x, nodes, devices):
    products = []
    for n, piece in enumerate(tf.split(x, len(devices))):
        with tf.device(devices[n]):
            kernel = tf1.get_variable(f"kernel_{n}", [x.shape[1], nodes])
            products.append(piece @ kernel)
    return tf.concat(products, 0)


def an_unpinned_kernel(x, nodes, devices):
    kernel = tf1.get_variable("kernel", [x.shape[-1], nodes])
    products = []
    for device, piece in zip(devices, tf.split(x, len(devices)), strict=True):
        with tf.device(device):
            products.append(piece @ kernel)
    with tf.device(devices[0]):
        return tf.concat(products, 0)


def slices_after(x, nodes, devices):
    """Multiplies the whole batch on every device, and takes a slice of each result."""
    whole = spread(x, nodes, devices, cut=lambda x, n: [x] * n, join=lambda p, axis: p)
    size = x.shape[0] // len(devices)
    with tf.device(devices[0]):
        return tf.concat(
            [p[n * size : (n + 1) * size] for n, p in enumerate(whole)], 0)


HARD = ["/cpu:0", "/cpu:1", "/cpu:2", "/cpu:3"]


@pytest.mark.parametrize(
    "attempt, fault",
    [
        (lambda x, n, d: spread(x, n, d, home="/cpu:0"), "the kernel is on CPU:0"),
        (an_unpinned_kernel, "the kernel is on CPU:0"),
        (lambda x, n, d: spread(x, n, HARD), "the kernel is on CPU:0"),
        (slices_after, "products of [28] rows"),
        (lambda x, n, d: spread(x, n, d, join=lambda p, axis: tf.concat(p[::-1], 0)),
         "not in the order of the batch"),
        (lambda x, n, d: spread(x, n, d, join_on="/cpu:1"), "ran on CPU:1"),
        (lambda x, n, d: spread(x, n, d, work=[d[0]] * 4), "the products ran on"),
        (lambda x, n, d: spread(x, n, d, join=lambda p, axis: tf.concat(p, 1)),
         "the shape is (7, 12)"),
        (lambda x, n, d: spread(x, n, d, multiply=lambda a, b: 2 * (a @ b)),
         "the first row is"),
        (a_kernel_each, "kernel_0"),
    ],
)
def test_spread_names_the_fault(attempt, fault):
    refused(check_spread(attempt), fault)


def by_counting(rows, first, second):
    def busy(device):
        return {t for r in rows if r.device == device
                for t in range(r.start, r.start + r.duration)}

    return len(busy(first) & busy(second))


def by_sweeping(rows, first, second):
    edges = []
    for r in rows:
        if r.device in (first, second):
            edges += [(r.start, 1, r.device), (r.start + r.duration, -1, r.device)]
    inside, both, last = {first: 0, second: 0}, 0, 0
    for time, change, device in sorted(edges):
        both += (time - last) * (inside[first] > 0 and inside[second] > 0)
        inside[device] += change
        last = time
    return both


def with_numpy(rows, first, second):
    end = max(r.start + r.duration for r in rows)
    busy = {device: np.zeros(end, bool) for device in (first, second)}
    for r in rows:
        if r.device in busy:
            busy[r.device][r.start : r.start + r.duration] = True
    return np.sum(busy[first] & busy[second])


@pytest.mark.parametrize("attempt", [by_counting, by_sweeping, with_numpy])
def test_both_busy_accepts(attempt):
    report = check_both_busy(attempt)
    assert report, report


def pairs(rows, first, second):
    """Adds what each pair of ops shares: ops at once on one device count twice."""
    return sum(
        max(0, min(a.start + a.duration, b.start + b.duration) - max(a.start, b.start))
        for a in rows if a.device == first for b in rows if b.device == second)


def span(rows, device):
    own = [r for r in rows if r.device == device]
    if not own:
        return 0, 0
    return min(r.start for r in own), max(r.start + r.duration for r in own)


def first_to_last(rows, first, second):
    (a, b), (c, d) = span(rows, first), span(rows, second)
    return max(0, min(b, d) - max(a, c))


@pytest.mark.parametrize(
    "attempt, fault",
    [
        (pairs, "share 7; you returned 10"),
        (first_to_last, "the first device rests"),
        (lambda rows, a, b: sum(r.duration for r in rows), "added up"),
        (lambda rows, a, b: span(rows, b)[1] - span(rows, a)[0], "either worked"),
        (lambda rows, a, b: span(rows, a)[1] - span(rows, b)[0],
         "did nothing shares nothing"),
        (lambda rows, a, b: by_counting(rows, a, b) / 1000, "milliseconds"),
        (lambda rows, a, b: by_counting(rows, "CPU:0", "CPU:1"),
         "CPU:0 and CPU:2 were given"),
    ],
)
def test_both_busy_names_the_fault(attempt, fault):
    refused(check_both_busy(attempt), fault)


@pytest.mark.parametrize("check", [check_spread, check_both_busy])
def test_hints_come_in_two_steps(check):
    hints = [repr(check(lambda *_: [], hints=n)) for n in range(3)]
    assert "Hint" not in hints[0]
    assert "Hint 1" in hints[1] and "Hint 2" not in hints[1]
    assert "Hint 2" in hints[2]
