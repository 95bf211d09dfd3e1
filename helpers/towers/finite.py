"""Checks that averaged gradients are finite, and names the tower if they are not.

A value that is NaN or infinite in one tower is also NaN or infinite in the average. The
gradients of all towers, which together are many times larger, are therefore searched
only if the average is bad.
"""

import tensorflow as tf

from helpers.towers.agreement import Gradient, plain_name


def values_of(gradient: Gradient) -> tf.Tensor:
    """Returns the values of a dense or sparse gradient.

    Args:
      gradient: Gradient, not `None`.
    """
    sparse = isinstance(gradient, tf.IndexedSlices)
    return gradient.values if sparse else gradient


def check_average(
    average: Gradient, gradients: list[Gradient], variable: tf.Variable
) -> tf.Operation:
    """Builds an op that fails if the averaged gradient is not finite.

    Args:
      average: Average over all towers, not `None`.
      gradients: Gradients of the towers from which the average was computed.
      variable: Variable to update.

    Returns:
      An op whose error names the variable and the tower. If the gradients of all towers
      are finite, the error says that their sum overflows.
    """
    with tf.device(variable.device):
        values = _rows_added(average)
        # A sum is finite only if all its terms are. If only the sum is infinite, the
        # search finds nothing, and the step continues.
        finite = tf.math.is_finite(tf.reduce_sum(values))
    return tf.cond(
        finite, lambda: True, lambda: _blame(values, gradients, variable)
    ).op


def _rows_added(average: Gradient) -> tf.Tensor:
    """Returns the gradient with duplicate rows summed."""
    if not isinstance(average, tf.IndexedSlices):
        return average
    rows, places = tf.unique(average.indices)
    return tf.math.unsorted_segment_sum(average.values, places, tf.size(rows))


def _blame(
    average: tf.Tensor, gradients: list[Gradient], variable: tf.Variable
) -> tf.Tensor:
    """Fails with the name of the faulty tower, or of an overflowing sum."""
    name, checks = plain_name(variable), []
    for tower, gradient in enumerate(gradients):
        values = values_of(gradient)
        with tf.device(values.device):
            checks.append(tf.debugging.check_numerics(
                values, f"gradient of variable '{name}' in tower {tower}"
            ))
    with tf.control_dependencies(checks), tf.device(average.device):
        whole = tf.debugging.check_numerics(
            average, f"The sum of the towers' gradients of variable '{name}' overflows "
            f"{average.dtype.name}, although each gradient is finite. Pass weights="
            "[1, ...], with which the gradients are divided before they are added",
        )
    with tf.control_dependencies([whole]):
        return tf.constant(True)
