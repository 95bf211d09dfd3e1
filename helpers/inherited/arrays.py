"""Reads the weights of a model file as NumPy arrays by name."""

import os
from pathlib import Path

import numpy as np
import tensorflow as tf

from helpers.errors import DataError
from helpers.inherited import keras_files, kinds
from helpers.reading import opened_hdf5


def read_weights(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """Reads all weights of a model file, with partitioned variables joined.

    Args:
      path: Path of a checkpoint, of a `.meta` file beside one, of a SavedModel, of a
        frozen graph, whose floating-point constants are returned, or of a Keras `.h5`
        file.

    Raises:
      DataError: If the file cannot be read or contains no weights.
    """
    path = Path(path)
    found = kinds.find(path)
    with kinds.in_one_line(path, "contains weights that cannot be read"):
        if found.kind == kinds.KERAS:
            with opened_hdf5(found.path) as file:
                arrays = {name: array[()] for name, array in
                          keras_files.arrays_of(file).items()}
        elif found.prefix is not None:
            reader = tf.train.load_checkpoint(found.prefix)
            arrays = {name: reader.get_tensor(name)
                      for name in sorted(reader.get_variable_to_shape_map())
                      if name != kinds.OBJECT_GRAPH}
        else:
            arrays = _constants(found.graph)
        if not arrays:
            raise DataError(
                f"{path} is a {found.kind} without weights. Pass the checkpoint that "
                "belongs to it."
            )
    return arrays


def _constants(graph) -> dict[str, np.ndarray]:
    nodes = [node for node in graph.node if node.op == "Const"] if graph else []
    return {node.name: tf.make_ndarray(node.attr["value"].tensor) for node in nodes
            if tf.as_dtype(node.attr["dtype"].type).is_floating}
