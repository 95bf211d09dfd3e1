"""The checks of lessons 05 and 07: what is nearly right is refused, with a hint."""

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import towers
from helpers.checks.lesson_05 import (
    check_column_loss,
    check_process_gradient_list,
    check_tower_spread,
)
from helpers.checks.lesson_07 import (
    check_rate_after,
    check_train_op,
    check_with_updates,
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


def train_op(optimizer, results, step, *, checked=True):
    losses, gradients = zip(*results, strict=True)
    averaged = towers.process_gradient_list(
        gradients, losses=losses if checked else None
    )
    return optimizer.apply_gradients(averaged, global_step=step)


def test_train_op_must_check_the_losses():
    assert check_train_op(train_op)
    text, hint = last(check_train_op(
        lambda *arguments: train_op(*arguments, checked=False)))
    assert text == "refuses a NaN loss, though all gradients are finite"
    assert "losses=losses" in hint


def with_updates(train, tower="tower_0", end="/"):
    return tf.group(train, *tf1.get_collection(
        tf1.GraphKeys.UPDATE_OPS, scope=tower + end))


def test_with_updates_must_end_the_scope():
    assert check_with_updates(with_updates)
    text, hint = last(check_with_updates(
        lambda train, tower: with_updates(train, tower, end="")))
    assert text == "and of no other tower" and "slash" in hint
    _, hint = last(check_with_updates(
        lambda train, tower: with_updates(train, "tower_", end="")))
    assert "filter the collection" in hint


def rate_after(accuracies, rate=0.01, patience=3):
    best, since = -np.inf, 0
    for accuracy in accuracies:
        since = 0 if accuracy > best else since + 1
        best = max(best, accuracy)
        if since == patience:
            rate, since = rate / 10, 0
    return rate


def undone_by_a_new_best(accuracies, rate=0.01, patience=3):
    since = len(accuracies) - 1 - int(np.argmax(accuracies)) if accuracies else 0
    return rate / 10 ** (since // patience)


def test_a_cut_lasts():
    assert check_rate_after(rate_after)
    text, _ = last(check_rate_after(undone_by_a_new_best))
    assert text == "after [0.5, 0.4, 0.4, 0.4, 0.6, 0.5]"


@pytest.mark.parametrize("check", [
    check_column_loss, check_process_gradient_list, check_tower_spread,
    check_train_op, check_with_updates, check_rate_after,
])
def test_an_untouched_stub_gets_a_start(check):
    assert "Start here" in repr(check(lambda *arguments, **options: None))
