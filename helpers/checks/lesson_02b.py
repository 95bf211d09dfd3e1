"""The check of lesson 02b: devices at work at once, by TensorFlow's own record."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import tracing
from helpers.checks.report import answering, drawn, exercise, near, same
from helpers.checks.watch import VARIABLES

RUNS = 300  # on a busy machine a thread may come late; one run that sees it is enough


@exercise(
    "Exercise 1: side_by_side",
    "look at the graph of `When did it run?`: four chains on four devices, each with "
    "its variable inside the device block.",
    "begin with `for index, device in enumerate(devices):` and in it `with "
    'tf.device(device), tf1.variable_scope(f"chain_{index}"):`. What is left: the '
    "variable, `depth` products that begin with x, and the list of the results.",
    adds=VARIABLES, unknown=False,
)
def check_side_by_side(attempt):
    """Runs `(x, depth, devices)`, and reads placement, transfers and times."""
    for rows, depth, numbers in drawn(_chains, how_many=8):
        devices = [f"/cpu:{n}" for n in numbers]
        case = f"x of shape {rows.shape}, depth {depth}, {devices}"
        with tf.Graph().as_default() as graph:
            x = tf1.placeholder(tf.float32, [None, rows.shape[1]], name="x")
            results = attempt(x, depth, list(devices))
            made = tf1.global_variables()
            yield ("returns a list with a result for each device",
                   isinstance(results, list | tuple) and len(results) == len(devices)
                   and all(isinstance(y, tf.Tensor) for y in results),
                   f"{case}: it returned {results!r}.")
            found = sorted((v.op.name, tuple(v.shape)) for v in made)
            due = [(f"chain_{n}/w", (rows.shape[1],) * 2) for n in range(len(devices))]
            yield same("one variable for each chain", due, found, case)
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
        due = [one for w in weights for one in _chain(rows, w, depth)]
        found = [one for pair in zip(found, found_slopes, strict=True) for one in pair]
        scale = [max(1.0, float(np.abs(one).max())) for one in due]
        yield near("each result is that of its chain, and so is its gradient",
                   [one / k for one, k in zip(due, scale, strict=True)],
                   [one / k for one, k in zip(found, scale, strict=True)], case, 1e-3,
                   1e-3)
        outputs = {op.name: f"product {op.outputs[0].shape}"
                   for op in graph.get_operations() if op.type == "MatMul"}
        outputs |= {w.op.name: w.op.name for w in made}
        ops = sorted((row.device, outputs[row.op]) for row in placed
                     if row.op in outputs)
        due = sorted([(f"CPU:{n}", f"product (None, {rows.shape[1]})")
                      for n in numbers] * depth
                     + [(f"CPU:{n}", f"chain_{k}/w") for k, n in enumerate(numbers)])
        yield same("variable and products of a chain are on its device", due, ops, case)
        ends = {y.op.name for y in results}
        astray = [tuple(row) for row in sent
                  if row.tensor != "x" and (row.tensor not in ends
                                            or row.target != "CPU:0")]
        yield ("nothing is sent but x and the results", not astray,
               f"{case}: these were sent: {astray}.")
        if len(rows) > 99:
            yield ("the devices were at work at once", together,
                   f"{case}: in {RUNS} traced runs one device always waited.")


def _chains(rng, size):
    """Draws from one row up; the last cases are large enough to be seen at work."""
    devices = rng.permutation(4)[: 2 + size % 2].tolist()
    shape = (300, 300) if size > 5 else tuple(rng.integers(1, 2 + size, 2))
    return rng.integers(-2, 3, shape).astype(np.float32), 1 + size % 4, devices


def _chain(rows, w, depth):
    """Returns rows @ w ... @ w and its gradient, one term for each product."""
    power = [np.linalg.matrix_power(w, n) for n in range(depth + 1)]
    terms = [(rows @ power[n]).T @ np.ones_like(rows) @ power[depth - 1 - n].T
             for n in range(depth)]
    return rows @ power[depth], sum(terms)
