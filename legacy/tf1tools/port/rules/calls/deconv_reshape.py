"""Marks reshapes to the static shape of a transposed convolution.

Before TensorFlow 1.13, `get_shape()` returned the shape that the call had asked
for, so a reshape to it changed nothing. Today the batch size is that of the input. It
may be `None`, and then the reshape raises an error.

Since: TensorFlow 1.13
Lesson: 06b
Side: TensorFlow 1.15

Left:

    x = tf.placeholder(tf.float32)
    y = tf.nn.conv2d_transpose(x, w, s, t)
    y = tf.reshape(y, y.get_shape())  # left: tf.shape(...)
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)


@rule.call("tf.reshape")
def by_shape(use):
    """Marks reshapes to a static shape in files with transposed convolutions."""
    deconvolves = any(
        other.name.startswith(("tf.nn.conv2d_transpose", "tf.nn.deconv2d"))
        for other in use.part.file.uses)
    if deconvolves and "".join(use.arguments[1:2]).endswith(".get_shape()"):
        yield use.left("pass tf.shape(...) instead, because the batch size of "
                       "conv2d_transpose may be unknown today")
