"""Captures the output of a block, including that of C++ code."""

import contextlib
import io
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def captured_log() -> Iterator[io.StringIO]:
    """Context manager that captures all output, including that of C++ code.

    `log_device_placement=True` prints in this way and bypasses Python's `sys.stdout`.
    Read the result with `getvalue()` after the block. On Windows, the output of C++
    code cannot be redirected like this, and the result is one line that says so.

    Yields:
      The text buffer, which is filled when the block ends.
    """
    text = io.StringIO()
    if sys.platform == "win32":
        text.write("captured_log is not possible on Windows. Use tracing.placement "
                   "instead.\n")
        yield text
        return
    from wurlitzer import pipes

    with contextlib.redirect_stdout(text), pipes(stdout=text, stderr=text):
        yield text
