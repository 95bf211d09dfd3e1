"""Distinguishes the true end of the data from other `OutOfRangeError`s.

TensorFlow raises `OutOfRangeError` not only if a queue is closed and empty, but also if
a Python function in the pipeline raised `StopIteration` or if a file is truncated. In
each case, the thread of a queue runner closes its queue silently.
"""

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from helpers.errors import first_line
from helpers.queues.hooks import SessionHook

_ENDS = (
    "is closed and has insufficient elements",  # a queue, or a barrier
    "End of sequence",  # an iterator of tf.data
    "Reached limit of",  # limit_epochs
)


def is_end_of_data(error: BaseException) -> bool:
    """Returns whether an error means that the data has ended normally.

    The error does not tell which pipeline's data has ended.
    """
    if not isinstance(error, tf.errors.OutOfRangeError):
        return False
    line = first_line(error)
    return not line.startswith("StopIteration") and any(end in line for end in _ENDS)


class OnlyTrueEnds(SessionHook):
    """Session hook that converts an `OutOfRangeError` that is no end of data."""

    def around(self, call: Callable, fetches: Any, feeds: Any) -> Callable:
        """Returns a call that converts false ends of data to `UnknownError`."""
        return functools.partial(_looked_at, call)


def _looked_at(call: Callable, *arguments: Any, **options: Any) -> Any:
    try:
        return call(*arguments, **options)
    except tf.errors.OutOfRangeError as error:
        if is_end_of_data(error):
            raise
        cause = first_line(error).rstrip(": ")
        raise tf.errors.UnknownError(
            None, None, f"{cause} (not the end of the data)"
        ) from error
