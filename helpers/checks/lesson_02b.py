"""Exercise check of lesson 02b: independent chains of products, one per device."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.attempts import VARIABLES
from helpers.checks.claims import answering, drawn, exercise, listed, near, same
from helpers.checks.lesson_02a import on_devices

CHAIN = "returns the result of each chain, with its gradient"


@exercise(
    "Exercise 1: side_by_side",
    "Read the graph of `When did it run?`. It has four chains on four devices, and "
    "each variable is created inside the device block.",
    "Begin with `for index, device in enumerate(devices):` and in it `with "
    'tf.device(device), tf1.variable_scope(f"chain_{index}"):`. What is left to do is '
    "to create the variable, to multiply `depth` times, beginning with x, and to "
    "return the list of the results.",
    about={
        "creates one variable `w` for each chain":
            "Each chain has a variable scope of its own, and the first is `chain_0`.",
        CHAIN: (
            "Each chain begins with x, and not with the result of another chain. "
            "Multiply exactly `depth` times, with the matrix on the right."),
        "keeps the variable and the products of a chain on its device": (
            "The device block has to be open when the variable is created, and also "
            "when the products are built."),
    },
    adds=VARIABLES, unknown=False,
)
def check_side_by_side(attempt):
    """Checks that chains of matrix products stay on their own devices."""
    for rows, depth, numbers in drawn(_chains, how_many=8):
        devices = [f"/cpu:{n}" for n in numbers]
        case = f"x of shape {rows.shape}, depth {depth}, {devices}"
        with tf.Graph().as_default() as graph:
            x = tf1.placeholder(tf.float32, [None, rows.shape[1]], name="x")
            with answering(case):
                results = attempt(x, depth, list(devices))
            made = tf1.global_variables()
            yield ("returns a list with a result for each device",
                   isinstance(results, list) and len(results) == len(devices)
                   and all(isinstance(y, tf.Tensor) for y in results),
                   f"{case}: it returned {results!r}.")
            side = (rows.shape[1],) * 2
            found = sorted((v.op.name, tuple(v.shape)) for v in made)
            due = [(f"chain_{n}/w", side) for n in range(len(devices))]
            yield same("creates one variable `w` for each chain", due, found, case)
            with answering(f"{case}, each chain asked for `w`, with reuse"):
                made = [_again(f"chain_{n}") for n in range(len(devices))]
        weights = [np.random.default_rng([n, depth]).normal(size=side)
                   / np.sqrt(rows.shape[1]) for n in range(len(devices))]
        with answering(case):
            found, found_slopes, placed, sent, _ = on_devices(
                made, weights, [*results], {x: rows})
        for k, w in enumerate(weights):
            product, slope = _chain(rows, w, depth)
            where = f"{case}, chain {k}"
            yield near(CHAIN, product, found[k], f"{where} with w {listed(w, 3)}",
                       1e-3, 1e-3)
            yield near(CHAIN, slope, found_slopes[k],
                       f"{where}, gradient of the sum by w", 1e-3, 1e-3)
        outputs = {op.name: f"product {op.outputs[0].shape}"
                   for op in graph.get_operations() if op.type == "MatMul"}
        outputs |= {w.op.name: w.op.name for w in made}
        ops = sorted((device, outputs[op]) for op, device in placed.items()
                     if op in outputs)
        due = sorted([(f"CPU:{n}", f"product (None, {rows.shape[1]})")
                      for n in numbers] * depth
                     + [(f"CPU:{n}", f"chain_{k}/w") for k, n in enumerate(numbers)])
        yield same("keeps the variable and the products of a chain on its device",
                   due, ops, case)
        ends = {y.op.name for y in results}
        astray = [tuple(row) for row in sent
                  if row.tensor != "x" and (row.tensor not in ends
                                            or row.target != "CPU:0")]
        yield ("sends only x and the results", not astray,
               f"{case}: it also sent {astray}.")


def _again(scope):
    with tf1.variable_scope(scope, reuse=True):
        return tf1.get_variable("w")


def _chains(rng, size):
    devices = rng.permutation(4)[: 2 + size % 2].tolist()
    shape = tuple(rng.integers(1, 2 + size, 2))
    return rng.integers(-2, 3, shape).astype(np.float32), 1 + size % 4, devices


def _chain(rows, w, depth):
    """Computes the product of `rows` with `depth` copies of `w`, and its gradient."""
    power = [np.linalg.matrix_power(w, n) for n in range(depth + 1)]
    terms = [(rows @ power[n]).T @ np.ones_like(rows) @ power[depth - 1 - n].T
             for n in range(depth)]
    return rows @ power[depth], sum(terms)
