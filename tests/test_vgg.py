"""VGG against the paper's counts, TensorFlow's profiler and Keras's VGG-19."""

import math

import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.vgg import CONFIGURATIONS, layer_table, vgg_net

COUNTS = {  # parameters, those of the convolutions, multiply-adds
    "A": (132_863_336, 9_220_480, 7_609_090_048),
    "B": (133_047_848, 9_404_992, 11_308_466_176),
    "C": (133_638_952, 9_996_096, 11_770_888_192),
    "D": (138_357_544, 14_714_688, 15_470_264_320),
    "E": (143_667_240, 20_024_384, 19_632_062_464),
}


def total(rows, field):
    return sum(getattr(row, field) for row in rows)


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_counts_of_the_five_nets(configuration):
    rows = layer_table(configuration)
    convolutions = [row for row in rows if row.name.startswith("conv")]
    assert (
        total(rows, "parameters"),
        total(convolutions, "parameters"),
        total(rows, "multiply_adds"),
    ) == COUNTS[configuration]
    fully_connected = [row for row in rows if row.name.startswith("fc")]
    assert total(fully_connected, "parameters") == 123_642_856


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
@pytest.mark.parametrize(
    "image_size, num_classes, base_width", [(224, 1000, 64), (67, 11, 3)]
)
def test_table_is_that_of_the_graph(
    configuration, image_size, num_classes, base_width
):
    rows = layer_table(configuration, image_size, num_classes, base_width=base_width)
    with tf.Graph().as_default() as graph:
        images = tf1.placeholder(tf.float32, [1, image_size, image_size, 3], "input")
        vgg_net(images, configuration=configuration, num_classes=num_classes,
                base_width=base_width)
        variables = tf1.trainable_variables()
        work = multiply_adds_by_scope(graph)
    counts = {}
    for variable in variables:
        scope = variable.op.name.split("/")[0]
        counts[scope] = counts.get(scope, 0) + math.prod(variable.shape.as_list())
    assert counts == {row.name: row.parameters for row in rows if row.parameters}
    assert work == {row.name: row.multiply_adds for row in rows if row.multiply_adds}
    for row in rows:
        tensor = end_of(graph, row.name)
        assert tuple(tensor.shape[1:].as_list()) == row.output_shape
        assert math.prod(tensor.shape.as_list()) * tensor.dtype.size == row.bytes


def multiply_adds_by_scope(graph):
    """What TensorFlow's profiler counts: two operations per multiply-add."""
    options = tf1.profiler.ProfileOptionBuilder.float_operation()
    options.update(output="none", min_float_ops=1)
    profile = tf1.profiler.profile(graph, cmd="scope", options=options)
    work, todo = {}, [profile]
    while todo:
        entry = todo.pop()
        todo += entry.children
        if entry.name.rsplit("/", 1)[-1] in ("Conv2D", "MatMul"):
            work[entry.name.split("/")[0]] = entry.float_ops // 2
    return work


def end_of(graph, name):
    """Returns the last tensor of a layer."""
    names = {op.name for op in graph.get_operations()}
    for end in (f"{name}/Relu", f"{name}/BiasAdd", f"{name}/MaxPool", name):
        if end in names:
            return graph.get_tensor_by_name(end + ":0")
    raise AssertionError(f"no layer {name}")
