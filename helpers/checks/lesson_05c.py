"""Exercise check of lesson 05c: a device function that distributes variables."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.claims import answering, drawn, exercise, same


@exercise(
    "Exercise 1: deal_variables",
    "`op.type` is the type of an op, and `op.device` the device that it has so far. A "
    "device function that returns `op.device` changes nothing.",
    "Begin with `dealt = itertools.count()` before the inner `def place(op):`. What is "
    "left is to let `place` return a device for each op, and to return `place`.",
    about={
        "deals the variables in turn, beginning with the first device": (
            "Every op of the type `VarHandleOp` takes the next device, even if it has "
            "a device already. Count from 0, and begin again after the last device."),
        "leaves every other op where it is": (
            "An op that reads a variable does not hold it, so it is one of the "
            "others. For all of them, return the device that they have."),
        "begins anew with the first device in each call": (
            "Where does your counter begin? Create it inside `deal_variables`, but "
            "outside the inner function."),
    },
)
def check_deal_variables(attempt):
    """Checks that a device function places variables on devices in turn."""
    for rng, size in drawn(lambda *pair: pair, 12):
        holders = [f"/cpu:{k}" for k in rng.integers(0, 4, 1 + size % 4)]
        variables, towers = 1 + int(rng.integers(size, size + 2)) % 7, 1 + size % 3
        text = f"{towers} towers of {variables} variables on {holders}"
        given = list(holders)
        with answering(text):
            place = attempt(given)
            found, astray = _build(place, variables, towers)
        due = [holders[k % len(holders)] for k in range(variables)]
        yield same("deals the variables in turn, beginning with the first device", due,
                   found, text)
        yield ("leaves every other op where it is", not astray,
               f"{text}: {', '.join(sorted(astray)[:3])}")
        with answering(text):
            others = [attempt(given), attempt(given)]
            dealt = [_build(one, variables, 1)[0] for one in others]
        yield same("begins anew with the first device in each call", [due, due], dealt,
                   text)


def _build(place, variables, towers):
    """Builds towers; returns the devices of the variables and all misplaced ops."""
    astray = set()
    with tf.Graph().as_default():
        tf1.get_variable("before", [])
        for tower in range(towers):
            with (tf.device(f"/cpu:{tower + 1}"), tf1.device(place),
                  tf1.variable_scope("model", reuse=tower > 0)):
                for k in range(variables):
                    with tf.device("/cpu:3" if k % 3 == 2 else ""):  # dealt as well
                        kernel = tf1.get_variable(
                            f"layer_{9 - k // 2}/{'wb'[k % 2]}", [2, 3 - k % 3])
                    value = tf.matmul(tf.fill([2, 2], 1.0), kernel)
                    astray |= _astray(value.op, f"/cpu:{tower + 1}")
        with tf1.device(place):
            astray |= _astray(tf.fill(np.array([3]), 1.0).op, "")
            with tf.device("/cpu:3"):
                read = tf.raw_ops.ReadVariableOp(
                    resource=kernel.handle, dtype=tf.float32)
                for value in (tf.fill(np.array([3]), 1.0), tf.constant(1.0), read):
                    astray |= _astray(value.op, "/cpu:3")
        return [_short(v.device) for v in tf1.global_variables()[1:]], astray


def _astray(op: tf.Operation, due: str) -> set[str]:
    found = _short(op.device)
    return set() if found == due else {f"a {op.type} is on {found!r}, not on {due!r}"}


def _short(device: str) -> str:
    return device.lower().replace("/device:", "/")
