"""Placement, transfers, intervals and overlap against what the graph was told."""


import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import tracing

FOUR = {"CPU": 4, "GPU": 0}


def chain():
    """A variable and an op on each of four devices, each fed by the one before."""
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [3, 5], name="x")
        for index in range(4):
            with tf.device(f"/cpu:{index}"):
                w = tf1.get_variable(f"w_{index}", [5, 5])
                x = tf.matmul(x, w, name=f"product_{index}")
        tf1.global_variables_initializer()
    return graph


def opened(graph, config):
    session = tf1.Session(graph=graph, config=config)
    session.run("init")
    return session


def test_placement_is_what_tf_device_said_on_four_devices():
    graph = chain()
    with opened(graph, tracing.as_written(device_count=FOUR)) as session:
        rows = tracing.placement(
            session, "product_3:0", {"x:0": np.ones([3, 5])})
    asked = {op.name: (op.type, f"CPU:{op.device[-1]}")
             for op in graph.get_operations() if op.device}
    assert len({row.device for row in rows}) == 4
    assert [row.op for row in rows] == sorted(row.op for row in rows)
    assert all(asked.get(row.op, row[1:]) == row[1:] for row in rows)
    reads = {row.op: row.device for row in rows if row.type == "ReadVariableOp"}
    assert reads == {f"product_{i}/ReadVariableOp": f"CPU:{i}" for i in range(4)}
    ops = {row.op for row in rows}
    assert {f"product_{i}" for i in range(4)} | {f"w_{i}" for i in range(4)} <= ops
    assert not any("init" in op.lower() for op in ops), "only what the fetch needs"


def test_transfers_are_the_edges_that_cross_devices():
    with opened(chain(), tf1.ConfigProto(device_count=FOUR)) as session:
        rows = tracing.transfers(session, "product_3:0", {"x:0": np.ones([3, 5])})
    crossing = {(f"product_{i}", f"CPU:{i}", f"CPU:{i + 1}") for i in range(3)}
    back = {("product_3", "CPU:3", "CPU:0")}  # what is fetched returns to CPU:0
    assert crossing <= set(rows) and set(rows) <= crossing | back


def test_intervals_hold_each_op_once_from_zero():
    with opened(chain(), tracing.as_written(device_count=FOUR)) as session:
        value, metadata = tracing.run_traced(
            session, "product_3:0", {"x:0": np.ones([3, 5])})
    rows = tracing.intervals(metadata)
    assert value.shape == (3, 5)
    assert min(row.start for row in rows) == 0
    assert all(row.duration > 0 for row in rows)
    names = [row.op for row in rows]
    assert len(set(names)) == len(names)
    products = {row.op: row for row in rows if row.type == "MatMul"}
    assert {op: row.device for op, row in products.items()} == {
        f"product_{i}": f"CPU:{i}" for i in range(4)}
    starts = [products[f"product_{i}"].start for i in range(4)]
    assert starts == sorted(starts), "each waits for the one before"
    assert not {row.type for row in rows} & {"_Send", "_Recv", "NoOp", "_Arg"}


def test_timeline_has_a_lane_per_device_and_a_bar_per_op():
    with opened(chain(), tf1.ConfigProto(device_count=FOUR)) as session:
        _, metadata = tracing.run_traced(
            session, "product_3:0", {"x:0": np.ones([3, 5])})
    fig = tracing.timeline(metadata)
    lanes = [label.get_text() for label in fig.axes[0].get_yticklabels()]
    assert sorted(lanes) == [f"CPU:{i}" for i in range(4)]
    assert "milliseconds" in fig.axes[0].get_xlabel()
    assert len(fig.axes[0].patches) == len(tracing.intervals(metadata))
    plt.close(fig)
