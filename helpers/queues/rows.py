"""Validates the rows of a feed and converts them to the dtypes of the queue."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.fitting import fitted


def checked_arrays(queue: tf1.QueueBase, source: Any) -> list[np.ndarray]:
    """Converts arrays to the dtypes of a queue and checks their shapes.

    Args:
      queue: Queue with a known shape of every component.
      source: One array, or a tuple with one array per component.

    Returns:
      One array `[rows, ...component's shape]` per component.

    Raises:
      ValueError: If the arrays are empty, differ in length, or do not fit a component.
    """
    name = queue.queue_ref.op.name
    described = f"the source of queue {name}"
    arrays = _fitted_all(described, source, queue.dtypes)
    lengths = [len(array) if array.ndim else 0 for array in arrays]
    if len(set(lengths)) > 1 or not lengths[0]:
        raise ValueError(
            f"The arrays for queue {name} must not be empty and must have the same "
            f"number of rows, but got {lengths} rows."
        )
    _refuse_empty(described, [array.shape[1:] for array in arrays])
    for i, (array, shape) in enumerate(zip(arrays, queue.shapes, strict=True)):
        if not shape.is_compatible_with(array.shape[1:]):
            raise ValueError(
                f"Component {i} of queue {name} expects rows of shape {shape}, but got "
                f"{array.shape[1:]}."
            )
    return arrays


def sliced(
    arrays: list[np.ndarray],
    epochs: int | None,
    random: np.random.Generator | None,
    size: int,
) -> Iterator[list[np.ndarray]]:
    """Yields the rows of all epochs in chunks, shuffled if requested.

    Args:
      arrays: Arrays `[rows, ...]`.
      epochs: Number of epochs, or None for an endless sequence.
      random: Generator that shuffles the rows anew in every epoch. With None, the rows
        keep their order.
      size: Number of rows per chunk.

    Yields:
      One array `[chunk, ...]` per input array.
    """
    rows = len(arrays[0])
    epoch = 0
    while epoch != epochs:
        order = np.arange(rows) if random is None else random.permutation(rows)
        for start in range(0, rows, size):
            chosen = order[start : start + size]
            yield [array[chosen] for array in arrays]
        epoch += 1


def called(
    name: str,
    source: Callable[[], Iterable],
    dtypes: list[tf.DType],
    epochs: int | None,
) -> Iterator[list[np.ndarray]]:
    """Yields the items of a generator function one by one, for all epochs.

    Each item is a chunk of one row.

    Args:
      name: Name of the queue for messages.
      source: Function that returns a new iterable of items.
      dtypes: Dtypes of the queue's components.
      epochs: Number of calls of the source, or None for an endless sequence.

    Yields:
      One array `[1, ...]` per component.

    Raises:
      ValueError: If an item does not fit, or if an epoch has no items. The message
        names the item or the epoch.
    """
    epoch = 0
    while epoch != epochs:
        items = 0
        for item in source():
            described = f"item {items} for queue {name}"
            values = _fitted_all(described, item, dtypes)
            _refuse_empty(described, [value.shape for value in values])
            yield [value[np.newaxis] for value in values]
            items += 1
        if not items:
            raise ValueError(
                f"The source of queue {name} yielded no items in epoch {epoch}. Check "
                "that every call starts from the first item."
            )
        epoch += 1


def _fitted_all(source: str, values: Any, dtypes: list[tf.DType]) -> list[np.ndarray]:
    """Converts the values of one item to one array per queue component."""
    values = values if isinstance(values, tuple) else (values,)
    if len(values) != len(dtypes):
        raise ValueError(
            f"The queue has {len(dtypes)} components, but {source} has {len(values)} "
            "values. Pass a tuple with one value per component."
        )
    return [
        fitted(value, dtype, f"component {i} of {source}")
        for i, (value, dtype) in enumerate(zip(values, dtypes, strict=True))
    ]


def _refuse_empty(source: str, shapes: list[tuple[int, ...]]) -> None:
    """Raises `ValueError` for empty rows, which crash TensorFlow 2.21."""
    if any(0 in shape for shape in shapes):
        raise ValueError(
            f"Components of {source} must not be empty, but their rows have the shapes "
            f"{shapes}. Remove the empty component from the queue."
        )
