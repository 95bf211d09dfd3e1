"""The checks of lesson 14: right answers of any shape, and wrong ones."""

import pytest
import tensorflow as tf

from helpers.checks.lesson_14 import check_balances, check_steps_to_one


def looped(n, choose=tf.where, goes_on=lambda n: n > 1, first=0):
    def body(n, steps):
        return choose(tf.equal(n % 2, 0), n // 2, 3 * n + 1), steps + 1

    start = [n, tf.constant(first, tf.int64)]
    return tf.while_loop(lambda n, steps: goes_on(n), body, start)[1]


def by_cond(n):
    return looped(n, lambda even, a, b: tf.cond(even, lambda: a, lambda: b))


def with_the_number_last(n):
    _, last = tf.while_loop(
        lambda steps, n: tf.not_equal(n, 1),
        lambda steps, n: (steps + 1, tf.where(n % 2 < 1, n // 2, 3 * n + 1)),
        [tf.zeros([], tf.int64), n])
    return _ + tf.zeros_like(last)


@pytest.mark.parametrize("attempt", [
    looped, by_cond, with_the_number_last,
    lambda n: looped(n, goes_on=lambda n: tf.not_equal(n, 1)),
])
def test_steps_accepts(attempt):
    report = check_steps_to_one(attempt)
    assert report, report


def unrolled(n, most=60):
    steps = tf.zeros([], tf.int64)
    for _ in range(most):
        steps += tf.cast(n > 1, tf.int64)
        n = tf.where(n > 1, tf.where(tf.equal(n % 2, 0), n // 2, 3 * n + 1), n)
    return steps


@pytest.mark.parametrize("attempt", [
    unrolled, lambda n: looped(n, first=1), lambda n: tf.cast(looped(n), tf.int32),
    lambda n: looped(n, goes_on=lambda n: n > 2), lambda n: 8,
    lambda n: looped(n, lambda even, a, b: tf.where(even, a, b - 1)),
])
def test_steps_refuses(attempt):
    assert not check_steps_to_one(attempt)


def scanned(changes):
    start = tf.zeros(tf.shape(changes)[1:])
    return tf.scan(lambda b, c: tf.nn.relu(b + c), changes, start)




@pytest.mark.parametrize("attempt", [scanned, lambda c: scanned(c) + 0.0])
def test_balances_accepts(attempt):
    report = check_balances(attempt)
    assert report, report


@pytest.mark.parametrize("attempt", [
    lambda c: tf.nn.relu(tf.cumsum(c)), tf.cumsum, lambda c: c,
    lambda c: tf.stop_gradient(scanned(c)), lambda c: scanned(c)[-1:],
    lambda c: tf.repeat(scanned(c[:, :1]), c.shape[1], 1),
])
def test_balances_refuses(attempt):
    assert not check_balances(attempt)
