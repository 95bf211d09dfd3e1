"""The checks of lesson 07: what is nearly right is refused, with a word why."""

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import towers
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
