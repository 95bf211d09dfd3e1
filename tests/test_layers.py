"""The layers against NumPy and Keras, at prime sizes; names, sharing, errors."""

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import layers

RANDOM = np.random.default_rng(11)


def normal(*shape):
    return RANDOM.normal(size=shape).astype(np.float32)


def run(build, *inputs):
    """Builds on constants; returns the value and the variables' values by name."""
    with tf.Graph().as_default():
        tf1.set_random_seed(5)
        out = build(*map(tf.constant, inputs))
        variables = {v.op.name: v for v in tf1.global_variables()}
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            return session.run([out, variables])


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("strides", [(1, 1), (2, 3)])
@pytest.mark.parametrize("kernel_size", [3, (2, 5)])
def test_convolution_adds_the_bias_and_then_activates(padding, strides, kernel_size):
    images = normal(2, 11, 13, 3)
    with tf.Graph().as_default():
        out = layers.conv_layer(tf.constant(images), 2, kernel_size, strides=strides,
                                padding=padding, name="conv")
        kernel, bias = tf1.global_variables()
        with tf1.Session() as session:
            session.run(kernel.initializer)
            bias.load(np.float32([0.5, -0.5]), session)
            got, kernel = session.run([out, kernel])
    rows, columns = (3, 3) if kernel_size == 3 else kernel_size
    assert kernel.shape == (rows, columns, 3, 2)
    keras = tf.keras.layers.Conv2D(2, kernel_size, strides, padding, activation="relu")
    keras.build(images.shape)
    keras.set_weights([kernel, np.float32([0.5, -0.5])])
    np.testing.assert_allclose(got, keras(images), atol=1e-5)
    assert got.min() == 0


@pytest.mark.parametrize("pool_fn, reduce", [
    (tf.nn.max_pool2d, np.max), (tf.nn.avg_pool2d, np.mean)])
@pytest.mark.parametrize("ksize, strides", [(2, None), ((3, 2), (1, 3))])
def test_pool_equals_numpy(pool_fn, reduce, ksize, strides):
    images = normal(2, 11, 13, 3)
    got, variables = run(
        lambda x: layers.pool_layer(x, ksize, strides, pool_fn=pool_fn), images)
    rows, columns = (ksize, ksize) if isinstance(ksize, int) else ksize
    down, right = strides or (rows, columns)
    wanted = np.stack([
        np.stack([reduce(images[:, i:i + rows, j:j + columns], axis=(1, 2))
                  for j in range(0, 13 - columns + 1, right)], axis=1)
        for i in range(0, 11 - rows + 1, down)], axis=1)
    np.testing.assert_allclose(got, wanted, atol=1e-6)
    assert not variables


def test_flatten_keeps_row_major_order_the_batch_and_the_name():
    with tf.Graph().as_default():
        x = tf1.placeholder(tf.float32, [None, 3, 5, 7])
        flat = layers.flatten(x, name="flat")
        assert flat.op.name == "flat" and flat.shape.as_list() == [None, 105]
        images = normal(2, 3, 5, 7)
        with tf1.Session() as session:
            got = session.run(flat, {x: images})
    np.testing.assert_array_equal(got, images.reshape(2, 105))


@pytest.mark.parametrize("layer, activation", [
    (layers.fully_connected_layer, None),
    (layers.fully_connected_xavier_relu_layer, "relu"),
])
def test_fully_connected_equals_keras(layer, activation):
    x = normal(7, 11)
    got, variables = run(lambda x: layer(x, 5, name="fc"), x)
    keras = tf.keras.layers.Dense(5, activation=activation)
    keras.build(x.shape)
    keras.set_weights([variables["fc/kernel"], variables["fc/bias"]])
    np.testing.assert_allclose(got, keras(x), atol=1e-5)


@pytest.mark.parametrize("keep, as_tensor", [(0.9, False), (0.1, True)])
def test_keep_prob_is_the_share_kept_and_the_mean_stays(keep, as_tensor):
    def build(x):
        keep_prob = tf.constant(keep) if as_tensor else keep
        return layers.fully_connected_layer(x, 10_007, keep_prob=keep_prob, name="fc")

    x = normal(1, 3)
    dropped, variables = run(build, x)
    full = x @ variables["fc/kernel"] + variables["fc/bias"]
    kept = dropped != 0
    assert abs(kept.mean() - keep) < 0.02
    np.testing.assert_allclose(dropped[kept], full[kept] / keep, atol=1e-5)


@pytest.mark.parametrize("build, fan_in", [
    (lambda: layers.conv_layer(tf.zeros([1, 9, 9, 61]), 67, 5, name="a"), 25 * 61),
    (lambda: layers.fully_connected_layer(tf.zeros([1, 307]), 331, name="a"), 307),
])
def test_he_variance_counts_the_kernel_not_the_picture(build, fan_in):
    _, variables = run(lambda: build())
    kernel = variables["a/kernel"]
    assert abs(kernel.std() / np.sqrt(2 / fan_in) - 1) < 0.02
    assert abs(kernel.mean()) < 4 * kernel.std() / np.sqrt(kernel.size)
    assert not variables["a/bias"].any()


LAYERS = {
    "conv": lambda x, name: layers.conv_layer(x, 3, 3, name=name),
    "fc": lambda x, name: layers.fully_connected_layer(
        layers.flatten(x), 3, name=name),
    "gru": lambda x, name: layers.gru_cell(
        layers.flatten(x), tf.zeros([2, 5]), name=name),
    "lstm": lambda x, name: layers.lstm_cell(
        layers.flatten(x), (tf.zeros([2, 5]), tf.zeros([2, 5])), name=name),
}


@pytest.mark.parametrize("layer", LAYERS.values(), ids=list(LAYERS))
def test_reuse_shares_and_without_it_the_name_is_taken(layer):
    with tf.Graph().as_default():
        x = tf.constant(normal(2, 5, 7, 3))
        one = layer(x, "a")
        count = len(tf1.global_variables())
        assert all(v.op.name.startswith("a/") for v in tf1.global_variables())
        with pytest.raises(ValueError, match="already exists"):
            layer(x, "a")
        with tf1.variable_scope(tf1.get_variable_scope(), reuse=True):
            two = layer(x, "a")
        assert len(tf1.global_variables()) == count
        layer(x, "b")
        assert len(tf1.global_variables()) == 2 * count
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            one, two = session.run([one, two])
    np.testing.assert_array_equal(np.asarray(one), np.asarray(two))
