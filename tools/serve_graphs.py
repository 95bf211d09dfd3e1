"""Serves prebuilt/ and logs/ in TensorBoard on 127.0.0.1.

python3 course.py tensorboard [TENSORBOARD OPTIONS]
python3 course.py tensorboard 2=14 10=tower_1       # checks answers to its questions

The port is --port if that is free, or else any free port.
"""

import argparse
import os
import re
import socket
import sys

from helpers.files import ROOT
from helpers.lesson import quiet_tensorflow
from tools import notebook as nb

TASKS = ROOT / "prebuilt" / "tasks" / "questions.txt"


def main(arguments: list[str]) -> int:
    if answers := [word for word in arguments if re.match(r"\d+=", word)]:
        return check(answers)
    (ROOT / "logs").mkdir(exist_ok=True)
    parser = argparse.ArgumentParser(prog="course.py tensorboard", add_help=False)
    parser.add_argument("--port", type=nb.count, default=6006)
    options, rest = parser.parse_known_args(arguments)
    try:
        port = free_port(options.port)
    except OSError as error:
        print(f"course.py tensorboard: {error}", file=sys.stderr)
        return 1
    print(f"TensorBoard starts in a few seconds at http://127.0.0.1:{port}/#graphs   "
          f"(Ctrl-C stops it)\n\nTen questions that you can answer in TensorBoard:\n"
          f"{TASKS.read_text('utf-8')}", flush=True)
    quiet_tensorflow()
    from tensorboard import main as tensorboard

    os.chdir(ROOT)
    sys.argv = ["tensorboard", "--host=127.0.0.1", f"--port={port}",
                "--logdir_spec=prebuilt:prebuilt,logs:logs", *rest]
    tensorboard.run_main()
    return 0


def check(answers: list[str]) -> int:
    """Checks answers such as `2=14` against the stored event files."""
    quiet_tensorflow()
    from prebuilt import tasks

    try:
        print("\n".join(tasks.check(answers)))
    except ValueError as error:
        print(f"course.py tensorboard: {error}", file=sys.stderr)
        return 2
    return 0


def free_port(wish: int) -> int:
    """Returns the requested port if it is free, or else any free port.

    Raises:
      OSError: If this machine has no free port.
    """
    for port in (wish, 0):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except (OSError, OverflowError):  # a port has two bytes
                continue
            return probe.getsockname()[1]
    raise OSError(
        "No free port found on 127.0.0.1. Stop a program that uses a port and try "
        "again."
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
