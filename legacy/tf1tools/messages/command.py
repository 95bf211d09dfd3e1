"""Explains an error message of a TensorFlow program and suggests a fix.

    tf1 explain "MESSAGE"
    tf1 explain - < LOG        # searches a log for the first error

The command needs only Python. The exit code is 1 if no known message is similar.
"""

import sys

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
    for entry in fitting[:1]:
        if entry.section == lookup.CUT:
            print("The log does not contain the error itself. At this place, it is "
                  "usually:")
        print(lookup.shown(entry, lookup.pattern_of(entry, message)))
    if not fitting:
        print("The page errors.md does not contain this message. The nearest ones are:"
              if near else
              "The page errors.md contains neither this message nor a similar one.")
        for entry in near:
            print(f"  {entry.patterns[0]}")
        if near:
            print("If one of them is yours, run: tf1 explain 'TEXT OF THE MESSAGE'")
    if not fitting or fitting[0].section in (lookup.GENERAL, lookup.CUT):
        print("\n".join([*lookup.trail(message), NEXT]))
    return int(not (fitting or near))


def main(arguments: list[str]) -> int:
    """Explains a message from the command line, or a log from standard input."""
    if arguments == ["-"]:
        return explain(sys.stdin.read())
    if not arguments or arguments[0].startswith("-"):
        print(__doc__.strip())
        return 0 if arguments in (["-h"], ["--help"]) else 2
    return explain(" ".join(arguments))
