"""The checks of lessons 01a and 01b: right answers pass, wrong ones do not."""

import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import layers
from helpers.checks.lesson_01a import check_siamese
from helpers.checks.lesson_01b import check_minimize_anywhere

AUTO = tf1.AUTO_REUSE


def embed(x, units, name="embed", **options):
    return layers.fully_connected_layer(x, units, name=name, **options)


def pair(left, right, units, mode=True, **options):
    a = embed(left, units, **options)
    with tf1.variable_scope(tf1.get_variable_scope(), reuse=mode):
        return a, embed(right, units, **options)


def squares(a, b):
    return (a - b) ** 2


def by_the_hints(left, right, units):
    a = layers.fully_connected_layer(left, units, name="embed")
    with tf1.variable_scope(tf1.get_variable_scope(), reuse=True):
        b = layers.fully_connected_layer(right, units, name="embed")
    return tf.reduce_sum((a - b) ** 2, axis=1)


def in_a_scope_of_its_own(left, right, units):
    with tf1.variable_scope("siamese", reuse=AUTO):
        return tf.reduce_sum(squares(embed(left, units), embed(right, units)), -1)


def called_once_on_both(left, right, units):
    a, b = tf.split(embed(tf.concat([left, right], 0), units), 2)
    return tf.einsum("ij,ij->i", a - b, a - b)


def norm_squared(left, right, units):
    with tf1.variable_scope(tf1.get_variable_scope(), reuse=AUTO):
        apart = embed(left, units) - embed(right, units)
    return tf.square(tf.norm(apart + 1e-9, axis=1))


def leaves_reuse_on(left, right, units):
    a = embed(left, units)
    tf1.get_variable_scope().reuse_variables()
    return tf.reduce_sum(squares(a, embed(right, units)), axis=1)


def at(mode, name=""):
    def attempt(left, right, units):
        root = tf1.VariableScope(mode, name=name)
        with tf1.variable_scope(root, reuse=mode):
            return tf.reduce_sum(squares(embed(left, units), embed(right, units)), 1)
    return attempt


RIGHT = [by_the_hints, in_a_scope_of_its_own, called_once_on_both, norm_squared]
WRONG = {
    "of the difference": lambda x, y, u: tf.reduce_sum(embed(x - y, u) ** 2, 1),
    "two layers": lambda x, y, u: tf.reduce_sum(
        squares(embed(x, u), embed(y, u, "embed_too")), 1),
    "root": lambda x, y, u: tf.sqrt(tf.reduce_sum(squares(*pair(x, y, u)), 1)),
    "relu": lambda x, y, u: tf.reduce_sum(
        squares(*pair(x, y, u, activation_fn=tf.nn.relu)), 1),
    "mean": lambda x, y, u: tf.reduce_mean(squares(*pair(x, y, u)), 1),
    "batch": lambda x, y, u: tf.reduce_sum(squares(*pair(x, y, u)), 0),
    "all": lambda x, y, u: tf.reduce_sum(squares(*pair(x, y, u))),
    "not summed": lambda x, y, u: squares(*pair(x, y, u)),
    "absolute": lambda x, y, u: tf.reduce_sum(tf.abs(tf.subtract(*pair(x, y, u))), 1),
    "name": lambda x, y, u: tf.reduce_sum(squares(*pair(x, y, u, name="layer")), 1),
    "three units": lambda x, y, u: tf.reduce_sum(squares(*pair(x, y, 3)), 1),
    "no gradient": lambda x, y, u: tf.stop_gradient(by_the_hints(x, y, u)),
    "one side": lambda x, y, u: by_the_hints(x, tf.stop_gradient(y), u),
    "reuse left on": leaves_reuse_on,
    "at the root": at(AUTO),
    "never creates": at(True),
    "a tuple": lambda x, y, u: (x, y),
}


@pytest.mark.parametrize("attempt", RIGHT)
def test_siamese_accepts(attempt):
    report = check_siamese(attempt, hints=2)
    assert report, report


@pytest.mark.parametrize("attempt", WRONG.values(), ids=WRONG)
def test_siamese_refuses(attempt):
    report = check_siamese(attempt)
    assert not report and not report.broken, report


def by_the_hint(optimizer, loss, name):
    with tf1.variable_scope(name, reuse=tf1.AUTO_REUSE):
        return optimizer.minimize(loss)


def around_the_open_scope(optimizer, loss, name):
    with (tf1.variable_scope(tf1.get_variable_scope(), reuse=AUTO),
          tf1.variable_scope(name)):
        return optimizer.minimize(loss)


def in_two_halves(optimizer, loss, name):
    pairs = optimizer.compute_gradients(loss)
    with tf1.variable_scope(name, reuse=AUTO):
        return optimizer.apply_gradients(pairs)


def by_a_scope_object(optimizer, loss, name):
    with tf1.variable_scope(tf1.VariableScope(False, name=name)):
        return optimizer.minimize(loss)


def at_the_root(optimizer, loss, name):
    with tf1.variable_scope(tf1.get_variable_scope(), reuse=AUTO):
        return optimizer.minimize(loss)


def two_steps_at_once(optimizer, loss, name):
    first = by_the_hint(optimizer, loss, name)
    with tf.control_dependencies([first]):
        return by_the_hint(optimizer, tf.identity(loss), name)


def changes_the_mode(optimizer, loss, name):
    tf1.get_variable_scope()._reuse = None
    return by_the_hint(optimizer, loss, name)


def all_variables(optimizer, loss, name):
    with tf1.variable_scope(name, reuse=AUTO):
        return optimizer.minimize(loss, var_list=tf1.global_variables("w_"))


def descent(rate):
    return tf1.train.GradientDescentOptimizer(rate)


MINIMIZE_RIGHT = [by_the_hint, around_the_open_scope, in_two_halves, by_a_scope_object]
MINIMIZE_WRONG = {
    "as it is": lambda opt, loss, name: opt.minimize(loss),
    "at the root": at_the_root,
    "another optimizer": lambda opt, loss, n: by_the_hint(descent(0.1), loss, n),
    "two steps at once": two_steps_at_once,
    "changes the mode": changes_the_mode,
    "ignores the name": lambda opt, loss, name: by_the_hint(opt, loss, "train"),
    "moves what is fixed": all_variables,
    "another loss": lambda opt, loss, name: by_the_hint(opt, 2 * loss, name),
    "gradients": lambda opt, loss, name: opt.compute_gradients(loss),
    "name of the op": lambda opt, loss, name: opt.minimize(loss, name=name),
}


@pytest.mark.parametrize("attempt", MINIMIZE_RIGHT)
def test_minimize_anywhere_accepts(attempt):
    report = check_minimize_anywhere(attempt)
    assert report, report


@pytest.mark.parametrize("attempt", MINIMIZE_WRONG.values(), ids=MINIMIZE_WRONG)
def test_minimize_anywhere_refuses(attempt):
    report = check_minimize_anywhere(attempt)
    assert not report and not report.broken, report


@pytest.mark.parametrize(("check", "lines"), [
    (check_siamese, ['a = layers.fully_connected_layer(left, units, name="embed")',
                     "with tf1.variable_scope(tf1.get_variable_scope(), reuse=True):"]),
    (check_minimize_anywhere, ["with tf1.variable_scope(name, reuse=tf1.AUTO_REUSE):"]),
])
def test_the_hints_are_the_lines_of_an_answer_accepted_above(check, lines):
    said = " ".join(repr(check(lambda *_: 0, hints=2)).split())
    assert all(line in said for line in lines) and "What is left" in said
