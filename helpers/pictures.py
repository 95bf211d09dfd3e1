"""The arithmetic of pictures in a graph: the range of floats, shifting, mirroring.

Nothing here is random: the caller hands the random numbers in, so a pipeline
decides alone what its order depends on.
"""

import tensorflow as tf

from helpers.arguments import numbers, whole


def from_bytes(images: tf.Tensor) -> tf.Tensor:
    """Returns pictures in the range of graphs: float32 in [-1, 1], of the same shape.

    Args:
      images: of any type and shape, from 0 to 255.
    """
    return (tf.cast(images, tf.float32) - 127.5) / 127.5


@numbers(margin=whole(0))
def shifted(image: tf.Tensor, margin: int, corner: tf.Tensor) -> tf.Tensor:
    """Moves a picture; what comes in at the edge mirrors what is there.

    Args:
      image: `[height, width, channels]`, of known size and any type.
      margin: pixels that it moves at most.
      corner: `int32 [2]`, the row and the column at which the picture begins, from 0
        to twice the margin, which is included; the margin itself moves nothing.
    """
    around = [[margin, margin], [margin, margin], [0, 0]]
    padded = tf.pad(image, around, "REFLECT")
    height, width, _ = image.shape
    return tf.image.crop_to_bounding_box(padded, corner[0], corner[1], height, width)


@numbers(margin=whole(0))
def shifted_and_mirrored(image: tf.Tensor, margin: int, number: tf.Tensor) -> tf.Tensor:
    """Moves a picture, and mirrors half of all, as one random number says.

    Args:
      image: `[height, width, channels]`, of known size and any type.
      margin: pixels that it moves at most.
      number: `int64 []`, drawn evenly from a range that is much larger than
        `2 * (2 * margin + 1) ** 2`; the same number does the same.
    """
    places = 2 * margin + 1
    corner = tf.stack([number % places, number // places % places])
    moved = shifted(image, margin, tf.cast(corner, tf.int32))
    mirror = tf.cast(number // places**2 % 2, tf.bool)
    return tf.where(mirror, tf.reverse(moved, [1]), moved)
