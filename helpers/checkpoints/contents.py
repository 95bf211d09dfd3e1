"""What a `Saver` saves: asked of its own ops, so that any `Saver` will do.

A `Saver` may hold some of a model's variables, give them other names, cut one
variable into parts, or spread its files over shards. The op that saves knows it all.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

# One op per file, with the inputs (file, names, slices, tensor, tensor, ...).
_SAVES = ("SaveV2", "SaveSlices")


class Entry(NamedTuple):
    """One tensor that a `Saver` saves.

    Attributes:
      name: in the checkpoint.
      shape: in the checkpoint; of the whole variable, where this is a part of it.
      dtype: of the variable.
      tensor: its value in the graph.
    """

    name: str
    shape: tf.TensorShape
    dtype: tf.DType
    tensor: tf.Tensor


def entries(saver: tf1.train.Saver, graph: tf.Graph) -> list[Entry]:
    """Returns what a `Saver` saves and restores.

    Args:
      saver: built in `graph`.
      graph: the session's.

    Returns:
      One entry per tensor that it saves.

    Raises:
      ValueError: the `Saver` is not built, or has nothing to save, or belongs to
        another graph.
    """
    definition = saver.as_saver_def()
    if definition is None:
        raise ValueError("the Saver saves nothing: it has no variables, or no build()")
    try:
        last = graph.get_tensor_by_name(definition.save_tensor_name).op
    except KeyError as error:
        message = "the Saver was built in another graph than the session's"
        raise ValueError(message) from error
    return [entry for op in _save_ops(last) for entry in _entries_of(op)]


def _save_ops(last: tf.Operation) -> Iterator[tf.Operation]:
    """Yields the ops that write files, all of which `last` waits for."""
    seen, to_do = set(), [last]
    while to_do:
        op = to_do.pop()
        if op.name in seen:
            continue
        seen.add(op.name)
        if op.type in _SAVES:
            yield op
        else:
            to_do += [*op.control_inputs, *(tensor.op for tensor in op.inputs)]


def _entries_of(save: tf.Operation) -> Iterator[Entry]:
    _, names, slices, *tensors = save.inputs
    names, slices = tf.get_static_value(names), tf.get_static_value(slices)
    for name, part, tensor in zip(names, slices, tensors, strict=True):
        # The slice of a part, such as b"7 3 0,4:0,3", begins with the whole's shape.
        shape = list(map(int, part.split()[:-1])) if part else tensor.shape
        yield Entry(
            name.decode(), tf.TensorShape(shape), tensor.dtype.base_dtype, tensor
        )


def is_finite(value: np.ndarray) -> bool:
    """Returns whether a value holds neither NaN nor infinity, in any dtype.

    Args:
      value: of any dtype, bfloat16 and complex too. Text has nothing to ask.
    """
    try:
        return bool(np.isfinite(value).all())
    except TypeError:
        return True
