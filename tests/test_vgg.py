"""VGG against the paper's counts, TensorFlow's profiler and Keras's VGG-19."""

import math

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.vgg import CONFIGURATIONS, layer_table, vgg_features, vgg_net

COUNTS = {  # parameters, those of the convolutions, multiply-adds
    "A": (132_863_336, 9_220_480, 7_609_090_048),
    "B": (133_047_848, 9_404_992, 11_308_466_176),
    "C": (133_638_952, 9_996_096, 11_770_888_192),
    "D": (138_357_544, 14_714_688, 15_470_264_320),
    "E": (143_667_240, 20_024_384, 19_632_062_464),
}
VGG19 = """
conv1_1 224 64 1,792 86,704,128
conv1_2 224 64 36,928 1,849,688,064
conv2_1 112 128 73,856 924,844,032
conv2_2 112 128 147,584 1,849,688,064
conv3_1 56 256 295,168 924,844,032
conv3_2 56 256 590,080 1,849,688,064
conv3_3 56 256 590,080 1,849,688,064
conv3_4 56 256 590,080 1,849,688,064
conv4_1 28 512 1,180,160 924,844,032
conv4_2 28 512 2,359,808 1,849,688,064
conv4_3 28 512 2,359,808 1,849,688,064
conv4_4 28 512 2,359,808 1,849,688,064
conv5_1 14 512 2,359,808 462,422,016
conv5_2 14 512 2,359,808 462,422,016
conv5_3 14 512 2,359,808 462,422,016
conv5_4 14 512 2,359,808 462,422,016
"""


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


def test_whole_table_of_vgg_19():
    rows = {row.name: row for row in layer_table("E")}
    for line in VGG19.strip().splitlines():
        name, size, width, parameters, multiply_adds = line.replace(",", "").split()
        row = rows.pop(name)
        assert row.output_shape == (int(size), int(size), int(width))
        assert row.parameters == int(parameters)
        assert row.multiply_adds == int(multiply_adds)
    pools = [rows.pop(f"pool{n}").output_shape for n in range(1, 6)]
    assert [shape[0] for shape in pools] == [112, 56, 28, 14, 7]
    assert rows.pop("input").output_shape == (224, 224, 3)
    expected = {"fc6": 102_764_544, "fc7": 16_781_312, "fc8": 4_097_000}
    assert {name: row.parameters for name, row in rows.items()} == expected


def test_memory_of_vgg_19():
    rows = layer_table("E")
    assert total(rows, "bytes") == 4 * 16_542_184
    assert round(total(rows, "bytes") / 2**20, 1) == 63.1
    assert round(4 * total(rows, "parameters") / 2**20, 1) == 548.0


@pytest.mark.parametrize(
    "image_size, num_classes, parameters",
    [(224, 200, 140_389_640), (64, 200, 46_017_800), (32, 10, 38_947_914)],
)
def test_variants_of_e(image_size, num_classes, parameters):
    rows = layer_table("E", image_size, num_classes)
    assert total(rows, "parameters") == parameters
    if image_size == 64:
        assert total(rows, "multiply_adds") == 1_618_509_824


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


def test_variable_names_and_order():
    with tf.Graph().as_default():
        vgg_net(tf.zeros([1, 32, 32, 3]), configuration="A", base_width=1,
                num_classes=2)
        names = [v.op.name for v in tf1.trainable_variables()]
    layers = ["conv1_1", "conv2_1", "conv3_1", "conv3_2", "conv4_1", "conv4_2",
              "conv5_1", "conv5_2", "fc6", "fc7", "fc8"]
    assert names == [f"{n}/{part}" for n in layers for part in ("kernel", "bias")]


def test_logits_are_those_of_keras_vgg19():
    size, classes = 37, 11
    keras_net = tf.keras.applications.VGG19(
        weights=None, input_shape=(size, size, 3), classes=classes,
        classifier_activation=None,
    )
    generator = np.random.default_rng(5)
    weights = [
        generator.normal(0.0, math.sqrt(2.0 / math.prod(w.shape[:-1])), w.shape)
        if len(w.shape) > 1 else generator.normal(0.0, 0.1, w.shape)
        for w in keras_net.weights
    ]
    keras_net.set_weights(weights)
    pictures = generator.uniform(-1, 1, [2, size, size, 3]).astype(np.float32)
    expected = keras_net(pictures).numpy()
    with tf.Graph().as_default():
        logits = vgg_net(tf.constant(pictures), num_classes=classes)
        variables = tf1.trainable_variables()
        with tf1.Session() as session:
            for variable, value in zip(variables, weights, strict=True):
                assert variable.shape == value.shape
                variable.load(value, session)
            ours = session.run(logits)
    assert np.ptp(expected) > 0.1
    np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-4)


def test_keep_prob_placeholder_drops_in_training_only():
    with tf.Graph().as_default():
        tf1.set_random_seed(3)
        keep_prob = tf1.placeholder_with_default(1.0, [], "keep_prob")
        pictures = tf.random.stateless_uniform([2, 32, 32, 3], [1, 2], -1, 1)
        logits = vgg_net(pictures, keep_prob, configuration="A", base_width=2,
                         num_classes=5)
        dropped = [f"{name}/dropout/SelectV2:0" for name in ("fc6", "fc7")]
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            still = [session.run(logits) for _ in range(2)]
            moving = [session.run(logits, {keep_prob: 0.5}) for _ in range(2)]
            before, after = session.run(["fc6/Relu:0", dropped[0]], {keep_prob: 0.8})
    np.testing.assert_array_equal(*still)
    assert np.abs(moving[0] - moving[1]).max() > 0
    kept = (after != 0)[before > 0]
    assert 0.65 < kept.mean() < 0.95
    np.testing.assert_allclose(after[after != 0], before[after != 0] / 0.8, rtol=1e-6)


def test_the_number_one_builds_no_dropout():
    with tf.Graph().as_default() as graph:
        vgg_net(tf.zeros([1, 32, 32, 3]), 1.0, configuration="A", base_width=1)
        assert not [op for op in graph.get_operations() if "dropout" in op.name]


def test_towers_share_the_weights():
    with tf.Graph().as_default():
        for reuse in (False, True):
            with tf1.variable_scope(tf1.get_variable_scope(), reuse=reuse):
                vgg_net(tf.zeros([1, 32, 32, 3]), configuration="A", base_width=1)
        assert len(tf1.trainable_variables()) == 22


def test_last_layer_is_linear():
    with tf.Graph().as_default() as graph:
        logits = vgg_net(tf.zeros([1, 32, 32, 3]), configuration="A", base_width=1)
        assert logits.op.type == "BiasAdd"
        assert not [op for op in graph.get_operations() if op.name == "fc8/Relu"]


def test_signal_keeps_its_size_through_sixteen_layers():
    with tf.Graph().as_default() as graph:
        tf1.set_random_seed(7)
        pictures = tf.random.stateless_uniform([5, 64, 64, 3], [1, 2], -1, 1)
        vgg_features(pictures, base_width=16)
        tensors = [graph.get_tensor_by_name(f"{name}/Relu:0")
                   for name in ("conv1_1", "conv5_4")]
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            first, last = session.run([tf.reduce_mean(t**2) for t in tensors])
    assert 0.05 < last / first < 50


def test_features_take_pictures_of_unknown_size():
    with tf.Graph().as_default():
        pictures = tf1.placeholder(tf.float32, [None, None, None, 3])
        features = vgg_features(pictures, configuration="A", base_width=2)
        assert features.shape.as_list() == [None, None, None, 16]
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            values = session.run(features, {pictures: np.zeros([2, 67, 97, 3])})
    assert values.shape == (2, 2, 3, 16)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"configuration": "F"}, "no configuration 'F'"),
        ({"base_width": 0}, "base_width must be at least 1"),
        ({"num_classes": 0}, "num_classes must be at least 1"),
        ({"keep_prob": 0.0}, "keep_prob is the share kept"),
        ({"keep_prob": 1.5}, "keep_prob is the share kept"),
        ({"shape": [1, 31, 32, 3]}, "31 x 32 are too small"),
        ({"shape": [32, 32, 3]}, r"expected \[batch, height, width, channels\]"),
        ({"shape": [1, 32, 32, None]}, "conv1_1"),
    ],
)
def test_arguments_are_checked_before_a_variable_is_made(options, message):
    shape = options.pop("shape", [1, 32, 32, 3])
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match=message):
            vgg_net(tf1.placeholder(tf.float32, shape), **options)
        assert not tf1.global_variables()


def test_table_arguments_are_checked():
    with pytest.raises(ValueError, match="31 x 31 are too small"):
        layer_table("E", 31)
    with pytest.raises(ValueError, match="no configuration"):
        layer_table("VGG19")
