"""Captures the output of a block, including that of C++ code."""

import contextlib
import io
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def captured_log() -> Iterator[io.StringIO]:
    """Context manager that captures all output, including that of C++ code.

    `log_device_placement=True` writes there, past Python's `sys.stdout`. Read the
    result after the block with `getvalue()`. On Windows C++ output cannot be
    redirected this way: there the result says so in one line.

    Yields:
      The text buffer, filled when the block ends.
    """
    text = io.StringIO()
    if sys.platform == "win32":
        text.write("captured_log: not possible on Windows; use tracing.placement\n")
        yield text
        return
    from wurlitzer import pipes

    with contextlib.redirect_stdout(text), pipes(stdout=text, stderr=text):
        yield text
