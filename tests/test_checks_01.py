"""The checks of lesson 01: right answers of any shape pass, wrong ones are named."""

import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import layers
from helpers.checks.lesson_01 import check_minimize_anywhere, check_siamese


def embed(x, units, name="embed", **options):
    return layers.fully_connected_layer(x, units, name=name, **options)


def pair(left, right, units, reuse=True, **options):
    """Returns both results, the second call in the scope around with that mode."""
    a = embed(left, units, **options)
    with tf1.variable_scope(tf1.get_variable_scope(), reuse=reuse):
        return a, embed(right, units, **options)


def squares(a, b):
    return (a - b) ** 2


def in_one_auto_scope(left, right, units):
    with tf1.variable_scope(tf1.get_variable_scope(), reuse=tf1.AUTO_REUSE):
        a, b = embed(left, units), embed(right, units)
    return tf.reduce_sum(squares(a, b), 1)


def in_a_scope_of_its_own(left, right, units):
    with tf1.variable_scope("siamese", reuse=tf1.AUTO_REUSE):
        return tf.reduce_sum(squares(embed(left, units), embed(right, units)), -1)


def called_once_on_both(left, right, units):
    both = embed(tf.concat([left, right], 0), units)
    a, b = tf.split(both, 2)
    return tf.einsum("ij,ij->i", a - b, a - b)


def with_reuse_true(left, right, units):
    return tf.reduce_sum(tf.square(tf.subtract(*pair(left, right, units))), axis=1)


@pytest.mark.parametrize(
    "attempt",
    [in_one_auto_scope, in_a_scope_of_its_own, called_once_on_both, with_reuse_true],
)
def test_siamese_accepts(attempt):
    report = check_siamese(attempt)
    assert report, report


def leaves_reuse_on(left, right, units):
    a = embed(left, units)
    tf1.get_variable_scope().reuse_variables()
    return tf.reduce_sum(squares(a, embed(right, units)), axis=1)


def always_at_the_root(left, right, units):
    root = tf1.VariableScope(tf1.AUTO_REUSE, name="")
    with tf1.variable_scope(root, reuse=tf1.AUTO_REUSE):
        a, b = embed(left, units), embed(right, units)
    return tf.reduce_sum(squares(a, b), axis=1)


def reuses_before_it_creates(left, right, units):
    with tf1.variable_scope(tf1.get_variable_scope(), reuse=True):
        a, b = embed(left, units), embed(right, units)
    return tf.reduce_sum(squares(a, b), axis=1)


@pytest.mark.parametrize(
    "attempt, fault",
    [
        (lambda x, y, u: tf.reduce_sum(embed(x - y, u) ** 2, 1), "layer of the diff"),
        (lambda x, y, u: tf.reduce_sum(
            squares(embed(x, u), embed(y, u, "embed_too")), 1), "share one layer"),
        (lambda x, y, u: tf.sqrt(tf.reduce_sum(squares(*pair(x, y, u)), 1)),
         "square root"),
        (lambda x, y, u: tf.reduce_sum(
            squares(*pair(x, y, u, activation_fn=tf.nn.relu)), 1), "activation"),
        (lambda x, y, u: tf.reduce_mean(squares(*pair(x, y, u)), 1), "a mean"),
        (lambda x, y, u: tf.reduce_sum(squares(*pair(x, y, u)), 0), "over the batch"),
        (lambda x, y, u: tf.reduce_sum(squares(*pair(x, y, u))), "shape is ()"),
        (lambda x, y, u: squares(*pair(x, y, u)), "over the units"),
        (lambda x, y, u: tf.reduce_sum(tf.abs(tf.subtract(*pair(x, y, u))), 1),
         "absolute"),
        (lambda x, y, u: tf.reduce_sum(squares(*pair(x, y, u, name="layer")), 1),
         "layer/kernel"),
        (leaves_reuse_on, "still on"),
        (always_at_the_root, "caller's scope is lost"),
        (reuses_before_it_creates, "does not exist"),
        (lambda x, y, u: (x, y), "tuple"),
    ],
)
def test_siamese_names_the_fault(attempt, fault):
    refused(check_siamese(attempt), fault)


def refused(report, fault):
    assert not report
    assert fault in " ".join(repr(report).split())


def in_auto_reuse(optimizer, loss, name):
    with tf1.variable_scope(name, reuse=tf1.AUTO_REUSE):
        return optimizer.minimize(loss)


def around_the_scope_that_is_open(optimizer, loss, name):
    here = tf1.get_variable_scope()
    with (tf1.variable_scope(here, reuse=tf1.AUTO_REUSE), tf1.variable_scope(name)):
        return optimizer.minimize(loss)


def in_two_halves(optimizer, loss, name):
    pairs = optimizer.compute_gradients(loss)
    with tf1.variable_scope(name, reuse=tf1.AUTO_REUSE):
        return optimizer.apply_gradients(pairs)


def by_a_scope_object(optimizer, loss, name):
    """Never reuses: a scope object brings a mode of its own along."""
    with tf1.variable_scope(tf1.VariableScope(False, name=name)):
        return optimizer.minimize(loss)


@pytest.mark.parametrize(
    "attempt",
    [in_auto_reuse, around_the_scope_that_is_open, in_two_halves, by_a_scope_object],
)
def test_minimize_anywhere_accepts(attempt):
    report = check_minimize_anywhere(attempt)
    assert report, report


def at_the_root(optimizer, loss, name):
    with tf1.variable_scope(tf1.get_variable_scope(), reuse=tf1.AUTO_REUSE):
        return optimizer.minimize(loss)


def descends(optimizer, loss, name):
    with tf1.variable_scope(name, reuse=tf1.AUTO_REUSE):
        return tf1.train.GradientDescentOptimizer(0.1).minimize(loss)


def two_steps_at_once(optimizer, loss, name):
    with tf1.variable_scope(name, reuse=tf1.AUTO_REUSE):
        first = optimizer.minimize(loss)
        with tf.control_dependencies([first]):
            return optimizer.minimize(tf.identity(loss))


def changes_the_mode(optimizer, loss, name):
    tf1.get_variable_scope()._reuse = False
    with tf1.variable_scope(name, reuse=tf1.AUTO_REUSE):
        return optimizer.minimize(loss)


def ignores_the_name(optimizer, loss, name):
    with tf1.variable_scope("train", reuse=tf1.AUTO_REUSE):
        return optimizer.minimize(loss)


def returns_the_gradients(optimizer, loss, name):
    with tf1.variable_scope(name, reuse=tf1.AUTO_REUSE):
        return optimizer.compute_gradients(loss)


@pytest.mark.parametrize(
    "attempt, fault",
    [
        (lambda opt, loss, name: opt.minimize(loss), "not in the scope `train_a`"),
        (at_the_root, "not in the scope `train_a`"),
        (descends, "optimizer that was given"),
        (two_steps_at_once, "one step at a time"),
        (changes_the_mode, "scope has changed"),
        (ignores_the_name, "not in the scope `train_a`"),
        (returns_the_gradients, "it returned list"),
        (lambda opt, loss, name: opt.minimize(loss, name=name), "Momentum"),
    ],
)
def test_minimize_anywhere_names_the_fault(attempt, fault):
    refused(check_minimize_anywhere(attempt), fault)


@pytest.mark.parametrize("check", [check_siamese, check_minimize_anywhere])
def test_hints_come_in_two_steps(check):
    hints = [repr(check(lambda *_: [], hints=n)) for n in range(3)]
    assert "Hint" not in hints[0]
    assert "Hint 1" in hints[1] and "Hint 2" not in hints[1]
    assert "Hint 2" in hints[2]
