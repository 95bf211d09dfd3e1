"""The check of lesson 02a: ops where you want them."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import tracing
from helpers.checks.report import answering, drawn, exercise, near, same, tensor
from helpers.checks.watch import VARIABLES

PRODUCTS = ("MatMul", "BatchMatMulV2", "Einsum")


@exercise(
    "Exercise 1: spread",
    "look at the first graph of `Pin ops, and prove it`: a product is pinned to each "
    "device. Here the weights are one variable, and the batch is cut.",
    "begin with `with tf.device(devices[0]):` and in it `kernel = "
    'tf1.get_variable("kernel", [x.shape[-1], nodes])` and `slices = tf.split(x, '
    "len(devices))`. What is left: a product of each slice on its device, and "
    "`tf.concat` on the first.",
    adds=VARIABLES,
)
def check_spread(attempt):
    """Runs `(x, nodes, devices)` on drawn devices, and reads the placement."""
    for batch, nodes, numbers in drawn(_batch, how_many=10):
        devices = [f"/cpu:{n}" for n in numbers]
        case = f"x of shape {batch.shape}, {nodes} nodes, {devices}"
        with tf.Graph().as_default() as graph:
            x = tf1.placeholder(tf.float32, batch.shape, name="x")
            joined = attempt(x, nodes, list(devices))
            made = tf1.global_variables()
        yield tensor("returns a float32 tensor", tf.float32, joined, case)
        found = [(v.op.name.split("/")[-1], tuple(v.shape)) for v in made]
        due = [("kernel", (batch.shape[1], nodes))]
        yield same("makes one variable, kernel", due, found, case)
        with answering(case):
            got, slopes, shapes, placed = _run(graph, joined, made[0], {x: batch})
        weights = np.linspace(-1.0, 2.0, found[0][1][0] * nodes).reshape(-1, nodes)
        due = [batch @ weights, np.tile(batch.sum(axis=0)[:, None], nodes)]
        yield near("equals one big product, and so does its gradient", due,
                   [got, slopes], case, 1e-4, 1e-4)
        rows = len(batch) // len(devices)
        found = sorted((placed[op], sorted(axes[-2:])) for op, axes in shapes.items())
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


def _run(graph, joined, kernel, feed):
    """Returns result, gradient, the shape of each product, and where each op ran."""
    config = tracing.as_written(device_count={"CPU": 4, "GPU": 0})
    products = [op for op in graph.get_operations() if op.type in PRODUCTS]
    with graph.as_default():
        slope = tf.convert_to_tensor(tf.gradients(joined, kernel)[0])
    with tf1.Session(graph=graph, config=config) as session:
        kernel.load(np.linspace(-1.0, 2.0, kernel.shape.num_elements())
                    .reshape(kernel.shape), session)
        rows = tracing.placement(session, joined, feed)
        placed = {row.op: row.device for row in rows}
        products = [op for op in products if op.name in placed]
        got, slope, values = session.run(
            [joined, slope, [op.outputs[0] for op in products]], feed)
    shapes = {op.name: v.shape for op, v in zip(products, values, strict=True)}
    return got, slope, shapes, placed
