"""Averages the gradients of all towers, and releases all averages or none."""

import math
from collections.abc import Sequence

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.arguments import real
from helpers.towers.agreement import (
    Gradient,
    GradientsAndVariables,
    check_missing,
    check_variables,
)
from helpers.towers.finite import check_average, values_of


def process_gradient_list(
    gradient_list: Sequence[GradientsAndVariables],
    weights: Sequence[float | tf.Tensor] | None = None,
    *,
    losses: Sequence[tf.Tensor] | None = None,
) -> GradientsAndVariables:
    """Averages the gradients of several towers for `apply_gradients`.

    The result can be passed to `apply_gradients`. The update is all or nothing: before
    any average is released, all averages and losses are checked to be finite. If one of
    them is not, the error names the tower that caused it. Sparse gradients
    (`IndexedSlices`) stay sparse, unless the same gradient of another tower is dense.

    Large gradients are added faster, and with less memory, if the session's
    `graph_options.rewrite_options.memory_optimization` is `NO_MEM_OPT`.

    Args:
      gradient_list: One list per tower, as returned by `compute_gradients`. All lists
        must have the same variables in the same order. A gradient that is `None` in
        every tower stays `None`.
      weights: One weight per tower, as numbers or scalar tensors, none below 0. If the
        slices of the batch differ in size, pass their sizes. Default: equal weights.
      losses: One scalar loss per tower, to be checked as well, because a loss can be
        NaN while its gradients are finite.

    Returns:
      A list of `(gradient, variable)` pairs in the order of tower 0. Each gradient is
      placed on the device of its variable.

    Raises:
      ValueError: If there are no towers or no gradients, if the towers do not list the
        same variables in the same order, if a gradient is `None` in some towers only,
        or if the weights are not finite, below 0, all 0, or not one per tower.
      tf.errors.InvalidArgumentError: At run time, if a tower produces NaN or infinity,
        if a weight is invalid, or if a sum overflows. The error names the weight, or
        the variable and the tower, and no variable has changed.

    Taught in lesson 05b, "What an average must not lose" and "All or nothing".
    Source: the towers document, `process_gradient_list`.
    """
    towers = [list(tower) for tower in gradient_list]
    if not any(towers):
        raise ValueError(
            f"Cannot average the gradients: none of the {len(towers)} towers has any. "
            "Pass the result of compute_gradients for each tower."
        )
    check_variables(towers)
    check_missing(towers)
    shares = _shares(weights, len(towers))
    with tf1.name_scope("average"):
        averages, checks = [], []
        for pairs in zip(*towers, strict=True):
            gradients, variable = [g for g, _ in pairs], pairs[0][1]
            with tf.device(variable.device):
                averages.append(_average(gradients, shares))
            if averages[-1] is not None:
                checks.append(check_average(averages[-1], gradients, variable))
        with tf.control_dependencies(checks):  # so that gradients are reported first
            checks += _checked_losses(losses or ())
        with tf.control_dependencies(checks):
            return [
                (_identity(average, variable), variable)
                for average, (_, variable) in zip(averages, towers[0], strict=True)
            ]


def _shares(
    weights: Sequence[float | tf.Tensor] | None, towers: int
) -> list[float] | list[tf.Tensor] | None:
    """Returns the weights divided by their sum, or `None` for a plain mean."""
    if weights is None:
        return None
    if len(weights) != towers:
        raise ValueError(
            f"Expected one weight per tower, but got {len(weights)} weights for "
            f"{towers} towers."
        )
    rule = real(0, tensors=True)
    known = [rule(f"weights[{k}]", weight) for k, weight in enumerate(weights)]
    if not any(tf.is_tensor(weight) for weight in known):
        if not any(known):
            raise ValueError(
                "At least one of the towers' weights must be greater than 0."
            )
        if math.isinf(sum(known)):
            known = [weight / max(known) for weight in known]
        return [weight / sum(known) for weight in known]
    exact = tf.stack([tf.cast(weight, tf.float64) for weight in known])
    largest = tf.reduce_max(exact)
    sound = tf.reduce_all(tf.math.is_finite(exact) & (exact >= 0)) & (largest > 0)
    requirement = "The weights must be finite, at least 0, and not all 0, but they are"
    check = tf.raw_ops.Assert(
        condition=sound, data=[requirement, exact], summarize=towers)
    with tf.control_dependencies([check]):
        parts = exact / largest  # so that no sum overflows
    return tf.unstack(parts / tf.reduce_sum(parts))


def _checked_losses(losses: Sequence[tf.Tensor]) -> list[tf.Operation]:
    """Returns ops that fail if the loss of a tower is not finite."""
    return [
        tf.debugging.check_numerics(loss, f"loss of tower {k}").op
        for k, loss in enumerate(losses)
    ]


def _with_values(gradient: Gradient, values: tf.Tensor) -> Gradient:
    """Returns a dense or sparse gradient with its values replaced."""
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return values


def _weighted(gradient: Gradient, share: float | tf.Tensor) -> Gradient:
    """Multiplies a gradient by its weight, in the gradient's precision."""
    values = values_of(gradient)
    cast = tf.cast if tf.is_tensor(share) else tf.constant
    return _with_values(gradient, values * cast(share, values.dtype))


def _average(
    gradients: list[Gradient], shares: list | None
) -> Gradient | None:
    """Returns the weighted mean of one variable's gradients."""
    if gradients[0] is None:
        return None
    if shares is not None:
        pairs = zip(gradients, shares, strict=True)
        gradients = [_weighted(gradient, share) for gradient, share in pairs]
    count = len(gradients) if shares is None else 1
    if all(isinstance(g, tf.IndexedSlices) for g in gradients):
        return tf.IndexedSlices(
            tf.concat([g.values for g in gradients], 0) / count,
            tf.concat([g.indices for g in gradients], 0),
            gradients[0].dense_shape,
        )
    # add_n sums in place, whereas stack would copy the gradients of all towers.
    return tf.add_n([tf.convert_to_tensor(g) for g in gradients]) / count


def _identity(gradient: Gradient | None, variable: tf.Variable) -> Gradient | None:
    """Returns a copy of the gradient that waits for the active control dependencies."""
    if gradient is None:
        return None
    with tf.device(variable.device):
        return _with_values(gradient, tf.identity(values_of(gradient)))
