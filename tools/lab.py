"""Opens the course in JupyterLab, on this machine only, with a token.

python3 course.py lab [--gpu] [NOTEBOOK.ipynb] [JUPYTERLAB OPTIONS]

`course.py` takes `--gpu` for itself: on Linux it adds CUDA's libraries to .venv, once.
"""

import os
import sys
from pathlib import Path

from jupyterlab.labapp import main as jupyterlab

# Gives the figures their text alternatives.
EXTENSION = Path(__file__).resolve().parent / "lab_extension"

HERE = "--ServerApp.ip=127.0.0.1"
OPTIONS = [
    "--LabApp.extension_manager=readonly",
    "--LabApp.news_url=",
    f"--LabApp.extra_labextensions_path={EXTENSION}",
]
FIRST = "notebooks/01a_variable_scope.ipynb"


def main(arguments: list[str]) -> None:
    options = list(OPTIONS)
    if not any(word.startswith(("--ServerApp.ip=", "--ip=")) for word in arguments):
        options.append(HERE)  # in a container the reader gives another, knowingly
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")
    if not any(argument.endswith(".ipynb") for argument in arguments):
        options.append(FIRST)
    sys.argv = ["course.py lab", *options, *arguments]
    jupyterlab()


if __name__ == "__main__":
    main(sys.argv[1:])
