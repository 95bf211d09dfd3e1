"""Texts of the pipeline errors, each with the queue, the cause, and the fix.

`threads.py` adds the name of the failed thread. Lesson 03b shows these errors, and
`SESSION_LOST` explains the cost of a step that cannot be interrupted.
"""

import re

import tensorflow as tf

from helpers.errors import PipelineStalled, first_line
from helpers.queues.diagnosis import Diagnosis

SESSION_LOST = ("The session had to be closed during a step, so the values of its "
                "variables are lost.")


def short(error: tf.errors.OpError, before: str = "") -> tf.errors.OpError:
    """Returns an error of the same type with a one-line message."""
    line = re.sub(r"'_\d+_", "'", first_line(error))  # drop TensorFlow's queue numbers
    return type(error)(None, None, before + line)


def with_session_lost(error: BaseException | None) -> BaseException:
    """Returns an error that also reports the loss of the session."""
    if error is None:
        return RuntimeError(SESSION_LOST)
    keeps_type = type(error) in (PipelineStalled, KeyboardInterrupt)
    kind = type(error) if keeps_type else RuntimeError
    line = first_line(error).rstrip(".")
    new = kind(f"{line}. {SESSION_LOST}".removeprefix(". "))
    new.__cause__ = error.__cause__ or error
    return new


def stalled(seconds: float, diagnosis: Diagnosis | None) -> str:
    """Explains why no step finished within the time limit.

    Args:
      seconds: Time limit of the step.
      diagnosis: Diagnosis of the queues from which the step dequeues, or None if the
        session did not answer.
    """
    limit = f"No step finished for {seconds:g} s"
    if diagnosis is None:
        return (
            f"{limit}, and the session does not report the state of its queues. Check "
            "that its server is running."
        )
    if not diagnosis.queues:
        return (
            f"{limit}, although the step takes items from no queue. If the step is "
            "slow, raise `stall`. Otherwise, check that its queue was built in the "
            "same graph."
        )
    root = diagnosis.starving
    if root is None:
        return (f"{limit}, although no queue starves. The step itself is slow, so "
                "raise `stall`.")
    return f"{limit}, because queue '{root.name}' starves: {root.why}"


def nothing_came(diagnosis: Diagnosis | None) -> str:
    """Explains why the data ended before the first step."""
    queues = diagnosis.queues if diagnosis else ()
    left = [s for s in queues if s.closed and 0 < s.size < s.wanted]
    if not left:
        return ("The data ended before the first step, because the source contains no "
                "items. Check its files and arrays.")
    queue = left[0]
    return (
        f"The data ended before the first step, because queue '{queue.name}' contains "
        f"{queue.size} items, but a step needs {queue.wanted}. Use a smaller batch, or "
        "allow_smaller_final_batch=True."
    )
