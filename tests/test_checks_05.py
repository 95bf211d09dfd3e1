"""The checks of lesson 05: what is nearly right is refused, with a word why."""

import pytest
import tensorflow as tf

from helpers import towers
from helpers.checks.lesson_05 import (
    check_column_loss,
    check_process_gradient_list,
    check_tower_spread,
)

pytestmark = pytest.mark.timeout(120)


def last(report):
    """Returns the claim that stopped a check, and its hint."""
    assert not report
    text, _, hint = report.claims[-1]
    return text, hint


def test_column_loss_does_not_broadcast_one_target():
    def known_bad_shapes(prediction, targets):
        if targets.shape.rank == 1 and targets.shape[0] != 1:
            targets = tf.reshape(targets, [-1, 1])
        targets.shape.assert_is_compatible_with([None, 1])
        return tf.reduce_mean(tf.square(prediction - targets))

    text, hint = last(check_column_loss(known_bad_shapes))
    assert "shape [1, 1]" in text and "[batch, 1]" in hint


def test_lesson_05_takes_the_helpers_average():
    assert check_process_gradient_list(towers.process_gradient_list)


def test_tower_spread_is_over_all_variables():
    def of_first_alone(gradient_list):
        stacked = tf.stack([of_one[0][0] for of_one in gradient_list])
        return tf.reduce_max(tf.reduce_max(stacked, 0) - tf.reduce_min(stacked, 0))

    text, _ = last(check_tower_spread(of_first_alone))
    assert text == "is the largest distance over all gradients"
