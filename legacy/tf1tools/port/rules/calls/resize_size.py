"""Marks `resize_images` calls that pass height and width as two arguments.

Since TensorFlow 1.0, the size of the picture is a single list, `[height, width]`.

Since: TensorFlow 1.0
Lesson: 04a
Side: TensorFlow 0.12

Left:

    x = tf.placeholder(tf.float32, [1, 8, 8, 3])
    y = tf.image.resize_images(x, 4, 4)  # left: pass the size as one list
    z = tf.image.resize_images(x, [4, 4], 1)
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)


@rule.call("tf.image.resize_images")
def two_numbers(use):
    """Marks a `resize_images` call that passes height and width separately."""
    if use.call.positional > 2 and use.call.second != "list":
        yield use.left("pass the size as one list, [height, width]")
