"""VGG networks in configurations A to E, with an adjustable width.

Taught in lesson 06a, 'Five networks from one table'.
"""

import math
from typing import NamedTuple

import tensorflow as tf

from helpers.arguments import SIDE, numbers, real, whole
from helpers.layers import conv_layer, flatten, fully_connected_layer, pool_layer

# Per configuration and block, the kernel size of each convolution; a 2x2 pool ends
# each block. Columns A to E of table 1 in the paper (A-LRN left out).
CONFIGURATIONS = {
    "A": ((3,), (3,), (3, 3), (3, 3), (3, 3)),
    "B": ((3, 3), (3, 3), (3, 3), (3, 3), (3, 3)),
    "C": ((3, 3), (3, 3), (3, 3, 1), (3, 3, 1), (3, 3, 1)),
    "D": ((3, 3), (3, 3), (3, 3, 3), (3, 3, 3), (3, 3, 3)),
    "E": ((3, 3), (3, 3), (3, 3, 3, 3), (3, 3, 3, 3), (3, 3, 3, 3)),
}
# Widths in base widths: kernels per block, and the nodes of fc6 and fc7. At the
# paper's base width of 64 these are 64, 128, 256, 512, 512 and 4096.
BLOCK_WIDTHS = (1, 2, 4, 8, 8)
FC_WIDTH = 64
SMALLEST_IMAGE = 2 ** len(BLOCK_WIDTHS)
FLOAT_BYTES = 4


class Layer(NamedTuple):
    """Output shape and cost of one layer, as a row of `layer_table`.

    Attributes:
      name: Name such as `"conv1_1"`, `"pool1"`, or `"fc6"`, or `"input"` for the
        pictures.
      output_shape: Shape without the batch axis: `(height, width, channels)` or
        `(nodes,)`.
      parameters: Number of kernel and bias values.
      multiply_adds: Number of multiply-adds for one picture in the forward pass,
        without biases, ReLU, and pooling.
      bytes: Size of the output for one picture in float32.
    """

    name: str
    output_shape: tuple[int, ...]
    parameters: int
    multiply_adds: int
    bytes: int


@numbers(base_width=whole())
def vgg_features(
    incoming: tf.Tensor, *, configuration: str = "E", base_width: int = 64
) -> tf.Tensor:
    """Builds the five convolutional blocks of a VGG network.

    Args:
      incoming: float32 `[batch, height, width, 3]`, or another known number of
        channels, with height and width of at least 32.
      configuration: VGG configuration, a key of `CONFIGURATIONS`.
      base_width: Number of kernels in block 1. The other blocks have 2, 4, 8, and 8
        times as many.

    Returns:
      The output of the fifth pooling layer, float32 `[batch, height // 32, width // 32,
      8 * base_width]`. The variables `conv1_1/kernel`, `conv1_1/bias`, and so on, are
      in the open scope.

    Raises:
      ValueError: If the pictures are too small.

    Source: Simonyan, Zisserman, "Very Deep Convolutional Networks for Large-Scale Image
    Recognition", 2015.
    """
    blocks = _blocks(configuration, base_width)
    _check_images(incoming)
    outgoing = incoming
    for number, (kernel_sizes, width) in enumerate(blocks, start=1):
        for index, kernel_size in enumerate(kernel_sizes, start=1):
            outgoing = conv_layer(
                outgoing, width, kernel_size, name=f"conv{number}_{index}"
            )
        # In a scope, because TensorBoard folds ops named pool1 to pool5 into a series.
        outgoing = pool_layer(outgoing, 2, name=f"pool{number}/MaxPool")
    return outgoing


@numbers(keep_prob=real(0, 1, above=True, tensors=True),
         num_classes=whole(), base_width=whole())
def vgg_net(
    incoming: tf.Tensor,
    keep_prob: float | tf.Tensor = 1.0,
    *,
    configuration: str = "E",
    num_classes: int = 1000,
    base_width: int = 64,
) -> tf.Tensor:
    """Builds a VGG network from pictures to logits.

    The last layer is linear, so add a softmax, or a loss that contains one.

    Args:
      incoming: float32 `[batch, height, width, 3]`, with known height and width of at
        least 32.
      keep_prob: Share of the outputs of fc6 and fc7 that dropout keeps, as a number or
        as a float32 scalar tensor such as `tf1.placeholder_with_default(1.0, [])`. With
        the number 1.0, no dropout ops are built.
      configuration: VGG configuration, a key of `CONFIGURATIONS`. "E" has 19 layers
        with weights.
      num_classes: Number of logits per picture.
      base_width: Number of kernels in block 1. fc6 and fc7 have 64 times as many nodes,
        so that a narrow network has the proportions of the wide one: 4096 at 64, and
        512 at 8.

    Returns:
      Logits, float32 `[batch, num_classes]`. The variables are those of `vgg_features`,
      followed by a `kernel` and a `bias` each for `fc6`, `fc7`, and `fc8`. Kernels have
      He initialization, and biases are 0.

    Raises:
      ValueError: If the pictures are too small.
    """
    dropout = _dropout(keep_prob)
    features = vgg_features(
        incoming, configuration=configuration, base_width=base_width
    )
    outgoing = flatten(features, name="flatten")
    for name in ("fc6", "fc7"):
        outgoing = fully_connected_layer(
            outgoing, FC_WIDTH * base_width, activation_fn=tf.nn.relu,
            keep_prob=dropout, name=name,
        )
    return fully_connected_layer(outgoing, num_classes, name="fc8")


@numbers(num_classes=whole(), base_width=whole(), size=whole(most=SIDE),
         keep_prob=real(0, 1, above=True))
def keras_vgg(
    configuration: str,
    num_classes: int,
    base_width: int,
    size: int = 64,
    keep_prob: float = 0.9,
) -> tf.keras.Sequential:
    """Builds the same VGG network as a Keras model.

    All shapes are the same, in the same order.

    Taught in lesson 06b, 'The same thing today'.

    Args:
      configuration: VGG configuration, a key of `CONFIGURATIONS`.
      num_classes: Number of logits per picture.
      base_width: Number of kernels in block 1.
      size: Height and width of the RGB pictures.
      keep_prob: Share of the outputs of fc6 and fc7 that dropout keeps.
    """
    net = [tf.keras.layers.Input([size, size, 3])]
    for kernel_sizes, width in _blocks(configuration, base_width):
        for kernel_size in kernel_sizes:
            net.append(tf.keras.layers.Conv2D(
                width, kernel_size, padding="same", activation="relu",
                kernel_initializer="he_normal",
            ))
        net.append(tf.keras.layers.MaxPool2D())
    net.append(tf.keras.layers.Flatten())
    for _ in ("fc6", "fc7"):
        net.append(tf.keras.layers.Dense(
            FC_WIDTH * base_width, "relu", kernel_initializer="he_normal"
        ))
        net.append(tf.keras.layers.Dropout(1 - keep_prob))
    net.append(tf.keras.layers.Dense(num_classes))
    return tf.keras.Sequential(net)


@numbers(image_size=whole(most=SIDE), num_classes=whole(), base_width=whole())
def layer_table(
    configuration: str = "E",
    image_size: int = 224,
    num_classes: int = 1000,
    *,
    base_width: int = 64,
) -> list[Layer]:
    """Computes the output shape and the cost of each layer of a VGG network.

    The network is not built.

    Args:
      configuration: VGG configuration, a key of `CONFIGURATIONS`.
      image_size: Height and width of the RGB pictures.
      num_classes: Number of logits per picture.
      base_width: Number of kernels in block 1.

    Returns:
      One `Layer` for the input and for each convolution, pooling, and fully connected
      layer, in order. Their sums are those of the whole network.
    """
    blocks = _blocks(configuration, base_width)
    size, channels = image_size, 3
    rows = [_row("input", (size, size, channels))]
    for number, (kernel_sizes, width) in enumerate(blocks, start=1):
        for index, kernel_size in enumerate(kernel_sizes, start=1):
            kernel = kernel_size**2 * channels * width
            name, shape = f"conv{number}_{index}", (size, size, width)
            rows.append(_row(name, shape, kernel + width, size * size * kernel))
            channels = width
        size //= 2
        rows.append(_row(f"pool{number}", (size, size, channels)))
    nodes = size * size * channels
    wide = FC_WIDTH * base_width
    for name, width in (("fc6", wide), ("fc7", wide), ("fc8", num_classes)):
        rows.append(_row(name, (width,), nodes * width + width, nodes * width))
        nodes = width
    return rows


def _row(name, output_shape, parameters=0, multiply_adds=0) -> Layer:
    size = FLOAT_BYTES * math.prod(output_shape)
    return Layer(name, output_shape, parameters, multiply_adds, size)


def _blocks(configuration, base_width) -> list[tuple[tuple[int, ...], int]]:
    """Returns the kernel sizes and the width of each block."""
    widths = [base_width * times for times in BLOCK_WIDTHS]
    return list(zip(CONFIGURATIONS[configuration], widths, strict=True))


def _check_images(incoming) -> None:
    sizes = incoming.shape[1:3].as_list()
    if any(size is not None and size < SMALLEST_IMAGE for size in sizes):
        raise ValueError(
            f"Pictures must be at least {SMALLEST_IMAGE} x {SMALLEST_IMAGE} pixels, "
            f"but {incoming.name} has {sizes[0]} x {sizes[1]}."
        )


def _dropout(keep_prob):
    """Converts `keep_prob` to the form that the layer function expects."""
    if tf.is_tensor(keep_prob):
        keep_prob.shape.assert_is_compatible_with([])
        return keep_prob
    return None if keep_prob == 1.0 else keep_prob
