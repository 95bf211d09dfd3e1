"""Runs a program of `course.py`, which `| head` and Ctrl-C end without a word.

    python -m tools.command tools.progress 03

Standard library alone.
"""

import io
import os
import runpy
import sys

CLOSED = 128 + 13  # what a shell says of a program that SIGPIPE has ended
STOPPED = 128 + 2  # and of one that Ctrl-C has; `course.py` says so


class Output(io.TextIOWrapper):
    """Standard output that ends the program once nobody reads it any more.

    SystemExit is no error, so no handler takes it for one and what was begun is
    cleaned up. SIGPIPE would do neither, and would end a server whose client left.
    """

    def write(self, text):
        """Writes, or ends the program."""
        try:
            return super().write(text)
        except BrokenPipeError:
            _end()

    def flush(self):
        """Flushes, or ends the program."""
        try:
            super().flush()
        except BrokenPipeError:
            _end()


def _end():
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)  # for what is still to be flushed
    sys.exit(CLOSED)


def take_output():
    """Puts an `Output` in the place of standard output."""
    old = sys.stdout
    sys.stdout = Output(old.buffer, old.encoding, old.errors,
                        line_buffering=old.line_buffering)


def main():
    """Runs the module or the file that the command line begins with, as Python does."""
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
    finally:
        sys.stdout.flush()


if __name__ == "__main__":
    main()
