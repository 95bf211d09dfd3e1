"""Deterministic image ops: conversion to floats, shifting, and mirroring.

No function here is random. The caller passes the random numbers, so that the pipeline
alone decides what its order depends on.
"""

import tensorflow as tf

from helpers.arguments import numbers, whole


def from_bytes(images: tf.Tensor) -> tf.Tensor:
    """Converts pictures from [0, 255] to float32 in [-1, 1].

    Args:
      images: Pictures of any dtype and shape, with values from 0 to 255.
    """
    return (tf.cast(images, tf.float32) - 127.5) / 127.5


@numbers(margin=whole(0))
def shifted(image: tf.Tensor, margin: int, corner: tf.Tensor) -> tf.Tensor:
    """Shifts a picture and fills the border by reflection.

    Args:
      image: Picture `[height, width, channels]` of known size and any dtype.
      margin: Maximum shift in pixels.
      corner: Row and column at which the picture begins, int32 `[2]`, each from 0 to
        twice the margin (inclusive). If both equal the margin, the picture does not
        move.
    """
    around = [[margin, margin], [margin, margin], [0, 0]]
    padded = tf.pad(image, around, "REFLECT")
    height, width, _ = image.shape
    return tf.image.crop_to_bounding_box(padded, corner[0], corner[1], height, width)


@numbers(margin=whole(0))
def shifted_and_mirrored(image: tf.Tensor, margin: int, number: tf.Tensor) -> tf.Tensor:
    """Shifts a picture and mirrors it or not, as determined by one random number.

    Args:
      image: Picture `[height, width, channels]` of known size and any dtype.
      margin: Maximum shift in pixels.
      number: int64 `[]`, drawn uniformly from a range much larger than `2 * (2 * margin
        + 1) ** 2`. Equal numbers have equal effects.
    """
    places = 2 * margin + 1
    corner = tf.stack([number % places, number // places % places])
    moved = shifted(image, margin, tf.cast(corner, tf.int32))
    mirror = tf.cast(number // places**2 % 2, tf.bool)
    return tf.where(mirror, tf.reverse(moved, [1]), moved)
