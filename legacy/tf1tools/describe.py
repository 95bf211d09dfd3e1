"""Describes the contents of a file that TensorFlow 1 or Keras wrote.

    tf1 describe FILE-OR-FOLDER

The file may be a checkpoint, a SavedModel, a frozen graph, a Keras `.h5`, a record
file, or another file that old programs leave. None of its code runs.
The exit code is 0 if the file is described, and 1 if it cannot be read or belongs to
another program. In that case the message says what reads it.
"""

import argparse
import sys

from helpers.errors import DataError
from helpers.lesson import quiet_tensorflow
from tf1tools.arguments import Parser
from tf1tools.output import printable


def main(arguments: list[str]) -> int:
    """Prints the description of a file, and returns 1 if it cannot be read."""
    parser = Parser(
        prog="tf1 describe", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", metavar="FILE-OR-FOLDER", help="the file to describe")
    path = parser.parse_args(arguments).path
    quiet_tensorflow()
    from helpers.inherited import describe

    try:
        print(describe(path))
    except Exception as error:  # whatever a stranger's file raises
        line = str(error) if isinstance(error, DataError | OSError) else (
            f"{path} cannot be read ({type(error).__name__}): {error}")
        print(printable(f"tf1 describe: {line}"), file=sys.stderr)
        return 1
    return 0
