"""The checks of lesson 05: right answers pass, nearly right ones are told why not."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from helpers import towers
from helpers.checks.lesson_05 import (
    check_deal_variables,
    check_process_gradient_list,
    check_tower_spread,
)


def refused(check, attempt, claim, fault):
    """Whether the check stops at a claim, with words that name the fault."""
    report = check(attempt)
    assert not report
    text, _, wrong = report.claims[-1]
    assert claim in text and fault in wrong, (text, wrong)


def by_count(devices):
    dealt = itertools.count()

    def place(op):
        if op.type == "VarHandleOp":
            return devices[next(dealt) % len(devices)]
        return op.device
    return place


def by_cycle(devices):
    turn = itertools.cycle(devices)
    return lambda op: next(turn) if op.type in (
        "VarHandleOp", "VariableV2") else op.device


class ByClass:
    def __init__(self, devices):
        self.devices, self.seen = devices, []

    def __call__(self, op):
        if op.type != "VarHandleOp":
            return op.device
        self.seen.append(op.name)
        return self.devices[(len(self.seen) - 1) % len(self.devices)]


def all_on_the_first(devices):
    return lambda op: devices[0] if op.type == "VarHandleOp" else op.device


def others_on_the_first(devices):
    turn = itertools.cycle(devices)
    return lambda op: next(turn) if op.type == "VarHandleOp" else devices[0]


def deals_every_op(devices):
    turn = itertools.cycle(devices)
    return lambda op: next(turn)


def others_as_they_are(devices):
    """The blocks around fill in what the innermost function leaves open."""
    turn = itertools.cycle(devices)
    return lambda op: next(turn) if op.type == "VarHandleOp" else ""


ONE_DEAL = itertools.count()


def deal_goes_on(devices):
    return lambda op: (devices[next(ONE_DEAL) % len(devices)]
                       if op.type == "VarHandleOp" else op.device)


def from_the_second(devices):
    turn = itertools.cycle(devices[1:] + devices[:1])
    return lambda op: next(turn) if op.type == "VarHandleOp" else op.device


def by_reads_too(devices):
    turn = itertools.cycle(devices)
    return lambda op: (next(turn) if op.type in ("VarHandleOp", "MatMul")
                       else op.device)


@pytest.mark.parametrize("attempt", [by_count, by_cycle, ByClass, others_as_they_are])
def test_deal_variables_right(attempt):
    assert check_deal_variables(lambda devices: attempt(devices))


@pytest.mark.parametrize("attempt, claim, fault", [
    (all_on_the_first, "in turn", "/cpu:2', '/cpu:2"),
    (deals_every_op, "in turn", "in turn is"),
    (from_the_second, "in turn", "['/cpu:0'"),
    (by_reads_too, "in turn", "in turn is"),
    (others_on_the_first, "other ops stay", "MatMul on /cpu:2"),
    (deal_goes_on, "a second function", "went on where"),
    (lambda devices: devices[0], "returns a function", "/cpu:2"),
])
def test_deal_variables_wrong(attempt, claim, fault):
    global ONE_DEAL
    ONE_DEAL = itertools.count()
    refused(check_deal_variables, attempt, claim, fault)


def average(gradient_list, weights=None, *, total=None, extra=True, order=True,
            zeros=False, dense=False, some=True):
    """A right average with a switch for each usual fault."""
    if not gradient_list:
        raise ValueError("no towers")
    count = len(gradient_list)
    weights = weights or [1] * count
    total = total or sum(weights)
    if extra and len({len(of_one) for of_one in gradient_list}) > 1:
        raise ValueError("other variables")
    averages = []
    for pairs in zip(*gradient_list, strict=False):
        gradients, variable = [g for g, _ in pairs], pairs[0][1]
        if order and any(v is not variable for _, v in pairs):
            raise ValueError("order")
        missing = sum(g is None for g in gradients)
        if some and 0 < missing < count:
            raise ValueError("None in some")
        if zeros:
            gradients = [tf.zeros_like(variable) if g is None else g for g in gradients]
        elif missing:
            averages.append((None, variable))
            continue
        if isinstance(gradients[0], tf.IndexedSlices) and not dense:
            averages.append((tf.IndexedSlices(
                tf.concat([g.values * w / total
                           for g, w in zip(gradients, weights, strict=True)], 0),
                tf.concat([g.indices for g in gradients], 0),
                gradients[0].dense_shape), variable))
        else:
            averages.append((sum(tf.convert_to_tensor(g) * (w / total) for g, w in
                                 zip(gradients, weights, strict=True)), variable))
    return averages


def strict_by_zip(gradient_list, weights=None):
    list(zip(*gradient_list, strict=True))
    return average(gradient_list, weights, extra=False)


def ignores_more_in_tower_1(gradient_list, weights=None):
    """The answer that the check once accepted."""
    if gradient_list and any(
            len(of_one) < len(gradient_list[0]) for of_one in gradient_list):
        raise ValueError("a variable too few")
    return average(gradient_list, weights, extra=False)


@pytest.mark.parametrize(
    "attempt", [towers.process_gradient_list, average, strict_by_zip])
def test_process_gradient_list_right(attempt):
    assert check_process_gradient_list(attempt)


@pytest.mark.parametrize("attempt, claim, fault", [
    (lambda *a: average(*a, total=1), "averages dense", "the sum"),
    (lambda *a: average(*a, zeros=True), "stays None", "Adam and momentum"),
    (lambda *a: average(*a, some=False), "in some towers", "tower 1 had None"),
    (lambda *a: average(*a, dense=True), "stay sparse", "momentum would move"),
    (lambda of_all, weights=None: average(of_all), "weights count", "the plain mean"),
    (lambda *a: average(*a, order=False), "another order", "the other way round"),
    (lambda *a: average(*a, extra=False), "too few", "left out for all"),
    (ignores_more_in_tower_1, "of tower 1 alone", "tower 1 listed one variable more"),
    (lambda of_all, weights=None: average(of_all, weights) if of_all else [],
     "an empty list", "no towers at all"),
])
def test_process_gradient_list_wrong(attempt, claim, fault):
    refused(check_process_gradient_list, attempt, claim, fault)


def spread(gradient_list, *, dense=tf.convert_to_tensor, first=False, skip=True,
           over=tf.reduce_max):
    """A right spread with a switch for each usual fault."""
    distances = []
    for pairs in zip(*gradient_list, strict=True):
        if skip and pairs[0][0] is None:
            continue
        stacked = tf.stack([dense(g) for g, _ in pairs])
        distances.append(over(tf.reduce_max(stacked, 0) - tf.reduce_min(stacked, 0)))
    return distances[0] if first else over(tf.stack(distances))


def by_pairs_of_towers(gradient_list):
    largest = tf.constant(0.0)
    for one, other in itertools.combinations(gradient_list, 2):
        for (a, _), (b, _) in zip(one, other, strict=True):
            if a is not None:
                gap = tf.convert_to_tensor(a) - tf.convert_to_tensor(b)
                largest = tf.maximum(largest, tf.reduce_max(tf.abs(gap)))
    return largest


def from_tower_0_flat(gradient_list):
    flat = tf.stack([tf.concat([tf.reshape(tf.convert_to_tensor(g), [-1])
                                for g, _ in of_one if g is not None], 0)
                     for of_one in gradient_list])
    return tf.reduce_max(tf.reduce_max(flat, 0) - tf.reduce_min(flat, 0))


def fails_on_indexed_slices(gradient_list):
    """The answer that the check once accepted."""
    gaps = [tf.reduce_max(tf.abs(a - b))
            for one, other in itertools.combinations(gradient_list, 2)
            for (a, _), (b, _) in zip(one, other, strict=True) if a is not None]
    return tf.reduce_max(tf.stack(gaps))


def deviation(gradient_list):
    return tf.reduce_max(tf.stack([
        tf.reduce_max(tf.math.reduce_std(tf.stack([g for g, _ in pairs]), 0))
        for pairs in zip(*gradient_list, strict=True) if pairs[0][0] is not None]))


@pytest.mark.parametrize("attempt", [spread, by_pairs_of_towers, from_tower_0_flat])
def test_tower_spread_right(attempt):
    assert check_tower_spread(attempt)


@pytest.mark.parametrize("attempt, claim, fault", [
    (lambda of_all: spread(of_all, first=True), "largest distance", "first variable"),
    (lambda of_all: spread(of_all, over=tf.reduce_mean), "largest distance", "a mean"),
    (deviation, "largest distance", "a standard deviation"),
    (lambda of_all: spread(of_all, over=tf.identity), "a scalar", "returned"),
    (lambda of_all: spread(of_all, skip=False), "without an error", "None"),
    (fails_on_indexed_slices, "takes IndexedSlices", "raised TypeError"),
    (lambda of_all: spread(of_all, dense=lambda g: getattr(g, "values", g)),
     "takes IndexedSlices", "3 apart"),
    (lambda of_all: float(np.float32(0)), "a scalar", "returned 0.0"),
])
def test_tower_spread_wrong(attempt, claim, fault):
    refused(check_tower_spread, attempt, claim, fault)


@pytest.mark.parametrize("check", [
    check_deal_variables, check_process_gradient_list, check_tower_spread])
def test_two_hints_and_none_unasked(check):
    def wrong(*_):
        return 3

    assert "Hint" not in repr(check(wrong))
    assert "Hint 2" in repr(check(wrong, hints=2))
