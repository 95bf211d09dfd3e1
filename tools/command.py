"""Runs a program that ends quietly on a closed pipe or Ctrl-C.

    python -m tools.command tools.progress 03

The module needs only the standard library.
"""

import io
import os
import runpy
import sys

CLOSED = 128 + 13  # exit code that a shell reports for SIGPIPE
STOPPED = 128 + 2  # exit code that a shell reports for Ctrl-C


class Output(io.TextIOWrapper):
    """Standard output that exits the program when its reader closes the pipe.

    The exit is a SystemExit, which handlers of errors do not catch, so that temporary
    files are removed. The signal SIGPIPE would skip that, and it would also end a
    server whose client has disconnected.
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


def take_output():
    """Replaces standard output with an `Output`."""
    old = sys.stdout
    sys.stdout = Output(old.buffer, old.encoding, old.errors,
                        line_buffering=old.line_buffering)


def _line_of(error):
    """Returns what an error says of a file on one line; "" of an error of ours."""
    errors = sys.modules.get("helpers.errors")
    if errors and isinstance(error, errors.DataError):
        return errors.printable(str(error))
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename!r}: {error.strerror}"
    return ""


def main():
    """Runs the module or script that is the first command-line argument."""
    take_output()
    del sys.argv[0]
    name = sys.argv[0]
    try:
        if name.endswith(".py"):
            runpy.run_path(name, run_name="__main__")
        else:
            runpy.run_module(name, run_name="__main__", alter_sys=True)
    except KeyboardInterrupt:
        sys.exit(STOPPED)
    except Exception as error:
        if not (line := _line_of(error)):
            raise
        sys.exit(f"course.py: {line}")
    finally:
        sys.stdout.flush()


if __name__ == "__main__":
    main()
