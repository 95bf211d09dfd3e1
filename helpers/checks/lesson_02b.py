"""The check of lesson 02b: devices at work at once, by TensorFlow's own record."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import tracing
from helpers.checks.report import answering, close, drawn, exercise, shown

RUNS = 60  # on a busy machine a thread may come late


@exercise(
    "Exercise 1: side_by_side",
    "look at the graph of `When did it run?`: four chains on four devices, each with "
    "its variable inside the device block.",
    "begin with `for index, device in enumerate(devices):` and in it `with "
    'tf.device(device), tf1.variable_scope(f"chain_{index}"):`. What is left: the '
    "variable, `depth` products that begin with x, and the list of the results.",
)
def check_side_by_side(attempt):
    """Compares with NumPy, and reads placement, transfers and times of real runs.

    Args:
      attempt: `(x, depth, devices)` to the chains' results.
    """
    for rows, depth, numbers in drawn(_chains, how_many=8):
        devices = [f"/cpu:{n}" for n in numbers]
        case = f"x of shape {rows.shape}, depth {depth}, {devices}"
        with tf.Graph().as_default() as graph:
            x = tf1.placeholder(tf.float32, rows.shape, name="x")
            results = attempt(x, depth, list(devices))
            made = tf1.global_variables()
            yield ("returns a list with a result for each device",
                   isinstance(results, list | tuple) and len(results) == len(devices)
                   and all(isinstance(y, tf.Tensor) for y in results),
                   f"{case}: it returned {results!r}.")
            found = sorted((v.op.name, tuple(v.shape)) for v in made)
            due = [(f"chain_{n}/w", (rows.shape[1],) * 2) for n in range(len(devices))]
            yield ("one variable for each chain", found == due,
                   f"{case}: {shown(due, found)}.")
            made = sorted(made, key=lambda v: v.op.name)
            with answering(case):
                slopes = [tf.convert_to_tensor(slope)
                          for slope in tf.gradients(results, made)]
        weights = [np.random.default_rng([n, depth]).normal(size=w.shape)
                   / np.sqrt(rows.shape[1]) for n, w in enumerate(made)]
        config = tracing.as_written(
            device_count={"CPU": 4, "GPU": 0}, use_per_session_threads=True,
            inter_op_parallelism_threads=4, intra_op_parallelism_threads=1)
        with answering(case), tf1.Session(graph=graph, config=config) as session:
            for variable, value in zip(made, weights, strict=True):
                variable.load(value, session)
            found, found_slopes = session.run([results, slopes], {x: rows})
            placed = tracing.placement(session, results, {x: rows})
            sent = tracing.transfers(session, results, {x: rows})
            together = any(
                tracing.devices_at_once(
                    tracing.run_traced(session, results, {x: rows})[1]) > 1
                for _ in range(RUNS if len(rows) > 99 else 0))
        due = [rows @ np.linalg.matrix_power(w, depth) for w in weights]
        yield ("each result is that of its chain, and so is its gradient",
               all(map(_near, found, due))
               and all(map(_near, found_slopes, _slopes(rows, weights, depth))),
               f"{case}: {shown([y.tolist() for y in due], found)}.")
        ops = sorted((row.device, row.type) for row in placed
                     if row.type in ("MatMul", "VarHandleOp", "VariableV2"))
        due = sorted([(f"CPU:{n}", "MatMul") for n in numbers] * depth
                     + [(f"CPU:{n}", made[0].op.type) for n in numbers])
        yield ("variable and products of a chain are on its device", ops == due,
               f"{case}: {shown(due, ops)}.")
        ends = {y.op.name for y in results}
        astray = [tuple(row) for row in sent
                  if row.tensor != "x" and (row.tensor not in ends
                                            or row.target != "CPU:0")]
        yield ("nothing is sent but x and the results", not astray,
               f"{case}: these were sent: {astray}.")
        if len(rows) > 99:
            yield ("the devices were at work at once", together,
                   f"{case}: in {RUNS} traced runs one device always waited for the "
                   "other.")


def _chains(rng, size):
    """Draws from one row up; the last cases are large enough to be seen at work."""
    devices = rng.permutation(4)[: 2 + size % 2].tolist()
    shape = (300, 300) if size > 5 else tuple(rng.integers(1, 2 + size, 2))
    return rng.integers(-2, 3, shape).astype(np.float32), 1 + size % 4, devices


def _slopes(rows, weights, depth):
    """The gradient of the sum of rows @ w ... @ w, one term for each product."""
    ones = np.ones_like(rows)
    for w in weights:
        power = [np.linalg.matrix_power(w, n) for n in range(depth)]
        yield sum((rows @ power[n]).T @ ones @ power[depth - 1 - n].T
                  for n in range(depth))


def _near(found, due) -> bool:
    return close(found, due, 1e-3, 1e-3 * max(1.0, float(np.abs(due).max())))
