"""The size that a picture is resized to is one list, where it was two numbers.

Since: TensorFlow 1.0
Sitting: 04a
Side: TensorFlow 0.12

Left:

    x = tf.placeholder(tf.float32, [1, 8, 8, 3])
    y = tf.image.resize_images(x, 4, 4)  # left: its size is one list
    z = tf.image.resize_images(x, [4, 4], 1)
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)


@rule.call("tf.image.resize_images")
def two_numbers(use):
    """Leaves a call that gives height and width apart."""
    if use.call.positional > 2 and use.call.second != "list":
        yield use.left("its size is one list, [height, width]")
