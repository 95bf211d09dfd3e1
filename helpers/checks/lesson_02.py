"""The checks of lesson 02: ConfigProto and devices."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import towers, tracing
from helpers.checks.report import exercise

BATCH, VALUES, NODES = 28, 5, 3


@exercise(
    "Exercise 1: spread",
    "make the kernel under tf.device(devices[0]), tf.split the batch, then one "
    "tf.matmul per device.",
)
def check_spread(attempt):
    """Runs on four CPU devices, compares with NumPy, reads the placement.

    Args:
      attempt: `(x, nodes, devices)` to the joined products `[batch, nodes]`.
    """
    devices = towers.cpu_devices(4)
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [BATCH, VALUES], name="x")
        joined = attempt(x, NODES, devices)
        yield ("returns a tensor", isinstance(joined, tf.Tensor),
               f"it returned {type(joined).__name__}.")
        shapes = [tuple(v.shape) for v in tf1.global_variables()]
        yield ("makes one kernel", shapes == [(VALUES, NODES)],
               f"wanted one variable of shape ({VALUES}, {NODES}), found {shapes}.")
        init = tf1.global_variables_initializer()
        kernel = tf1.global_variables()[0]
    batch = np.random.default_rng(3).normal(size=[BATCH, VALUES]).astype(np.float32)
    config = tracing.as_written(device_count={"CPU": 4, "GPU": 0})
    with tf1.Session(graph=graph, config=config) as session:
        session.run(init)
        got, weights = session.run([joined, kernel], {x: batch})
        rows = tracing.placement(session, joined, {x: batch})
    wanted = batch @ weights
    yield ("equals one big product",
           got.shape == wanted.shape and np.allclose(got, wanted, atol=1e-5),
           f"the shape is {got.shape}, wanted {wanted.shape}; join along axis 0, in "
           "the order of the slices.")
    where = sorted(row.device for row in rows if row.type == "MatMul")
    yield ("one product on each device", where == [f"CPU:{i}" for i in range(4)],
           f"the products ran on {where}: open tf.device around each matmul.")
    homes = {row.device for row in rows
             if row.type in ("VarHandleOp", "VariableV2", "ConcatV2")}
    yield ("kernel and join are on the first device", homes == {"CPU:0"},
           f"they are on {sorted(homes)}: open tf.device(devices[0]) around both.")


@exercise(
    "Exercise 2: both_busy",
    "join the intervals of each device that touch, then add up what every pair of "
    "stretches shares.",
)
def check_both_busy(attempt):
    """Compares with counting each microsecond.

    Args:
      attempt: `(rows, first, second)` to microseconds.
    """
    def row(device, start, duration):
        return tracing.Interval(device, "op", "MatMul", start, duration)

    rows = [row("CPU:0", 0, 10), row("CPU:1", 6, 11)]
    got = attempt(rows, "CPU:0", "CPU:1")
    yield ("0-10 and 6-17 share 4", got == 4, f"you returned {got}.")
    got = attempt(rows[:1], "CPU:0", "CPU:1")
    yield ("a device that did nothing shares nothing", got == 0,
           f"you returned {got}.")
    rows = [row("CPU:0", 0, 10), row("CPU:0", 2, 3), row("CPU:1", 1, 7)]
    got = attempt(rows, "CPU:0", "CPU:1")
    yield ("ops of one device do not count twice", got == 7,
           f"0-10 with 2-5 inside it, and 1-8, share 7; you returned {got}.")
    random = np.random.default_rng(5)
    for size in (2, 7, 31):
        rows = [row(f"CPU:{random.integers(3)}", int(random.integers(97)),
                    int(random.integers(1, 13))) for _ in range(size)]
        wanted, got = _counted(rows, "CPU:0", "CPU:2"), attempt(rows, "CPU:0", "CPU:2")
        yield (f"{size} random ops on three devices", got == wanted,
               f"counting each microsecond gives {wanted}, you returned {got}.")
    rows = tracing.intervals(_two_products())
    wanted, got = _counted(rows, "CPU:0", "CPU:1"), attempt(rows, "CPU:0", "CPU:1")
    yield ("a real run on two devices", got == wanted,
           "it differs from counting each microsecond of the run.")


def _counted(rows, first, second) -> int:
    busy = {first: set(), second: set()}
    for row in rows:
        if row.device in busy:
            busy[row.device] |= set(range(row.start, row.start + row.duration))
    return len(busy[first] & busy[second])


def _two_products():
    """Returns the RunMetadata of two products on two devices."""
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [199, 199])
        both = []
        for device in towers.cpu_devices(2):
            with tf.device(device):
                both.append(tf.matmul(x, x))
    config = tf1.ConfigProto(device_count={"CPU": 2, "GPU": 0})
    with tf1.Session(graph=graph, config=config) as session:
        ones = np.ones([199, 199], np.float32)
        return tracing.run_traced(session, both, {x: ones})[1]
