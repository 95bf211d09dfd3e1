"""Keeps what old programs print under the Python and TensorFlow they were written for.

    python -m makers.sides 2.7=python2.7 0.12=PYTHON 1.15=PYTHON

Each program of tests/port/sides says in its first line what it runs under. What it
printed goes beside it, as NAME.said; tests/test_port_runs.py compares it with what the
copy that `port --write` makes prints today. TensorFlow 0.12.1 is a wheel for Python
2.7; with TensorFlow 1.15.5, for Python 3.7, goes Keras 2.3.1.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "tests" / "port" / "sides"


def said(python: str, program: Path) -> str:
    """Returns what a program prints, run by a Python in an empty folder.

    Raises:
      CalledProcessError: it ended otherwise than by its last line.
    """
    with tempfile.TemporaryDirectory() as folder:
        quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
        done = subprocess.run([python, program], cwd=folder, env=quiet, check=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        return done.stdout.decode()


def main(arguments: list[str]) -> None:
    """Runs every program whose Python is given."""
    pythons = dict(argument.split("=", 1) for argument in arguments)
    for program in sorted(FOLDER.glob("*.old")):
        version = re.match(r"# Runs under \w+ (\d+(?:\.\d+)+)", program.read_text())[1]
        if version in pythons:
            print(program.stem)
            program.with_suffix(".said").write_text(said(pythons[version], program))


if __name__ == "__main__":
    main(sys.argv[1:])
