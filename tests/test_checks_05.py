"""The checks of lessons 05a and 05b: right answers pass, wrong ones are refused."""

import inspect
import itertools

import numpy as np
import pytest
import tensorflow as tf

from helpers import towers
from helpers.checks.lesson_05a import check_process_gradient_list, check_tower_spread
from helpers.checks.lesson_05b import check_deal_variables


def refused(check, attempt, claim):
    """Whether the check stops at a claim of the answer, not of its own."""
    report = check(attempt)
    assert not report and not report.broken
    assert claim in report.claims[-1][0], report


def by_count(devices):
    dealt = itertools.count()

    def place(op):
        if op.type == "VarHandleOp":
            return devices[next(dealt) % len(devices)]
        return op.device
    return place


class ByClass:
    def __init__(self, devices):
        self.devices, self.seen = devices, []

    def __call__(self, op):
        if op.type != "VarHandleOp":
            return op.device
        self.seen.append(op.name)
        return self.devices[(len(self.seen) - 1) % len(self.devices)]


def by_turn(devices, kinds=("VarHandleOp",), other=lambda op: op.device):
    turn = itertools.cycle(devices)
    return lambda op: next(turn) if op.type in kinds else other(op)


@pytest.mark.parametrize("attempt", [
    by_count, by_turn, lambda devices: ByClass(devices),
])
def test_deal_variables_right(attempt):
    assert check_deal_variables(attempt)


ONE_TURN = itertools.cycle(["/cpu:2", "/cpu:0", "/cpu:3"])


@pytest.mark.parametrize("attempt, claim", [
    (lambda devices: lambda op: by_turn(devices[:1])(op), "in turn"),
    (lambda devices: by_turn(devices[1:] + devices[:1]), "in turn"),
    (lambda devices: by_turn(devices[:2]), "in turn"),
    (lambda devices: by_turn(devices, ("VarHandleOp", "MatMul")), "other op"),
    (lambda devices: lambda op: next(ONE_TURN), ""),
    (lambda devices: by_turn(devices, other=lambda op: devices[0]), "other op"),
    (lambda devices: by_turn(devices, other=lambda op: "/cpu:1"), "other op"),
    (lambda devices: by_turn(devices, other=lambda op: ""), "other op"),
    (lambda devices, made=[]: made[0] if made else made.append(by_turn(devices))
     or made[0], ""),
    (lambda devices: devices[0], "returns a function"),
])
def test_deal_variables_wrong(attempt, claim):
    refused(check_deal_variables, attempt, claim)


def average(gradient_list, weights=None, *, same=True, some=True, dense=False,
            zeros=False, share=lambda w, ws: w / sum(ws), first=False, cast=None):
    """A right average with a switch for each fault."""
    if not gradient_list:
        raise ValueError("no towers")
    weights = weights or [1] * len(gradient_list)
    averages = []
    for pairs in zip(*gradient_list, strict=same):
        gradients, variable = [g for g, _ in pairs], pairs[0][1]
        missing = [g is None for g in gradients]
        if same and any(v is not variable for _, v in pairs):
            raise ValueError("another order")
        if some and any(missing) and not all(missing):
            raise ValueError("None in some")
        if any(missing):
            averages.append((tf.zeros_like(variable) if zeros else None, variable))
            continue
        shares = [share(w, weights) for w in weights]
        if isinstance(gradients[0], tf.IndexedSlices) and not dense:
            gradients = gradients[:1] if first else gradients
            averages.append((tf.IndexedSlices(
                tf.concat([g.values * s for g, s in zip(
                    gradients, shares, strict=False)], 0),
                tf.concat([g.indices for g in gradients], 0),
                gradients[0].dense_shape), variable))
        else:
            tables = [tf.convert_to_tensor(g) for g in gradients]
            tables = [tf.cast(t, cast or t.dtype) for t in tables]
            averages.append((tf.add_n([
                t * s for t, s in zip(tables, shares, strict=True)]), variable))
    return averages


def by_helper(gradient_list, weights=None):
    return towers.process_gradient_list(gradient_list, weights)


def from_every_row(gradient_list, weights=None):
    """Sparse as a whole table in slices: no row is left out, and none counts twice."""
    return [(tf.IndexedSlices(tf.convert_to_tensor(g), tf.range(tf.shape(
        v, out_type=tf.int64)[0]), tf.shape(v)) if isinstance(g, tf.IndexedSlices)
        else g, v) for g, v in average(gradient_list, weights)]


@pytest.mark.parametrize("attempt", [
    average, by_helper, from_every_row,
    lambda gradients, weights=None: average(gradients, weights and np.array(
        weights) / 7, share=lambda w, ws: float(w / np.sum(ws))) if not isinstance(
            weights, list) else average(gradients, [w / 7 for w in weights]),
])
def test_process_gradient_list_right(attempt):
    assert check_process_gradient_list(attempt)


@pytest.mark.parametrize("switches, claim", [
    ({"same": False}, "ValueError"), ({"some": False}, "ValueError"),
    ({"dense": True}, "sparse stays"), ({"zeros": True}, "None stays"),
    ({"share": lambda w, ws: w}, "NumPy"), ({"first": True}, "NumPy"),
    ({"share": lambda w, ws: 1 / len(ws)}, "NumPy"),
    ({"cast": tf.float32}, "NumPy"),
])
def test_process_gradient_list_wrong(switches, claim):
    refused(check_process_gradient_list,
            lambda *args: average(*args, **switches), claim)


def spread(gradient_list, *, between=None, table=tf.convert_to_tensor, last=slice(None),
           rows=slice(None)):
    """A right spread with a switch for each fault."""
    distances = []
    for pairs in zip(*gradient_list, strict=True):
        if pairs[0][0] is not None:
            stacked = tf.stack([tf.convert_to_tensor(g) for g, _ in pairs])
            if table is not tf.convert_to_tensor:
                stacked = tf.stack([table(g) for g, _ in pairs])
            both = tf.reduce_max(stacked[rows], 0) - tf.reduce_min(stacked[rows], 0)
            distances.append((between or tf.reduce_max)(both))
    return tf.reduce_max(tf.stack(distances[last]))


def spread_by_numpy(gradient_list):
    tables = [[tf.convert_to_tensor(g) for g, _ in pairs]
              for pairs in zip(*gradient_list, strict=True) if pairs[0][0] is not None]
    distances = tf.numpy_function(
        lambda *flat: max(float(np.ptp(flat[k::len(tables)], axis=0).max())
                          for k in range(len(tables))),
        [t for of_one in zip(*tables, strict=True) for t in of_one], tf.float64)
    return tf.reshape(distances, [])


@pytest.mark.parametrize("attempt", [
    spread, spread_by_numpy,
    lambda lists: spread(lists, between=lambda d: tf.norm(tf.reshape(d, [-1]), np.inf)),
])
def test_tower_spread_right(attempt):
    assert check_tower_spread(attempt)


@pytest.mark.parametrize("attempt, claim", [
    (lambda lists: spread(lists, between=tf.reduce_mean), "largest distance"),
    (lambda lists: spread(lists, last=slice(1)), "largest distance"),
    (lambda lists: spread(lists, rows=slice(2)), "largest distance"),
    (lambda lists: spread(lists, table=lambda g: g.values[:1] if isinstance(
        g, tf.IndexedSlices) else g), "largest distance"),
    (lambda lists: spread(lists)[None], "scalar"),
    (lambda lists: spread(lists) + 1e-7, "exactly 0"),
])
def test_tower_spread_wrong(attempt, claim):
    refused(check_tower_spread, attempt, claim)


@pytest.mark.parametrize("check, attempt, lines", [
    (check_deal_variables, by_count, ["dealt = itertools.count()", "def place(op)"]),
    (check_process_gradient_list, average, ["[g for g, _ in pairs]"]),
    (check_tower_spread, spread,
     ["stacked = tf.stack([tf.convert_to_tensor(g) for g, _ in pairs])"]),
])
def test_an_answer_that_begins_as_the_last_hint_says_is_accepted(check, attempt, lines):
    report = check(attempt, hints=2)
    for line in lines:
        assert line in report.steps[-1] and line in inspect.getsource(attempt)
    assert report
