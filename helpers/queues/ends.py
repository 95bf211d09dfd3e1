"""What is an end of the data, and what only looks like one.

TensorFlow says both by `OutOfRangeError`: a queue that is closed and empty, and a
Python function in the pipeline that raised `StopIteration`, or a file that is short.
"""

import contextlib
from collections.abc import Iterator

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.errors import first_line

_ENDS = (
    "is closed and has insufficient elements",  # a queue, or a barrier
    "End of sequence",  # an iterator of tf.data
    "Reached limit of",  # limit_epochs
)


def is_end_of_data(error: BaseException) -> bool:
    """Says whether an error of TensorFlow's means that data ended, and nothing worse.

    Whose data it was, the error cannot tell.
    """
    if not isinstance(error, tf.errors.OutOfRangeError):
        return False
    line = first_line(error)
    return not line.startswith("StopIteration") and any(end in line for end in _ENDS)


def as_failure(error: tf.errors.OutOfRangeError) -> tf.errors.UnknownError:
    """Returns an error that nobody takes for the end of the data, in one line."""
    return tf.errors.UnknownError(
        None, None, f"{first_line(error).rstrip(': ')} (not the end of the data)"
    )


@contextlib.contextmanager
def only_true_ends(session: tf1.Session) -> Iterator[None]:
    """Lets queue runners take nothing but an end of the data for one.

    A runner's thread closes its queue in silence at every `OutOfRangeError`. The
    threads that start in this block hear of a false one as of another failure.
    """
    before = session.__dict__.get("make_callable")
    plain = session.make_callable

    def make_callable(*arguments, **options):
        return _checked(plain(*arguments, **options))

    session.make_callable = make_callable  # where a runner's thread begins
    try:
        yield
    finally:
        if session.__dict__.get("make_callable") is make_callable:  # else a film's
            del session.make_callable
            if before is not None:
                session.make_callable = before


def _checked(function):
    def call(*arguments, **options):
        try:
            return function(*arguments, **options)
        except tf.errors.OutOfRangeError as error:
            if is_end_of_data(error):
                raise
            raise as_failure(error) from error

    return call
