"""Exercise check of lesson 02a: every op runs on the requested device."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import tracing
from helpers.checks.attempts import VARIABLES
from helpers.checks.claims import answering, drawn, exercise, listed, near, same, tensor

WHOLE = "returns the product of the whole batch, with its gradient"
PRODUCTS = ("MatMul", "BatchMatMulV2", "Einsum")


@exercise(
    "Exercise 1: spread",
    "Read the first graph of `Pin ops, and prove it`, which pins a product to each "
    "device.",
    "Begin with `with tf.device(devices[0]):` and in it `kernel = "
    'tf1.get_variable("kernel", [x.shape[-1], nodes])`. What is left to do is to cut '
    "the batch, to multiply on each device, and to call `tf.concat` on the first.",
    about={
        "creates one variable, `kernel`": (
            "All slices are multiplied by one matrix, so create it once, before the "
            "loop, and call it `kernel`."),
        WHOLE: (
            "The slices are groups of rows, so you cut and join along axis 0. Keep "
            "them in the order of the batch."),
        "multiplies each slice on its own device":
            "Open a device block around each product, with the device of its slice.",
        "keeps the kernel and the joined result on the first device": (
            "Outside all device blocks, TensorFlow chooses a device, and it need not "
            "be the first of your list. The variable needs a block, and `tf.concat` "
            "needs one, too."),
    },
    adds=VARIABLES,
)
def check_spread(attempt):
    """Checks that the slices of a batch are multiplied on the requested devices."""
    for batch, nodes, numbers in drawn(_batch, how_many=10):
        devices = [f"/cpu:{n}" for n in numbers]
        case = f"x of shape {batch.shape}, {nodes} nodes, {devices}"
        with tf.Graph().as_default(), answering(case):
            x = tf1.placeholder(tf.float32, batch.shape, name="x")
            joined = attempt(x, nodes, list(devices))
            made = tf1.global_variables()
        yield tensor("returns a float32 tensor", tf.float32, joined, case)
        found = [(v.op.name.split("/")[-1], tuple(v.shape)) for v in made]
        due = [("kernel", (batch.shape[1], nodes))]
        yield same("creates one variable, `kernel`", due, found, case)
        with answering(case):
            weights = np.linspace(-1.0, 2.0, batch.shape[1] * nodes).reshape(-1, nodes)
            [got], slopes, placed, _, products = on_devices(
                made, [weights], [joined], {x: batch}, PRODUCTS)
        yield near(WHOLE, batch @ weights, got,
                   f"{case}, kernel {listed(weights, 3)}", 1e-4, 1e-4)
        yield near(WHOLE, [np.tile(batch.sum(axis=0)[:, None], nodes)], slopes,
                   f"{case}, gradient of the sum by the kernel", 1e-4, 1e-4)
        rows = len(batch) // len(devices)
        found = sorted((placed[op], sorted(value.shape[-2:]))
                       for op, value in products.items())
        due = sorted((f"CPU:{n}", sorted([rows, nodes])) for n in numbers)
        yield same("multiplies each slice on its own device", due, found,
                   f"{case}, products and their axes")
        found = [placed.get(made[0].op.name), placed[joined.op.name]]
        yield same("keeps the kernel and the joined result on the first device",
                   [f"CPU:{numbers[0]}"] * 2, found, case)


def _batch(rng, size):
    """Draws a batch, a number of nodes, and a list of devices in random order."""
    devices = rng.permutation(4)[: 2 + size % 3]
    shape = len(devices) * int(rng.integers(1, 2 + size // 2)), 1 + size % 4
    batch = rng.integers(-2, 3, shape).astype(np.float32)
    return batch, int(rng.integers(1, 5)), devices.tolist()


def on_devices(variables, weights, results, feed, kinds=()):
    """Runs a graph on four CPU devices and records where every op was placed.

    Returns:
      The results, their gradients with respect to the variables, the device of each op,
      the transfers between devices, and the values of all ops of the given kinds.
    """
    config = tracing.as_written(device_count={"CPU": 4, "GPU": 0})
    with results[0].graph.as_default() as graph, tf1.Session(config=config) as session:
        slopes = [*map(tf.convert_to_tensor, tf.gradients(
            results, variables, unconnected_gradients="zero"))]
        for variable, value in zip(variables, weights, strict=True):
            variable.load(value, session)
        rows = tracing.placement(session, results, feed)
        placed = {row.op: row.device for row in rows}
        inner = {op.name: op.outputs[0] for op in graph.get_operations()
                 if op.type in kinds and op.name in placed}
        values, slopes, inner = session.run([results, slopes, inner], feed)
        return values, slopes, placed, tracing.transfers(session, results, feed), inner
