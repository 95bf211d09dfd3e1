"""Builds one copy of a model per device, all with the same variables."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.arguments import numbers, whole
from helpers.graph import VARIABLE_TYPES


def variables_on(device: str) -> Callable[[tf.Operation], str]:
    """Returns a device function that places all variables on one device.

        with tf.device("/cpu:2"), tf1.device(variables_on("/cpu:0")):
            kernel = tf1.get_variable("kernel", [3, 5])    # on /cpu:0
            outgoing = tf.matmul(incoming, kernel)         # on /cpu:2

    Args:
      device: Device for the ops that hold a variable (`VarHandleOp`, and `VariableV2`
        in old graphs). TensorFlow places the ops that read or assign a variable on the
        same device.

    Returns:
      A function for `tf1.device`. Other ops stay on the device of the surrounding
      block.
    """

    def place(op: tf.Operation) -> str:
        return device if op.type in VARIABLE_TYPES else op.device

    return place


@numbers(num_towers=whole())
def split_batch(tensors: Any, num_towers: int) -> list:
    """Splits a batch into equal slices, one per tower.

    Args:
      tensors: A tensor `[batch, ...]`, or a tuple, list, or dictionary of such tensors.
      num_towers: Number of slices, which must divide the batch size.

    Returns:
      A list of `num_towers` slices. Each has the structure of `tensors`, with tensors
      `[batch / num_towers, ...]`.

    Raises:
      ValueError: If a tensor has no batch axis, if known batch sizes differ, or if a
        known batch size is not divisible. For unknown sizes, TensorFlow raises an error
        at run time.

    Taught in lesson 05a, "One update".
    """
    flat = [tf.convert_to_tensor(tensor) for tensor in tf.nest.flatten(tensors)]
    known: set[int] = set()
    for tensor in flat:
        if tensor.shape.rank == 0:
            raise ValueError(
                f"Cannot split {tensor.name}: a scalar has no batch axis. Pass tensors "
                "with a batch axis to split_batch."
            )
        batch = tensor.shape[0] if tensor.shape.rank else None
        known |= set() if batch is None else {batch}
        if len(known) > 1:
            raise ValueError(
                "All tensors passed to split_batch must have the same batch size, but "
                f"got {sorted(known)}."
            )
        if batch is not None and batch % num_towers:
            raise ValueError(
                f"Cannot split the {batch} rows of {tensor.name} evenly between "
                f"{num_towers} towers. Slice the tensor with tf.split, and pass the "
                "sizes to process_gradient_list as weights."
            )
    parts = [tf.split(tensor, num_towers, name="slices") for tensor in flat]
    return [
        tf.nest.pack_sequence_as(tensors, of_one) for of_one in zip(*parts, strict=True)
    ]


def build_towers(
    tower_fn: Callable,
    devices: Sequence[str],
    slices: Sequence,
    *,
    variables_device: str = "/cpu:0",
) -> list:
    """Builds the same model on each device, with shared variables.

    The first tower creates the variables, and the later ones reuse them. Only the
    scopes inside a tower are set to reuse, and never the surrounding scope, so an
    optimizer can still create its slots. The variables have the same names as in a
    single model. They must be created with `get_variable`, because a `tf.Variable` is
    never shared.

    Args:
      tower_fn: Function that is called as `tower_fn(*slice)` if a slice is a tuple or a
        list, and otherwise as `tower_fn(slice)`. It builds the model, its loss, and its
        gradients, so that they are on the same device, and it may return any value.
      devices: One device per tower.
      slices: One slice per tower, from `split_batch` or from separate dequeue ops.
      variables_device: Device of all variables.

    Returns:
      The list of the values that `tower_fn` returned, one per tower.

    Raises:
      ValueError: If the numbers of slices and devices differ, or (from TensorFlow) if a
        later tower requests a variable that the first one has not created.

    Taught in lesson 05a, "A tower on each device".
    """
    results = []
    for index, (device, of_one) in enumerate(zip(devices, slices, strict=True)):
        arguments = of_one if isinstance(of_one, (tuple, list)) else (of_one,)
        with (
            tf1.name_scope(f"tower_{index}"),
            tf1.variable_scope(tf1.get_variable_scope(), reuse=index > 0 or None),
            tf.device(device),
            tf1.device(variables_on(variables_device)),
        ):
            results.append(tower_fn(*arguments))
    return results
