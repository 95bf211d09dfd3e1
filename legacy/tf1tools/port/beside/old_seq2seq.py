"""Losses and decoder of TensorFlow 1's `seq2seq`, for programs that still use them."""

import inspect

import tensorflow.compat.v1 as tf

TINY = 1e-12  # avoids division by zero if all weights are 0


def _loss(softmax_loss_function, logits, targets):
    loss = softmax_loss_function or tf.nn.sparse_softmax_cross_entropy_with_logits
    names = list(inspect.signature(loss).parameters)
    if len(names) != 2 or "logits" in names:
        return loss(labels=targets, logits=logits)
    # Before TensorFlow 1.2 both were passed by position, and before 1.0 logits first.
    return loss(logits, targets) if "label" in names[1] or "target" in names[1] else \
        loss(targets, logits)


def sequence_loss_by_example(logits, targets, weights,
                             average_across_timesteps=True,
                             softmax_loss_function=None, name=None):
    """Returns the weighted loss of each example, as `legacy_seq2seq` computed it.

    Args:
      logits: List over time of float32 `[batch, words]`.
      targets: List over time of int32 `[batch]`.
      weights: List over time of float32 `[batch]`.
      average_across_timesteps: Whether to divide the loss of an example by the sum of
        its weights.
      softmax_loss_function: Function to use in place of the softmax cross-entropy. It
        is called with `labels` and `logits`, or with two positional arguments in the
        order that its parameters suggest.
      name: Name of the scope.

    Returns:
      float32 `[batch]`.

    Raises:
      ValueError: If the lists differ in length.
    """
    if not len(logits) == len(targets) == len(weights):
        raise ValueError(
            "The lists logits, targets, and weights must have the same length, but got "
            f"{len(logits)}, {len(targets)}, and {len(weights)} items."
        )
    with tf.name_scope(name, "sequence_loss_by_example",
                       [*logits, *targets, *weights]):
        losses = tf.add_n([
            _loss(softmax_loss_function, logit, tf.reshape(target, [-1])) * weight
            for logit, target, weight in zip(
                logits, targets, weights, strict=True)])
        if average_across_timesteps:
            losses /= tf.add_n(weights) + TINY
        return losses


def sequence_loss(logits, targets, weights, average_across_timesteps=True,
                  average_across_batch=True, softmax_loss_function=None, name=None):
    """Returns the weighted loss of a batch, summed or averaged over its examples.

    The arguments are those of `sequence_loss_by_example`. By default, the loss is
    averaged over the batch.
    """
    with tf.name_scope(name, "sequence_loss", [*logits, *targets, *weights]):
        cost = tf.reduce_sum(sequence_loss_by_example(
            logits, targets, weights, average_across_timesteps,
            softmax_loss_function))
        if average_across_batch:
            cost /= tf.cast(tf.shape(targets[0])[0], cost.dtype)
        return cost


def batch_sequence_loss(logits, targets, weights, average_across_timesteps=True,
                        average_across_batch=True, sum_over_timesteps=False,
                        sum_over_batch=False, softmax_loss_function=None, name=None):
    """Returns the weighted loss of sequences, averaged or summed over given axes.

    Args:
      logits: float32 `[batch, time, words]`.
      targets: int32 `[batch, time]`.
      weights: float32 `[batch, time]`.
      average_across_timesteps: Whether to divide the sum over time by the sum of the
        weights.
      average_across_batch: Whether to do the same over the batch.
      sum_over_timesteps: Whether to divide the sum over time by the number of nonzero
        weights.
      sum_over_batch: Whether to do the same over the batch.
      softmax_loss_function: Function to use in place of the softmax cross-entropy. It
        is called with `labels` and `logits`, or with two positional arguments in the
        order that its parameters suggest.
      name: Name of the scope.

    Returns:
      float32, as a scalar, `[batch]`, `[time]` or `[batch, time]`.

    Raises:
      ValueError: If one axis is to be both averaged and summed.
    """
    if average_across_timesteps and sum_over_timesteps:
        raise ValueError(
            "average_across_timesteps and sum_over_timesteps cannot both be True."
        )
    if average_across_batch and sum_over_batch:
        raise ValueError("average_across_batch and sum_over_batch cannot both be True.")
    with tf.name_scope(name, "sequence_loss", [logits, targets, weights]):
        words = tf.shape(logits)[2]
        losses = _loss(softmax_loss_function, tf.reshape(logits, [-1, words]),
                       tf.reshape(targets, [-1]))
        losses = tf.reshape(losses, tf.shape(logits)[:2]) * weights
        averaged = [axis for axis, one in enumerate(
            (average_across_batch, average_across_timesteps)) if one]
        summed = [axis for axis, one in enumerate(
            (sum_over_batch, sum_over_timesteps)) if one]
        axes = averaged + summed
        if not axes:
            return losses
        size = tf.reduce_sum(weights, axes) if averaged else tf.reduce_sum(
            tf.cast(tf.not_equal(weights, 0), losses.dtype), axes)
        return tf.math.divide_no_nan(tf.reduce_sum(losses, axes), size)


def rnn_decoder(decoder_inputs, initial_state, cell, loop_function=None, scope=None):
    """Runs an RNN cell over a list of inputs and returns outputs and state.

    Args:
      decoder_inputs: List over time of float32 `[batch, features]`.
      initial_state: State of the cell before the first input.
      cell: Cell of `tf.nn.rnn_cell`.
      loop_function: Function `(output, step) -> next_input`. With it, only the first
        input is used.
      scope: Name of the variable scope. By default, "rnn_decoder".

    Returns:
      The list of outputs, each float32 `[batch, units]`, and the last state.
    """
    with tf.variable_scope(scope or "rnn_decoder"):
        state, outputs = initial_state, []
        for step, inputs in enumerate(decoder_inputs):
            if loop_function is not None and outputs:
                with tf.variable_scope("loop_function", reuse=True):
                    inputs = loop_function(outputs[-1], step)
            if step:
                tf.get_variable_scope().reuse_variables()
            output, state = cell(inputs, state)
            outputs.append(output)
        return outputs, state
