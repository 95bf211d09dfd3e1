"""The checks of lesson 10: wrong answers get a cross, and a word that helps."""

import numpy as np
import pytest
import tensorflow as tf

from helpers.checks.lesson_10 import check_keras_lstm_weights, check_running_mean

pytestmark = pytest.mark.timeout(60)


def lstm(order, forget):
    def attempt(kernel, bias):
        gates, biases = np.split(kernel, 4, 1), np.split(bias, 4)
        kernel = np.concatenate([gates[i] for i in order], 1)
        bias = np.concatenate([biases[i] for i in order])
        bias[5:10] += forget
        return [kernel[:3], kernel[3:], bias]

    return attempt


class Retraced(tf.Module):
    def __init__(self):
        super().__init__()
        self.total, self.count = tf.Variable(0.0), tf.Variable(0.0)

    @tf.function
    def update(self, batch):
        self.total.assign_add(tf.reduce_sum(batch))
        self.count.assign_add(tf.cast(tf.size(batch), tf.float32))
        return self.total / self.count


class Forgetful(Retraced):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def update(self, batch):
        self.total.assign_add(0.0)
        return tf.reduce_mean(batch)


@pytest.mark.parametrize(
    "check, attempt, hint",
    [
        (check_running_mean, Retraced, "input_signature"),
        (check_running_mean, Forgetful, "the means are"),
        (check_running_mean, tf.Module, "give it `def update"),
        (check_keras_lstm_weights, lstm([0, 2, 1, 3], 0.0), "is missing from the bias"),
        (check_keras_lstm_weights, lstm([0, 1, 2, 3], 1.0), "put the gates in the"),
        (check_keras_lstm_weights, lambda k, b: [k, b], "return [kernel"),
        (check_keras_lstm_weights, lambda k, b: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_wrong_answers_get_their_hint(check, attempt, hint):
    report = check(attempt)
    assert not report
    assert hint in " ".join(repr(report).split())


@pytest.mark.parametrize(
    "check, attempt",
    [
        (check_keras_lstm_weights, lstm([0, 2, 1, 3], 1.0)),
    ],
)
def test_right_answers_pass(check, attempt):
    assert check(attempt)
