"""Standard output that ends the program quietly on a closed pipe or Ctrl-C."""

import contextlib
import io
import os
import sys
from collections.abc import Iterator

CLOSED = 128 + 13  # the exit code that a shell reports for SIGPIPE
STOPPED = 128 + 2  # the exit code that a shell reports for Ctrl-C


def printable(text: object) -> str:
    """Returns a text that somebody else wrote with its control characters escaped.

    Otherwise a name in a file could clear the screen, or forge a line of a report.
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(text))


class Output(io.TextIOWrapper):
    """Text output that exits the program when its reader closes the pipe.

    It raises SystemExit, which no handler of errors catches, so files that the
    program has begun are still cleaned up. The signal SIGPIPE would skip that.
    """

    def write(self, text):
        """Writes text, or exits the program if the pipe is closed."""
        try:
            return super().write(text)
        except BrokenPipeError:
            _end()

    def flush(self):
        """Flushes the buffer, or exits the program if the pipe is closed."""
        try:
            super().flush()
        except BrokenPipeError:
            _end()


def _end():
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)  # for text that is still in the buffer
    sys.exit(CLOSED)


@contextlib.contextmanager
def closing_quietly() -> Iterator[None]:
    """Exits without a traceback on a closed pipe or Ctrl-C."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # tests may replace it
        old = sys.stdout
        sys.stdout = Output(old.buffer, old.encoding, old.errors,
                            line_buffering=old.line_buffering)
    try:
        yield
    except KeyboardInterrupt:
        sys.exit(STOPPED)
    finally:
        sys.stdout.flush()
