"""The rows of a feed's source: fitted to the queue's types without loss, in chunks."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.errors import first_line

_BFLOAT16 = tf.bfloat16.as_numpy_dtype  # a float, though NumPy does not know it


def checked_arrays(queue: tf1.QueueBase, source: Any) -> list[np.ndarray]:
    """Returns arrays in a queue's types, or says which does not fit.

    Args:
      queue: with the shape of every component.
      source: one array, or a tuple with one per component.

    Returns:
      One array `[rows, ...component's shape]` per component.

    Raises:
      ValueError: they are empty, differ in length, or do not fit a component.
    """
    name = queue.queue_ref.op.name
    source = source if isinstance(source, tuple) else (source,)
    if len(source) != len(queue.dtypes):
        raise ValueError(
            f"{name}: expected {len(queue.dtypes)} arrays, one per component, got "
            f"{len(source)}"
        )
    arrays = [
        _array_of(value, dtype, f"{name}: component {i}")
        for i, (value, dtype) in enumerate(zip(source, queue.dtypes, strict=True))
    ]
    lengths = [len(array) if array.ndim else 0 for array in arrays]
    if len(set(lengths)) > 1 or not lengths[0]:
        raise ValueError(f"{name}: arrays need the same number of rows, got {lengths}")
    for i, (array, shape) in enumerate(zip(arrays, queue.shapes, strict=True)):
        if not shape.is_compatible_with(array.shape[1:]):
            raise ValueError(
                f"{name}: component {i}: expected rows of shape {shape}, got "
                f"{array.shape[1:]}"
            )
    return [
        _same_kind(array, dtype, f"{name}: component {i}")
        for i, (array, dtype) in enumerate(zip(arrays, queue.dtypes, strict=True))
    ]


def sliced(
    arrays: list[np.ndarray],
    epochs: int | None,
    random: np.random.Generator | None,
    size: int,
) -> Iterator[list[np.ndarray]]:
    """Yields the rows of all epochs in chunks.

    Args:
      arrays: `[rows, ...]` each.
      epochs: how often to go through them; None for ever.
      random: shuffles the rows anew in every epoch; None keeps their order.
      size: rows of a chunk.

    Yields:
      One array `[chunk, ...]` per array.
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
    """Yields the items of all epochs one by one, as chunks of one row.

    Args:
      name: of the queue, for messages.
      source: returns a fresh iterable of items.
      dtypes: of the queue's components.
      epochs: how often to call the source; None for ever.

    Yields:
      One array `[1, ...]` per component.

    Raises:
      ValueError: names an item that does not fit, or an epoch without items.
    """
    epoch = 0
    while epoch != epochs:
        items = 0
        for item in _iterator(name, source()):
            values = item if isinstance(item, tuple) else (item,)
            if len(values) != len(dtypes):
                raise ValueError(
                    f"{name}: item {items} has {len(values)} values, the queue takes "
                    f"{len(dtypes)}"
                )
            yield [
                _row(value, dtype, f"{name}: item {items}: component {i}")
                for i, (value, dtype) in enumerate(zip(values, dtypes, strict=True))
            ]
            items += 1
        if not items:
            raise ValueError(f"{name}: the source yielded nothing in epoch {epoch}")
        epoch += 1


def _iterator(name: str, made) -> Iterator:
    try:
        return iter(made)
    except TypeError as error:
        raise ValueError(
            f"{name}: the source returned {type(made).__name__}, which is no iterable "
            "of items: is a `yield` missing?"
        ) from error


def _row(value, dtype: tf.DType, where: str) -> np.ndarray:
    """Returns one value as a chunk of one row, if the component can hold it."""
    return _fitted(_array_of(value, dtype, where), dtype, where)[np.newaxis]


def _array_of(value, dtype: tf.DType, where: str) -> np.ndarray:
    """Returns a value as an array of its own type.

    Bytes stay objects: in an array of bytes NumPy drops the zeros at their end.
    """
    if np.ma.is_masked(value):
        raise ValueError(f"{where} has masked values: fill them first")
    as_objects = dtype == tf.string and not isinstance(value, np.ndarray)
    try:
        return np.asarray(value, object if as_objects else None)
    except Exception as error:  # whatever the value's own conversion raises
        raise ValueError(
            f"{where} is no array of one shape ({first_line(error)})"
        ) from error


def _same_kind(array: np.ndarray, dtype: tf.DType, where: str) -> np.ndarray:
    """Returns an array in a component's type, if that is of the same kind."""
    if not np.can_cast(array.dtype, dtype.as_numpy_dtype, "same_kind"):
        raise ValueError(
            f"{where}: {array.dtype} values do not fit into {dtype.name}: convert them "
            "first"
        )
    return _fitted(array, dtype, where)


def _fitted(array: np.ndarray, dtype: tf.DType, where: str) -> np.ndarray:
    """Returns an array in a component's type, if every value survives that."""
    if dtype == tf.string:
        changed = [v for v in array.flat if not isinstance(v, (str, bytes))]
        array = fitted = array.astype(object, copy=False)
    elif array.dtype == dtype.as_numpy_dtype:
        return array
    elif not _is_number(array, dtype):
        raise ValueError(f"{where} does not fit into {dtype.name}: {_shown(array)}")
    else:
        with np.errstate(all="ignore"):
            fitted = array.astype(dtype.as_numpy_dtype)
            if dtype.is_integer or dtype.is_bool:
                lost = fitted != array  # cut off, or wrapped around
            else:
                lost = np.isfinite(array) & ~np.isfinite(fitted)
        changed = array[lost].ravel().tolist()
    if changed:
        raise ValueError(f"{where} does not fit into {dtype.name}: {changed[0]!r}")
    return fitted


def _is_number(array: np.ndarray, dtype: tf.DType) -> bool:
    kinds = "biufc" if dtype.is_complex else "biuf"
    return array.dtype.kind in kinds or array.dtype == _BFLOAT16


def _shown(array: np.ndarray) -> str:
    """Returns a value for a message: itself where it is one, else its type."""
    return repr(array.item()) if array.ndim == 0 else f"an array of {array.dtype}"
