"""The checks of lesson 02: ConfigProto and devices."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import towers, tracing
from helpers.checks.report import exercise

BATCH, VALUES, NODES = 28, 5, 3
PRODUCTS = ("MatMul", "BatchMatMulV2", "Einsum")
# Not in the order of their numbers: names written into an answer show.
DEVICES = ["/cpu:2", "/cpu:0", "/cpu:3", "/cpu:1"]


@exercise(
    "Exercise 1: spread",
    "where four products were pinned, under `Pin ops, and prove it`; here the weights "
    "are one variable, and the batch is cut.",
    'with tf.device(devices[0]): kernel = tf1.get_variable("kernel", '
    "[x.shape[-1], nodes])",
)
def check_spread(attempt):
    """Runs on four CPU devices, compares with NumPy, reads the placement.

    Args:
      attempt: `(x, nodes, devices)` to the joined products `[batch, nodes]`.
    """
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [BATCH, VALUES], name="x")
        joined = attempt(x, NODES, list(DEVICES))
        yield ("returns a tensor", isinstance(joined, tf.Tensor),
               f"it returned {type(joined).__name__}.")
        found = [(v.op.name.split("/")[-1], tuple(v.shape))
                 for v in tf1.global_variables()]
        yield ("makes one variable, kernel", found == [("kernel", (VALUES, NODES))],
               f"wanted kernel of shape ({VALUES}, {NODES}), found {found}.")
        kernel = tf1.global_variables()[0]
    batch = np.random.default_rng(3).normal(size=[BATCH, VALUES]).astype(np.float32)
    got, weights, shapes, placed = _run(graph, joined, kernel, {x: batch})
    wanted = batch @ weights
    yield ("returns [batch, nodes]", got.shape == wanted.shape,
           f"the shape is {got.shape}, wanted {wanted.shape}.")
    yield ("equals one big product", np.allclose(got, wanted, atol=1e-5),
           _wrong_values(got, wanted))
    yield from _where(placed, shapes, joined, kernel)


def _run(graph, joined, kernel, feed):
    """Returns result, weights, the shape of each product, and where each op ran."""
    products = [op for op in graph.get_operations() if op.type in PRODUCTS]
    config = tracing.as_written(device_count={"CPU": 4, "GPU": 0})
    with tf1.Session(graph=graph, config=config) as session:
        session.run(kernel.initializer)
        rows = tracing.placement(session, joined, feed)
        placed = {row.op: row.device for row in rows}
        products = [op for op in products if op.name in placed]
        got, weights, values = session.run(
            [joined, kernel, [op.outputs[0] for op in products]], feed)
    shapes = {op.name: v.shape for op, v in zip(products, values, strict=True)}
    return got, weights, shapes, placed


def _wrong_values(got, wanted) -> str:
    if np.allclose(np.sort(got, axis=0), np.sort(wanted, axis=0), atol=1e-5):
        return "the rows are right, but not in the order of the batch."
    return (f"the first row is {got[0].round(3)}, wanted {wanted[0].round(3)}: is "
            "every slice multiplied, and by the same kernel?")


def _where(placed, shapes, joined, kernel):
    """Claims about what ran where, from the placement of a real run."""
    order = [device.replace("/cpu", "CPU") for device in DEVICES]
    where = sorted(placed[name] for name in shapes)
    yield ("one product on each device", where == sorted(order),
           f"{DEVICES} were given, the products ran on {where}.")
    rows = {shape[0] for shape in shapes.values()}
    yield ("each product is of one slice", rows == {BATCH // len(DEVICES)},
           f"products of {sorted(rows)} rows, for a batch of {BATCH} on "
           f"{len(DEVICES)} devices: each device is to get its slice only.")
    home = placed.get(kernel.op.name)
    yield ("the kernel is on the first device", home == order[0],
           f"devices[0] is {DEVICES[0]}, and the kernel is on {home}.")
    home = placed[joined.op.name]
    yield ("the join is on the first device", home == order[0],
           f"devices[0] is {DEVICES[0]}, and {joined.op.name} ran on {home}.")


@exercise(
    "Exercise 2: both_busy",
    "`tracing.busy` counts ops at once on one device once: turn the ops of each device "
    "into stretches of work that do not touch, and compare the stretches.",
    "rows = sorted((r for r in rows if r.device == first), key=lambda r: r.start)",
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
    yield ("0-10 and 6-17 share 4", got == 4, _which_time(got))
    got = attempt(rows[:1], "CPU:0", "CPU:1")
    yield ("a device that did nothing shares nothing", got == 0,
           f"you returned {got}.")
    rows = [row("CPU:0", 0, 10), row("CPU:0", 2, 3), row("CPU:1", 1, 7)]
    got = attempt(rows, "CPU:0", "CPU:1")
    yield ("ops of one device do not count twice", got == 7,
           f"0-10 with 2-5 inside it, and 1-8, share 7; you returned {got}.")
    rows = [row("CPU:0", 0, 2), row("CPU:0", 8, 2), row("CPU:1", 1, 8)]
    got = attempt(rows, "CPU:0", "CPU:1")
    yield ("a pause is not work", got == 2,
           f"0-2 and 8-10, and 1-9, share 2; you returned {got}: between its ops the "
           "first device rests.")
    random = np.random.default_rng(5)
    for size in (2, 7, 31):
        rows = sorted(row(f"CPU:{random.integers(3)}", int(random.integers(97)),
                          int(random.integers(1, 13))) for _ in range(size))
        wanted, got = _counted(rows, "CPU:0", "CPU:2"), attempt(rows, "CPU:0", "CPU:2")
        others = got == _counted(rows, "CPU:0", "CPU:1")
        yield (f"{size} random ops on three devices", got == wanted,
               f"counting each microsecond gives {wanted}, you returned {got}"
               + (", which is for CPU:0 and CPU:1: CPU:0 and CPU:2 were given."
                  if others else "."))
    rows = tracing.intervals(_two_products())
    wanted, got = _counted(rows, "CPU:0", "CPU:1"), attempt(rows, "CPU:0", "CPU:1")
    yield ("a real run on two devices", got == wanted,
           f"counting each microsecond gives {wanted}, you returned {got}.")


def _which_time(got) -> str:
    """Says which other time 0-10 and 6-17 have in common with the answer."""
    other = {17: "the time in which either worked", 21: "the work of both added up",
             6: "the time before the second began", -4: "the right length, negative",
             0.004: "milliseconds, and microseconds were asked for"}
    return f"you returned {got}" + (f": {other[got]}." if got in other else ".")


def _counted(rows, first, second) -> int:
    busy: dict[str, set[int]] = {first: set(), second: set()}
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
