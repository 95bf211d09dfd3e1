"""One check for arguments that are whole numbers, such as sizes and counts."""

import operator
from typing import Any

import numpy as np


def whole_number(name: str, value: Any, least: int = 1, most: int | None = None) -> int:
    """Returns an argument as an `int`, after comparing it with its limits.

    Whatever Python takes for an index is a whole number, NumPy's integers too. `True`
    is not one here, nor is 2.0: both are slips for another argument.

    Args:
      name: what to call the argument in the message, such as `batch_size`.
      value: what the caller passed.
      least: the smallest that is allowed.
      most: the largest that is allowed; without limit if `None`.

    Raises:
      TypeError: it is no whole number.
      ValueError: it is out of its range.
    """
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError("a truth value")
        number = operator.index(value)
    except TypeError as error:
        raise TypeError(f"{name}={value!r}: must be a whole number") from error
    if number < least:
        raise ValueError(f"{name}={number}: must be at least {least}")
    if most is not None and number > most:
        raise ValueError(f"{name}={number}: must be at most {most}")
    return number
