"""The check of lesson 02a: ops where you want them."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import tracing
from helpers.checks.attempts import VARIABLES
from helpers.checks.claims import answering, drawn, exercise, near, same, tensor

PRODUCTS = ("MatMul", "BatchMatMulV2", "Einsum")


@exercise(
    "Exercise 1: spread",
    "the first graph of `Pin ops, and prove it` pins a product to each device.",
    "begin with `with tf.device(devices[0]):` and in it `kernel = "
    'tf1.get_variable("kernel", [x.shape[-1], nodes])`. What is left: cut the batch, a '
    "product on each device, and `tf.concat` on the first.",
    adds=VARIABLES,
)
def check_spread(attempt):
    """Runs `(x, nodes, devices)` on drawn devices, and reads the placement."""
    for batch, nodes, numbers in drawn(_batch, how_many=10):
        devices = [f"/cpu:{n}" for n in numbers]
        case = f"x of shape {batch.shape}, {nodes} nodes, {devices}"
        with tf.Graph().as_default():
            x = tf1.placeholder(tf.float32, batch.shape, name="x")
            joined = attempt(x, nodes, list(devices))
            made = tf1.global_variables()
        yield tensor("returns a float32 tensor", tf.float32, joined, case)
        found = [(v.op.name.split("/")[-1], tuple(v.shape)) for v in made]
        due = [("kernel", (batch.shape[1], nodes))]
        yield same("makes one variable, kernel", due, found, case)
        with answering(case):
            weights = np.linspace(-1.0, 2.0, batch.shape[1] * nodes).reshape(-1, nodes)
            [got], slopes, placed, _, products = on_devices(
                made, [weights], [joined], {x: batch}, PRODUCTS)
        due = [batch @ weights, np.tile(batch.sum(axis=0)[:, None], nodes)]
        yield near("equals one big product, and so does its gradient", due,
                   [got, *slopes], case, 1e-4, 1e-4)
        rows = len(batch) // len(devices)
        found = sorted((placed[op], sorted(value.shape[-2:]))
                       for op, value in products.items())
        due = sorted((f"CPU:{n}", sorted([rows, nodes])) for n in numbers)
        yield same("each device multiplies its slice, and no other", due, found,
                   f"{case}, products and their axes")
        found = [placed.get(made[0].op.name), placed[joined.op.name]]
        yield same("kernel and join are on the first device",
                   [f"CPU:{numbers[0]}"] * 2, found, case)


def _batch(rng, size):
    """Draws a batch with zeros and equal rows, nodes, and devices in any order."""
    devices = rng.permutation(4)[: 2 + size % 3]
    shape = len(devices) * int(rng.integers(1, 2 + size // 2)), 1 + size % 4
    batch = rng.integers(-2, 3, shape).astype(np.float32)
    return batch, int(rng.integers(1, 5)), devices.tolist()


def on_devices(variables, weights, results, feed, kinds=()):
    """Runs what an answer built on four CPUs, each op where it was pinned.

    Returns:
      The results, their gradients by the variables, where each op ran, what was sent,
      and by their ops the values of those of some kinds that ran.
    """
    config = tracing.as_written(device_count={"CPU": 4, "GPU": 0})
    with results[0].graph.as_default() as graph, tf1.Session(config=config) as session:
        slopes = [*map(tf.convert_to_tensor, tf.gradients(results, variables))]
        for variable, value in zip(variables, weights, strict=True):
            variable.load(value, session)
        rows = tracing.placement(session, results, feed)
        placed = {row.op: row.device for row in rows}
        inner = {op.name: op.outputs[0] for op in graph.get_operations()
                 if op.type in kinds and op.name in placed}
        values, slopes, inner = session.run([results, slopes, inner], feed)
        return values, slopes, placed, tracing.transfers(session, results, feed), inner
