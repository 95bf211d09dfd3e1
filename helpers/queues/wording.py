"""The wording of errors: one line each that names the queue, the cause and the fix."""

import re

import tensorflow as tf

from helpers.errors import DataError, first_line
from helpers.queues.doctor import Diagnosis

SESSION_LOST = "the session had to be closed under a step, and its variables are lost"


def short(error: tf.errors.OpError, before: str = "") -> tf.errors.OpError:
    """Returns an error of the same type that says one line."""
    line = re.sub(r"'_\d+_", "'", first_line(error))  # TensorFlow counts its queues
    return type(error)(None, None, before + line)


def with_sentence(error: BaseException | None, sentence: str) -> BaseException:
    """Returns an error that says one sentence more.

    It is the error itself, or another of its type where its type keeps its text
    elsewhere; where the type has no room at all, a `RuntimeError` that names it.

    Args:
      error: any; None for one that says nothing but the sentence.
      sentence: what to add.

    Returns:
      The error to raise.
    """
    if error is None:
        return RuntimeError(sentence)
    if isinstance(error, tf.errors.OpError):  # it shows its message, not its args
        new = type(error)(None, None, f"{first_line(error)}; {sentence}")
    else:
        before, text = error.args, str(error)
        error.args = (f"{text}; {sentence}" if text else sentence,)
        if sentence in str(error):
            return error
        error.args = before
        new = RuntimeError(f"{type(error).__name__}: {first_line(error)}; {sentence}")
    new.__cause__ = error.__cause__ or error
    return new


def closed_early(cause: BaseException | None) -> RuntimeError:
    """Returns what to raise when somebody closed the session inside the block."""
    error = RuntimeError(
        "the session was closed while its queues were running: leave the "
        "running_queues block first, then close the session"
    )
    error.__cause__ = cause
    return error


def unanswered(seconds: float) -> str:
    """Returns what to say of a session that did not answer before the start."""
    return (
        f"the session did not answer for {seconds:g} s: see whether its server lives"
    )


def stalled(seconds: float, diagnosis: Diagnosis | None, any_queue: bool) -> str:
    """Returns why no step finished.

    Args:
      seconds: that a step was given.
      diagnosis: of the queues that the step takes from; None if nobody could look.
      any_queue: whether the graph has a queue at all.
    """
    limit = f"no step finished for {seconds:g} s"
    if not any_queue:
        return (
            f"{limit}; the graph of this session has no queue: the step is slow "
            "(raise `stall`), or the queue that it needs was built in another graph"
        )
    if diagnosis is None:
        return (
            f"{limit}, and the session does not tell the state of its queues: is its "
            "server alive?"
        )
    root = diagnosis.starving
    if root is None:
        return f"{limit}, yet no queue starves: the step is slow; raise `stall`"
    return f"{limit}: queue '{root.name}' starves: {root.why}"


def nothing_came(diagnosis: Diagnosis | None) -> str:
    """Returns why the data ended before the first step."""
    queues = diagnosis.queues if diagnosis else ()
    left = [s for s in queues if s.closed and 0 < s.size < s.wanted]
    if not left:
        return "the data ended before the first step: the source holds nothing"
    return (
        f"the data ended before the first step: queue '{left[0].name}' holds "
        f"{left[0].size} items and a step wants {left[0].wanted}: use a smaller "
        "batch, or allow_smaller_final_batch=True"
    )


def unreadable(who: str) -> DataError:
    """Returns what to raise where TensorFlow could not write its own message."""
    return DataError(
        f"{who}: TensorFlow failed on a record, and failed again in writing its "
        "message, which is not text: is every record a serialized tf.train.Example?"
    )


def source_failed(queue: str, error: BaseException) -> Exception:
    """Returns what to raise when the source of a feed has failed.

    An error of Python's own comes out as it is. TensorFlow's would pass for one of
    this pipeline, the end of another's data even for the end of this one's; and
    what is no `Exception`, such as `SystemExit`, would end the thread in silence.
    """
    if isinstance(error, Exception) and not isinstance(error, tf.errors.OpError):
        return error
    line = first_line(error)
    new = RuntimeError(
        f"the source of queue '{queue}' failed: {type(error).__name__}"
        + (f": {line}" if line else "")
    )
    new.__cause__ = error
    return new
