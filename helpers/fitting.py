"""Lossless conversion of fed values to the dtype of a queue or a model input.

Both queues and opened models convert their inputs with this function.
"""

import contextlib
from typing import Any

import numpy as np
import tensorflow as tf

from helpers.errors import first_line


def fitted(value: Any, dtype: tf.DType, where: str) -> np.ndarray:
    """Converts a value to an array of a dtype, and rejects lossy conversions.

    Args:
      value: An array, a number, a string, or nested lists of them.
      dtype: Dtype of a queue component or a model input. Values may be rounded to a
        float dtype, but they must remain finite.
      where: Place of the value, for the message, such as "component 0 of queue rows".

    Raises:
      ValueError: If the value is not a rectangular array, has masked elements, or
        contains an element that would be truncated, would wrap around, or is of another
        kind. The message names the element.
    """
    dtype = dtype.base_dtype
    inside = value if isinstance(value, (list, tuple)) else [value]
    if any(isinstance(item, np.ma.MaskedArray) and np.ma.is_masked(item)
           for item in inside):
        raise ValueError(
            f"The value for {where} contains masked elements. Fill them first, for "
            "example with .filled(0)."
        )
    # Bytes become objects, because a bytes array would drop trailing zero bytes.
    of_objects = dtype == tf.string and not isinstance(value, np.ndarray)
    try:
        array = np.asarray(value, object if of_objects else None)
    except Exception as error:  # conversions may raise anything
        raise ValueError(
            f"The value for {where} is not a rectangular array ({first_line(error)})."
        ) from error
    new, lost = _texts(array, where) if dtype == tf.string else (
        _numbers(array, dtype, where))
    if lost:
        raise ValueError(
            f"The value for {where} contains {lost[0]!r:.80}, which cannot be "
            f"converted to {dtype.name}. Convert it first, or use another dtype."
        )
    return new


def _texts(array: np.ndarray, where: str) -> tuple[np.ndarray, list]:
    """Returns an object array of strings or bytes, and the values that are neither."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "S" and array.size and np.char.str_len(array).min() < size:
        raise ValueError(
            f"The value for {where} has dtype {array.dtype}, which drops trailing zero "
            "bytes. Pass a list of bytes, or use .astype(object) if no item ends with "
            "a zero byte."
        )
    lost = [item for item in array.flat if not isinstance(item, (str, bytes))]
    return array.astype(object), lost


def _numbers(array: np.ndarray, dtype: tf.DType, where: str) -> tuple[np.ndarray, list]:
    """Converts numbers to a dtype, and returns the values that do not fit."""
    kind = array.dtype.kind
    with contextlib.suppress(TypeError):  # NumPy does not know bfloat16
        own = tf.as_dtype(array.dtype)
        kind = "f" if own.is_floating else kind
    if kind == "c" and not dtype.is_complex:
        raise ValueError(
            f"The value for {where} is complex and cannot be converted to "
            f"{dtype.name}. Pass its real part or its absolute value."
        )
    if kind not in "biufc":
        what = {"O": "objects", "U": "texts", "S": "bytes", "M": "dates",
                "m": "spans of time"}.get(kind, str(array.dtype))
        raise ValueError(
            f"The value for {where} is an array of {what} and cannot be converted to "
            f"{dtype.name}. Pass numbers of a single dtype."
        )
    with np.errstate(all="ignore"):
        new = array.astype(dtype.as_numpy_dtype)
        if dtype.is_integer or dtype.is_bool:
            lost = (new != array) | (new.astype(array.dtype) != array)
        else:
            lost = np.isfinite(array) & ~np.isfinite(new)
    return new, array[lost].ravel().tolist()
