"""Layer functions built on `get_variable`, so that scopes can share their weights.

Taught in lesson 01a, "A layer called twice, again", and in 06a and 08a.
"""

import math
from collections.abc import Callable

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.arguments import numbers, real, sides, whole

Activation = Callable[[tf.Tensor], tf.Tensor]


def he_initializer() -> tf1.variance_scaling_initializer:
    """Returns He's initializer: a truncated normal with variance 2 / fan_in.

    fan_in is kernel height x kernel width x input channels. The initializer compensates
    for the loss of standard deviation by truncation.

    Source: He, Zhang, Ren, Sun, "Delving Deep into Rectifiers", 2015.
    """
    return tf1.variance_scaling_initializer(
        scale=2.0, mode="fan_in", distribution="truncated_normal"
    )


@numbers(num_kernels=whole(), kernel_size=sides(), strides=sides())
def conv_layer(
    incoming: tf.Tensor,
    num_kernels: int,
    kernel_size: int | tuple[int, int],
    *,
    strides: tuple[int, int] = (1, 1),
    padding: str = "SAME",
    activation_fn: Activation | None = tf.nn.relu,
    name: str,
) -> tf.Tensor:
    """Applies a 2-D convolution, a bias, and an activation function.

    Args:
      incoming: float32 `[batch, height, width, channels]`, with known channels.
      num_kernels: Number of output channels.
      kernel_size: Rows and columns of the kernel, or one number for both.
      strides: Rows and columns by which the kernel moves.
      padding: `"SAME"` or `"VALID"`.
      activation_fn: Activation function, or `None` for a linear layer.
      name: Name of the variable scope. It contains `kernel` `[rows, columns, channels,
        num_kernels]`, with He initialization, and `bias` `[num_kernels]`.

    Returns:
      float32 `[batch, new_height, new_width, num_kernels]`.

    Raises:
      ValueError: If `incoming` does not have four axes, or if its channel axis is
        unknown.
    """
    channels = _known_last_axis(incoming, 4, name)
    rows, columns = _pair(kernel_size)
    with tf1.variable_scope(name):
        kernel = tf1.get_variable(
            "kernel", [rows, columns, channels, num_kernels],
            initializer=he_initializer(),
        )
        bias = tf1.get_variable(
            "bias", [num_kernels], initializer=tf1.zeros_initializer()
        )
        outgoing = tf.nn.conv2d(incoming, kernel, list(_pair(strides)), padding)
        return _activate(tf.nn.bias_add(outgoing, bias), activation_fn)


@numbers(ksize=sides(), strides=sides())
def pool_layer(
    incoming: tf.Tensor,
    ksize: int | tuple[int, int],
    strides: int | tuple[int, int] | None = None,
    padding: str = "VALID",
    pool_fn: Callable = tf.nn.max_pool2d,
    name: str | None = None,
) -> tf.Tensor:
    """Applies max or average pooling to each channel.

    Args:
      incoming: float32 `[batch, height, width, channels]`.
      ksize: Rows and columns of the window, or one number for both.
      strides: Rows and columns by which the window moves. Default: the window size.
      padding: `"SAME"` or `"VALID"`.
      pool_fn: `tf.nn.max_pool2d` or `tf.nn.avg_pool2d`.
      name: Name of the op.

    Returns:
      float32 `[batch, new_height, new_width, channels]`.
    """
    window = _pair(ksize)
    moves = window if strides is None else _pair(strides)
    return pool_fn(incoming, list(window), list(moves), padding, name=name)


def flatten(incoming: tf.Tensor, name: str | None = None) -> tf.Tensor:
    """Flattens all axes after the batch axis into one.

    Args:
      incoming: Tensor `[batch, ...]` in which all axes except the batch are known.
      name: Name of the op.

    Returns:
      Tensor `[batch, values]` of the same dtype.

    Raises:
      ValueError: If an axis after the batch is unknown.
    """
    axes = incoming.shape[1:].as_list()
    if None in axes:
        raise ValueError(
            f"Cannot flatten {incoming.name} of shape {incoming.shape}: only the batch "
            "axis may be unknown. Set the shape with tf.ensure_shape."
        )
    return tf.reshape(incoming, [-1, math.prod(axes)], name=name)


@numbers(num_nodes=whole(), keep_prob=real(0, 1, above=True, tensors=True))
def fully_connected_layer(
    incoming: tf.Tensor,
    num_nodes: int,
    *,
    activation_fn: Activation | None = None,
    keep_prob: float | tf.Tensor | None = None,
    name: str,
) -> tf.Tensor:
    """Applies a dense layer with optional activation and dropout.

    Args:
      incoming: float32 `[batch, values]`, with a known number of values.
      num_nodes: Number of outputs per example.
      activation_fn: Activation function, applied before dropout, or `None` for a linear
        layer.
      keep_prob: Share of the outputs that dropout keeps, as a number or a float32
        scalar tensor. With `None`, no dropout op is built.
      name: Name of the variable scope. It contains `kernel` `[values, num_nodes]`, with
        He initialization, and `bias` `[num_nodes]`.

    Returns:
      float32 `[batch, num_nodes]`.

    Raises:
      ValueError: If `incoming` does not have two axes, or if its last axis is unknown.
    """
    values = _known_last_axis(incoming, 2, name)
    with tf1.variable_scope(name):
        kernel = tf1.get_variable(
            "kernel", [values, num_nodes], initializer=he_initializer()
        )
        bias = tf1.get_variable(
            "bias", [num_nodes], initializer=tf1.zeros_initializer()
        )
        outgoing = tf.nn.bias_add(tf.matmul(incoming, kernel), bias)
        outgoing = _activate(outgoing, activation_fn)
        if keep_prob is None:
            return outgoing
        return tf.nn.dropout(outgoing, rate=1.0 - keep_prob, name="dropout")


@numbers(num_nodes=whole(), keep_prob=real(0, 1, above=True, tensors=True))
def fully_connected_xavier_relu_layer(
    incoming: tf.Tensor,
    num_nodes: int,
    *,
    keep_prob: float | tf.Tensor | None = None,
    name: str,
) -> tf.Tensor:
    """Applies a dense layer with ReLU and He initialization, despite its name.

    Old code uses this name. It mentions Xavier, but the variance was always 2 / fan_in,
    which is He's rule and the right one for ReLU; Xavier's rule is 2 / (fan_in +
    fan_out). Do not use this layer for logits, because ReLU removes negative values.

    Args:
      incoming: float32 `[batch, values]`, with a known number of values.
      num_nodes: Number of outputs per example.
      keep_prob: Share of the outputs that dropout keeps, as in `fully_connected_layer`.
      name: Name of the variable scope.

    Returns:
      float32 `[batch, num_nodes]`, never negative.
    """
    return fully_connected_layer(
        incoming, num_nodes, activation_fn=tf.nn.relu, keep_prob=keep_prob, name=name
    )


def gru_cell(inputs: tf.Tensor, state: tf.Tensor, *, name: str) -> tf.Tensor:
    """Computes one step of a gated recurrent unit (GRU).

    As in the paper, the reset gate is applied to the state before the matrix product
    (in Keras, `reset_after=False`).

    Args:
      inputs: float32 `[batch, values]`, with a known number of values.
      state: float32 `[batch, units]`, with a known number of units.
      name: Name of the variable scope. It contains `gates/kernel` `[values + units, 2 *
        units]` (update, reset), `candidate/kernel` `[values + units, units]`, and a
        `bias` beside each. The initializers are those of the scope.

    Returns:
      The new state, float32 `[batch, units]`.

    Source: Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder",
    2014.
    """
    units = state.shape[-1]
    with tf1.variable_scope(name):
        gates = _affine(tf.concat([inputs, state], 1), 2 * units, "gates")
        update, reset = tf.split(tf.sigmoid(gates), 2, axis=1)
        candidate = tf.tanh(
            _affine(tf.concat([inputs, reset * state], 1), units, "candidate")
        )
        return update * state + (1.0 - update) * candidate


def lstm_cell(
    inputs: tf.Tensor, state: tuple[tf.Tensor, tf.Tensor], *, name: str
) -> tuple[tf.Tensor, tf.Tensor]:
    """Computes one step of a long short-term memory (LSTM).

    Args:
      inputs: float32 `[batch, values]`, with a known number of values.
      state: Cell state and output `(c, h)`, each float32 `[batch, units]`, with a known
        number of units.
      name: Name of the variable scope. It contains `kernel` `[values + units, 4 *
        units]` (input, forget, candidate, and output gate) and `bias` `[4 * units]`,
        which is initialised to 1 for the forget gate and to 0 elsewhere.

    Returns:
      The new `(c, h)`, each float32 `[batch, units]`.

    Source: Hochreiter, Schmidhuber, "Long Short-Term Memory", 1997; forget gate and its
    bias: Gers, Schmidhuber, Cummins, 2000.
    """
    cell, output = state
    units = output.shape[-1]

    def forget_gate_open(shape, dtype=None, partition_info=None):
        return tf.repeat([0.0, 1.0, 0.0, 0.0], units)

    with tf1.variable_scope(name):
        gates = _affine(
            tf.concat([inputs, output], 1), 4 * units, None, forget_gate_open
        )
        write, keep, candidate, read = tf.split(gates, 4, axis=1)
        cell = tf.sigmoid(keep) * cell + tf.sigmoid(write) * tf.tanh(candidate)
        return cell, tf.sigmoid(read) * tf.tanh(cell)


def _affine(incoming, num_nodes, scope, bias_initializer=None):
    """Multiplies by a kernel and adds a bias, in the given or the current scope."""
    values = incoming.shape[-1]
    with tf1.variable_scope(scope or tf1.get_variable_scope()):
        kernel = tf1.get_variable("kernel", [values, num_nodes])
        bias = tf1.get_variable(
            "bias", [num_nodes],
            initializer=bias_initializer or tf1.zeros_initializer(),
        )
    return tf.nn.bias_add(tf.matmul(incoming, kernel), bias)


def _activate(outgoing, activation_fn):
    return outgoing if activation_fn is None else activation_fn(outgoing)


def _pair(value):
    return (value, value) if isinstance(value, int) else tuple(value)


def _known_last_axis(incoming: tf.Tensor, axes: int, name: str) -> int:
    """Returns the size of the last axis, or raises `ValueError` if it is unknown."""
    shape = incoming.shape
    if shape.rank != axes or shape[-1] is None:
        raise ValueError(
            f"Layer {name} expects a tensor with {axes} axes and a known last axis, "
            f"but got {incoming.name} with shape {shape}."
        )
    return shape[-1]
