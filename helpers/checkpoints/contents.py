"""Lists the tensors that a `Saver` saves, as its own ops define them."""

from typing import NamedTuple

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.graph import ancestors


class Entry(NamedTuple):
    """Name, shape, dtype, and value of one tensor that a `Saver` saves.

    Attributes:
      name: Name in the checkpoint.
      shape: Shape in the checkpoint. For a part of a variable, it is the shape of the
        whole variable.
      dtype: Dtype of the variable.
      tensor: Value in the graph.
    """

    name: str
    shape: tf.TensorShape
    dtype: tf.DType
    tensor: tf.Tensor


def entries(saver: tf1.train.Saver, graph: tf.Graph) -> list[Entry]:
    """Returns an entry for each tensor that a `Saver` saves and restores.

    Args:
      saver: Saver that was built in `graph`.
      graph: Graph of the session.

    Raises:
      ValueError: If the `Saver` uses the checkpoint format from before 2017, which
        cannot be read in this way.
    """
    last = graph.get_tensor_by_name(saver.as_saver_def().save_tensor_name).op
    ops = sorted(ancestors([last]), key=lambda op: op.name)
    if any(op.type in ("Save", "SaveSlices") for op in ops):
        raise ValueError(
            "Checkpoint format V1, used before 2017, is not supported. Create the "
            "Saver without write_version=tf1.train.SaverDef.V1."
        )
    saves = [op for op in ops if op.type == "SaveV2"]  # one per shard
    return [entry for op in saves for entry in _entries_of(op)]


def _entries_of(save: tf.Operation) -> list[Entry]:
    """Reads the names, slices, and tensors of one `SaveV2` op."""
    _, names, slices, *tensors = save.inputs
    result = []
    for name, part, tensor in zip(tf.get_static_value(names),
                                  tf.get_static_value(slices), tensors, strict=True):
        # A slice such as b"7 3 0,4:0,3" begins with the shape of the whole variable.
        shape = list(map(int, part.split()[:-1])) if part else tensor.shape
        result.append(Entry(
            name.decode(), tf.TensorShape(shape), tensor.dtype.base_dtype, tensor))
    return result


def is_finite(value: np.ndarray) -> bool:
    """Returns whether an array has no NaN and no infinity; text is always finite."""
    try:
        return bool(np.isfinite(value).all())
    except TypeError:
        return True
