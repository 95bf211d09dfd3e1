"""The check of lesson 05c: where variables are dealt to."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.claims import answering, drawn, exercise, same


@exercise(
    "Exercise 1: deal_variables",
    "`op.type` says whether an op holds a variable, `op.device` where it would stand.",
    "begin with `dealt = itertools.count()` before the inner `def place(op):`. What is "
    "left: let `place` return a device for each op, and return `place`.",
)
def check_deal_variables(attempt):
    """Builds drawn towers under `(devices)` and reads the device of every op."""
    for rng, size in drawn(lambda *pair: pair, 12):
        holders = [f"/cpu:{k}" for k in rng.integers(0, 4, 1 + size % 4)]
        variables, towers = 1 + int(rng.integers(size, size + 2)) % 7, 1 + size % 3
        text = f"{towers} towers of {variables} variables on {holders}"
        given = list(holders)
        place = attempt(given)
        with answering(text):
            found, astray = _build(place, variables, towers)
        due = [holders[k % len(holders)] for k in range(variables)]
        yield same("the variables are dealt in turn, from the first device on", due,
                   found, text)
        yield ("every other op stays where it is", not astray,
               f"{text}: {', '.join(sorted(astray)[:3])}")
        others = [attempt(given), attempt(given)]
        with answering(text):
            dealt = [_build(one, variables, 1)[0] for one in others]
        yield same("each call begins to deal anew", [due, due], dealt, text)


def _build(place, variables, towers):
    """Returns where the variables are, and which other ops are not where they were."""
    astray = set()
    with tf.Graph().as_default():
        tf1.get_variable("before", [])
        for tower in range(towers):
            with (tf.device(f"/cpu:{tower + 1}"), tf1.device(place),
                  tf1.variable_scope("model", reuse=tower > 0)):
                for k in range(variables):
                    with tf.device("/cpu:3" if k % 3 == 2 else ""):  # dealt, too
                        kernel = tf1.get_variable(f"w_{9 - k}", [2, 3 - k % 3])
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
    return set() if found == due else {f"a {op.type} stands on {found!r}, not {due!r}"}


def _short(device: str) -> str:
    return device.lower().replace("/device:", "/")
