"""Looking into a graph: the same answers for every module that asks."""

import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.graph import holds_variable


@pytest.mark.parametrize("use_resource", [True, False])
def test_each_variable_has_one_op_that_holds_it(use_resource):
    with tf.Graph().as_default() as graph:
        for name in ("kernel", "bias"):
            tf1.get_variable(name, [3], use_resource=use_resource)
    found = [op.name for op in graph.get_operations() if holds_variable(op.type)]
    assert found == ["kernel", "bias"]
    assert found == [n.name for n in graph.as_graph_def().node if holds_variable(n.op)]


def test_the_variable_of_old_graphs_is_held_too():
    with tf.Graph().as_default() as graph:
        tf.raw_ops.Variable(shape=[3], dtype=tf.float32, name="old")
    assert [op.name for op in graph.get_operations() if holds_variable(op.type)] == [
        "old"
    ]
