"""Deterministic image ops: conversion to floats, shifting, and mirroring.

Nothing here is random: the caller hands the random numbers in, so a pipeline
decides alone what its order depends on.
"""

import tensorflow as tf

from helpers.arguments import numbers, whole


def from_bytes(images: tf.Tensor) -> tf.Tensor:
    """Converts pictures from [0, 255] to float32 in [-1, 1].

    Args:
      images: of any type and shape, from 0 to 255.
    """
    return (tf.cast(images, tf.float32) - 127.5) / 127.5


@numbers(margin=whole(0))
def shifted(image: tf.Tensor, margin: int, corner: tf.Tensor) -> tf.Tensor:
    """Shifts a picture and fills the border by reflection.

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
    """Shifts a picture and mirrors it or not, as determined by one random number.

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
