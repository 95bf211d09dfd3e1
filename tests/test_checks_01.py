"""The checks of lesson 01: what is nearly right is refused by name."""

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import layers
from helpers.checks.lesson_01 import check_siamese


def stopped_at(report):
    """Returns the claim that an attempt of a reader did not meet."""
    assert not report
    return report.claims[-1][0]


def test_siamese_refuses_reuse_that_stays_on():
    def attempt(left, right, units):
        a = layers.fully_connected_layer(left, units, name="embed")
        tf1.get_variable_scope().reuse_variables()
        b = layers.fully_connected_layer(right, units, name="embed")
        return tf.reduce_sum((a - b) ** 2, axis=1)

    assert "scope as it was" in stopped_at(check_siamese(attempt))
