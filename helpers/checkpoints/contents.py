"""What a `Saver` saves: asked of its own ops, so that any `Saver` will do."""

from typing import NamedTuple

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.graph import ancestors


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
    """Returns what a `Saver` saves and restores: some variables, or other names too.

    Args:
      saver: built in `graph`.
      graph: the session's.

    Raises:
      ValueError: it writes the format of before 2017, which is read otherwise.
    """
    last = graph.get_tensor_by_name(saver.as_saver_def().save_tensor_name).op
    ops = sorted(ancestors([last]), key=lambda op: op.name)
    if any(op.type in ("Save", "SaveSlices") for op in ops):
        raise ValueError("this Saver writes the old format of checkpoints: make it "
                         "without write_version=tf1.train.SaverDef.V1")
    saves = [op for op in ops if op.type == "SaveV2"]  # one per shard
    return [entry for op in saves for entry in _entries_of(op)]


def _entries_of(save: tf.Operation) -> list[Entry]:
    """Reads the inputs of one op: file, names, slices, tensor, tensor, ..."""
    _, names, slices, *tensors = save.inputs
    found = []
    for name, part, tensor in zip(tf.get_static_value(names),
                                  tf.get_static_value(slices), tensors, strict=True):
        # The slice of a part, such as b"7 3 0,4:0,3", begins with the whole's shape.
        shape = list(map(int, part.split()[:-1])) if part else tensor.shape
        found.append(Entry(
            name.decode(), tf.TensorShape(shape), tensor.dtype.base_dtype, tensor))
    return found


def is_finite(value: np.ndarray) -> bool:
    """Returns whether a value holds neither NaN nor infinity; text always does."""
    try:
        return bool(np.isfinite(value).all())
    except TypeError:
        return True
