"""Explains an error message of a TensorFlow program and suggests a fix.

    tf1 explain "MESSAGE"
    tf1 explain - < LOG        # searches a log for the first error

The command needs only Python. An answer that begins with "Perhaps" rests on a part of
the message, or on words that have several causes. It ends with a way to decide.

The exit code is 0 if there is an answer or a similar message, 1 if there is none, and 2
if the command was called incorrectly.
"""

import sys
from pathlib import Path

from tf1tools.messages import lookup

NEXT = """Pass the last line of the error, with the name of the error, or a whole log:
  tf1 explain - < LOG
To see the first error, or why a program hangs: tf1 watch PROGRAM
To port names that TensorFlow 2 no longer has: tf1 port PROGRAM"""


def explain(message: str) -> int:
    """Prints the explanation of a message, or similar messages if it is unknown.

    Returns:
      The exit code: 1 if no known message is similar.
    """
    fitting, near = lookup.look_up(message)
    said = lookup.answer(fitting[0], message) if fitting else ""
    if said:
        print(said)
    else:
        print("The page errors.md does not contain this message. The nearest ones are:"
              if near else
              "The page errors.md contains neither this message nor a similar one.")
        for entry in near:
            print(f"  {entry.patterns[0]}")
        if near:
            print(
                "If one of these messages is yours, run: tf1 explain 'TEXT OF THE "
                "MESSAGE'"
            )
    if not said or said.startswith("Perhaps: "):
        print("\n".join([*lookup.trail(message), NEXT]))
    return int(not (fitting or near))


def main(arguments: list[str]) -> int:
    """Explains a message from the command line, or a log from standard input."""
    if arguments == ["-"]:
        return explain(sys.stdin.read())
    if not arguments or arguments[0].startswith("-"):
        print(__doc__.strip())
        return 0 if arguments in (["-h"], ["--help"]) else 2
    # A message may end with the name of a file, but it has several words.
    if len(" ".join(arguments).split()) == 1 and Path(arguments[0]).suffix in (
            ".log", ".txt"):
        print(f"{arguments[0]!r} looks like the name of a file. Pass the text of the "
              f"message, or the file on standard input: explain - < {arguments[0]}",
              file=sys.stderr)
        return 2
    return explain(" ".join(arguments))
