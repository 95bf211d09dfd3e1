"""The checks of lessons 02a and 02b: right answers pass, wrong ones do not."""

import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import towers
from helpers.checks.lesson_02a import check_spread
from helpers.checks.lesson_02b import check_side_by_side


def spread(x, nodes, devices, *, home=None, multiply=tf.matmul, cut=tf.split,
           join=tf.concat, work=None, join_on=None):
    """The answer of the hints, with one part of it replaced."""
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


def a_kernel_each(x, nodes, devices):
    products = []
    for n, piece in enumerate(tf.split(x, len(devices))):
        with tf.device(devices[n]):
            kernel = tf1.get_variable(f"kernel_{n}", [x.shape[1], nodes])
            products.append(piece @ kernel)
    return tf.concat(products, 0)


def slices_after(x, nodes, devices):
    """Multiplies the whole batch on every device, and takes a slice of each result."""
    whole = spread(x, nodes, devices, cut=lambda x, n: [x] * n, join=lambda p, axis: p)
    size = x.shape[0] // len(devices)
    with tf.device(devices[0]):
        return tf.concat(
            [p[n * size : (n + 1) * size] for n, p in enumerate(whole)], 0)


def with_part(**parts):
    return lambda x, nodes, devices: spread(x, nodes, devices, **parts)


SPREAD_RIGHT = [
    spread, by_index, with_part(multiply=lambda a, b: tf.einsum("ij,jk->ik", a, b)),
    with_part(multiply=lambda a, b: tf.tensordot(a, b, 1)),
]
SPREAD_WRONG = {
    "kernel on cpu:0": with_part(home="/cpu:0"),
    "devices written out": lambda x, n, d: spread(
        x, n, [f"/cpu:{i}" for i in range(len(d))]),
    "four slices": lambda x, n, d: spread(x, n, [*d, *d][:4]),
    "slices after": slices_after,
    "backwards": with_part(join=lambda p, axis: tf.concat(p[::-1], 0)),
    "join elsewhere": lambda x, n, d: spread(x, n, d, join_on=d[-1]),
    "one device works": lambda x, n, d: spread(x, n, d, work=[d[0]] * len(d)),
    "side by side": with_part(join=lambda p, axis: tf.concat(p, 1)),
    "doubled": with_part(multiply=lambda a, b: 2 * (a @ b)),
    "no gradient": with_part(multiply=lambda a, b: a @ tf.stop_gradient(b)),
    "a kernel each": a_kernel_each,
    "nodes ignored": lambda x, n, d: spread(x, 3, d),
}


def side_by_side(x, depth, devices, *, home=None, wait=False, start=None):
    """The answer of the hints, with one part of it replaced."""
    results = []
    for index, device in enumerate(devices):
        with tf.device(device), tf1.variable_scope(f"chain_{index}"):
            with tf.device(home or device):
                w = tf1.get_variable("w", [x.shape[-1], x.shape[-1]])
            y = x
            with tf.control_dependencies(results[-1:] if wait else []):
                for _ in range(depth):
                    y = y @ w
            results.append(y)
    return results


def starting_from_w(x, depth, devices):
    results = []
    for index, device in enumerate(devices):
        with tf.device(device), tf1.variable_scope(f"chain_{index}"):
            w = tf1.get_variable("w", [x.shape[-1], x.shape[-1]])
            y = tf.matmul(x, w)
            for _ in range(depth - 1):
                y = tf.matmul(y, w)
            results.append(y)
    return tuple(results)


def variables_first(x, depth, devices):
    size = [x.shape[1], x.shape[1]]
    weights = []
    for n, device in enumerate(devices):
        with tf.device(device), tf1.variable_scope(f"chain_{n}"):
            weights.append(tf.convert_to_tensor(tf1.get_variable("w", size)))
    ends = [x] * len(devices)
    for _ in range(depth):
        for n, device in enumerate(devices):
            with tf.device(device):
                ends[n] = ends[n] @ weights[n]
    return ends


def alternating(x, depth, devices):
    """Every second product is on the next device."""
    results = []
    for index, device in enumerate(devices):
        other = devices[(index + 1) % len(devices)]
        with tf.device(device), tf1.variable_scope(f"chain_{index}"):
            y, w = x, tf1.get_variable("w", [x.shape[-1], x.shape[-1]])
            for n in range(depth):
                with tf.device(other if n % 2 else device):
                    y = y @ w
            results.append(y)
    return results


SIDE_RIGHT = [side_by_side, starting_from_w, variables_first]
SIDE_WRONG = {
    "weights on cpu:0": lambda x, n, d: side_by_side(x, n, d, home="/cpu:0"),
    "one waits for the other": lambda x, n, d: side_by_side(x, n, d, wait=True),
    "one device": lambda x, n, d: side_by_side(x, n, [d[0]] * len(d)),
    "devices written out": lambda x, n, d: side_by_side(
        x, n, ["/cpu:0", "/cpu:1", "/cpu:2"][: len(d)]),
    "depth ignored": lambda x, n, d: side_by_side(x, 1, d),
    "two devices": lambda x, n, d: side_by_side(x, n, d[:2]),
    "backwards": lambda x, n, d: side_by_side(x, n, d)[::-1],
    "alternating": alternating,
    "one result": lambda x, n, d: tf.add_n(side_by_side(x, n, d)),
    "no gradient": lambda x, n, d: list(map(tf.stop_gradient, side_by_side(x, n, d))),
}


@pytest.mark.parametrize(("check", "attempt"), [
    *[(check_spread, attempt) for attempt in SPREAD_RIGHT],
    *[(check_side_by_side, attempt) for attempt in SIDE_RIGHT],
])
def test_right_answers_are_accepted(check, attempt):
    report = check(attempt)
    assert report, report


@pytest.mark.parametrize(("check", "attempt"), [
    *[pytest.param(check_spread, wrong, id=name) for name, wrong in
      SPREAD_WRONG.items()],
    *[pytest.param(check_side_by_side, wrong, id=name) for name, wrong in
      SIDE_WRONG.items()],
])
def test_wrong_answers_are_refused(check, attempt):
    report = check(attempt)
    assert not report and not report.broken, report


@pytest.mark.parametrize(("check", "lines"), [
    (check_spread, ["with tf.device(devices[0]):", "slices = tf.split(x, len(devices))",
                    'kernel = tf1.get_variable("kernel", [x.shape[-1], nodes])']),
    (check_side_by_side, ["for index, device in enumerate(devices):", "with tf.device("
                          'device), tf1.variable_scope(f"chain_{index}"):']),
])
def test_the_hints_are_the_lines_of_an_answer_accepted_above(check, lines):
    said = " ".join(repr(check(lambda *_: 0, hints=2)).split())
    assert all(line in said for line in lines) and "What is left" in said
