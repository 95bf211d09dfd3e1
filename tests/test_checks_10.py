"""The checks of lessons 10a and 10b: right answers of every shape, wrong ones named."""

import numpy as np
import pytest
import tensorflow as tf

from helpers.checks.lesson_10a import check_running_mean
from helpers.checks.lesson_10b import check_fix, check_keras_lstm_weights

ANY = tf.TensorSpec([None], tf.float32)


class Two(tf.Module):
    def __init__(self):
        super().__init__()
        self.total, self.count = tf.Variable(0.0), tf.Variable(0.0)

    def more(self, batch):
        self.total.assign_add(tf.reduce_sum(batch))
        self.count.assign_add(tf.cast(tf.size(batch), tf.float32))
        return self.total / self.count


class Decorated(Two):
    update = tf.function(Two.more, input_signature=[ANY])


class MadeInInit(Two):
    def __init__(self):
        super().__init__()
        self.update = tf.function(self.more, input_signature=[ANY])


class Concrete(Two):
    def __init__(self):
        super().__init__()
        self.update = tf.function(self.more).get_concrete_function(ANY)


class OnlineMean(tf.Module):
    """Moves the mean itself, not a sum."""

    def __init__(self):
        super().__init__()
        self.mean, self.count = tf.Variable(0.0), tf.Variable(0, dtype=tf.int32)

    @tf.function(input_signature=[ANY])
    def update(self, batch):
        self.count.assign_add(tf.size(batch))
        change = tf.reduce_sum(batch - self.mean) / tf.cast(self.count, tf.float32)
        return self.mean.assign_add(change)


class Retraced(Two):
    update = tf.function(Two.more)


class Plain(Two):
    update = Two.more


class Forgetful(Two):
    @tf.function(input_signature=[ANY])
    def update(self, batch):
        self.total.assign_add(0.0)
        return tf.reduce_mean(batch)


class MeanOfMeans(Two):
    @tf.function(input_signature=[ANY])
    def update(self, batch):
        self.total.assign_add(tf.reduce_mean(batch))
        self.count.assign_add(1.0)
        return self.total / self.count


class Shared(tf.Module):
    total, count = tf.Variable(0.0), tf.Variable(0.0)
    update = tf.function(Two.more, input_signature=[ANY])


class CountInPython(tf.Module):
    def __init__(self):
        super().__init__()
        self.total, self.count = tf.Variable(0.0), 0.0

    def update(self, batch):
        self.total.assign_add(tf.reduce_sum(batch))
        self.count += len(batch)
        return self.total / self.count


def lstm(order=(0, 2, 1, 3), forget=1.0, bias_order=None, values=None, units=None):
    def attempt(kernel, bias):
        size = units or len(bias) // 4
        words = values or len(kernel) - size
        gates, biases = np.split(kernel, 4, 1), np.split(bias, 4)
        kernel = np.concatenate([gates[i] for i in order], 1)
        bias = np.concatenate([biases[i] for i in bias_order or order])
        bias[size:2 * size] += forget
        return [kernel[:words], kernel[words:], bias]

    return attempt


def lstm_by_reshape(kernel, bias):
    rows, units = len(kernel), len(bias) // 4
    swapped = kernel.reshape(rows, 4, units)[:, [0, 2, 1, 3]].reshape(rows, -1)
    bias = bias.reshape(4, units)[[0, 2, 1, 3]] + [[0.0], [1.0], [0.0], [0.0]]
    return swapped[:rows - units], swapped[rows - units:], bias.ravel()


def lstm_by_places(kernel, bias):
    units = bias.size // 4
    places = np.r_[:units, 2 * units:3 * units, units:2 * units, 3 * units:4 * units]
    new_bias = bias[places]
    new_bias[units:2 * units] += 1
    return list(np.split(kernel[:, places], [len(kernel) - units])) + [new_bias]


def lstm_from_the_hint(kernel, bias):
    write, candidate, forget, read = np.split(kernel, 4, axis=1)
    b_write, b_candidate, b_forget, b_read = np.split(bias, 4)
    kernel = np.concatenate([write, forget, candidate, read], 1)
    values = len(kernel) - len(bias) // 4
    return [kernel[:values], kernel[values:],
            np.concatenate([b_write, b_forget + 1, b_candidate, b_read])]


def lstm_in_place(kernel, bias):
    units = len(bias) // 4
    bias[2 * units:3 * units] += 1
    return lstm(forget=0.0)(kernel, bias)


def fix(epsilon=1e-3, scores=True, hidden=False):
    def attempt(new):
        new.epsilon = epsilon
        if scores:
            new.scores.assign(tf.transpose(new.scores))
        if hidden:
            new.hidden.assign(tf.transpose(new.hidden))

    return attempt


def fix_with_new_variables(new):
    new.scores = tf.Variable(new.scores.numpy().T)
    setattr(new, "epsilon", 0.001)  # noqa: B010


def fix_in_numpy(new):
    new.scores.assign(np.swapaxes(new.scores, 0, 1))
    new.epsilon *= 100


def fix_typed(new):
    fix(scores=False)(new)
    new.scores.assign(np.random.default_rng(7).normal(size=[6, 6]))


RIGHT = [
    *[(check_running_mean, a) for a in (Decorated, MadeInInit, Concrete, OnlineMean)],
    *[(check_keras_lstm_weights, a) for a in (
        lstm(), lstm_by_reshape, lstm_by_places, lstm_from_the_hint)],
    *[(check_fix, a) for a in (fix(), fix_with_new_variables, fix_in_numpy)],
]
WRONG = [
    (check_running_mean, Retraced, "made 2 traces"),
    (check_running_mean, Plain, "plain Python"),
    (check_running_mean, Forgetful, "after batches of"),
    (check_running_mean, MeanOfMeans, "after batches of"),
    (check_running_mean, Shared, "a new object was fed"),
    (check_running_mean, CountInPython, "goes on from another mean"),
    (check_running_mean, Two, "no `update`"),
    (check_keras_lstm_weights, lstm(forget=0.0), "is missing from the bias"),
    (check_keras_lstm_weights, lstm(forget=2.0), "twice"),
    (check_keras_lstm_weights, lstm((0, 1, 2, 3)), "are not input, forget"),
    (check_keras_lstm_weights, lstm((0, 2, 3, 1)), "are not input, forget"),
    (check_keras_lstm_weights, lstm(bias_order=(0, 1, 2, 3)), "are not input, forget"),
    (check_keras_lstm_weights, lstm(values=1), "due [("),
    (check_keras_lstm_weights, lstm(units=1), "units: "),
    (check_keras_lstm_weights, lstm_in_place, "changed in place"),
    (check_keras_lstm_weights, lambda kernel, bias: kernel, "yours 'ndarray'"),
    (check_fix, fix(epsilon=1e-5), "is still norm"),
    (check_fix, fix(scores=False), "is now scores"),
    (check_fix, fix(hidden=True), "is now hidden"),
    (check_fix, fix_typed, "is now scores"),
    (check_fix, fix(epsilon=0.00101), "is still norm"),
]


@pytest.mark.parametrize("check, attempt", RIGHT)
def test_accepts(check, attempt):
    report = check(attempt)
    assert report, report


@pytest.mark.parametrize("check, attempt, fault", WRONG)
def test_names_the_fault(check, attempt, fault):
    report = check(attempt, hints=2)
    assert not report
    assert fault in " ".join(repr(report).split())
    assert "Hint 2" in repr(report)
