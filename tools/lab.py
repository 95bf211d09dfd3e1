"""Opens the course in JupyterLab, on this machine only and with a token.

    python3 course.py lab              # your own copies of the lessons, in my/
    python3 course.py lab 03a          # opens your copy of lesson 03a
    python3 course.py lab --fresh 03a  # makes a new copy and keeps the old one
    python3 course.py lab FILE         # opens any notebook
    python3 course.py lab --gpu        # on Linux: installs CUDA's libraries in .venv

    python3 course.py lab --wheels FOLDER   # sets up without a network: see `wheels`

The last line that it prints is the address of the page. The messages of Jupyter and its
kernels are in the file my/.lab/jupyter.log. All other arguments are passed to
JupyterLab. `progress` also counts the exercises in copies that `--fresh` has replaced.
"""

import argparse
import os
import re
import secrets
import sys
import urllib.parse
from pathlib import Path

from jupyterlab.labapp import main as jupyterlab

from helpers.errors import DataError
from helpers.files import ROOT
from tools import copies
from tools import notebook as nb

# Settings for Jupyter. A plain `jupyter lab` gets them from tools/jupyter/config.py.
JUPYTER = Path(__file__).resolve().parent / "jupyter"
PLACES = {"JUPYTER_PATH": JUPYTER / "share" / "jupyter",
          "JUPYTER_CONFIG_PATH": JUPYTER / "etc" / "jupyter"}

HERE = "--ServerApp.ip=127.0.0.1"
WORKSPACES = copies.FOLDER / ".lab"
OPTIONS = [
    f"--LabApp.app_settings_dir={JUPYTER / 'share' / 'jupyter' / 'lab' / 'settings'}",
    f"--LabApp.workspaces_dir={WORKSPACES}",  # no tabs of other projects
]
# In the terminal, the log of Jupyter and its kernels would bury the address.
QUIET = ["--ServerApp.log_level=ERROR", "--LabApp.log_level=ERROR",
         f"--CourseLab.log={WORKSPACES / 'jupyter.log'}"]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="course.py lab", description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("--fresh", action="store_true",
                        help="create a new copy and keep the old one")
    options, rest = parser.parse_known_args(arguments)
    numbers = [word for word in rest if re.fullmatch(r"\d\d?[a-zA-Z]?", word)]
    rest = [word for word in rest if word not in numbers]
    for before, word in zip(["", *rest], rest, strict=False):
        if not (word.startswith("-") or before.startswith("-")  # a value of Jupyter's
                or word.endswith(".ipynb") or Path(word).is_dir()):
            parser.error(f"{word} is neither a lesson number nor a notebook. Pass a "
                         "lesson number, as in `lab 03a`.")
    if options.fresh and not numbers:
        parser.error(
            "The option --fresh requires a lesson number, as in `lab --fresh 03a`."
        )
    if not any(word.startswith(("--ServerApp.ip=", "--ip=")) for word in rest):
        rest.append(HERE)  # a user in a container sets another address on purpose
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        rest.append("--allow-root")
    if numbers or not any(word.endswith(".ipynb") for word in rest):
        try:
            rest += opened(numbers, options.fresh)
        except (OSError, ValueError, DataError) as error:
            parser.error(str(error))
    for name, folder in PLACES.items():
        previous = [os.environ[name]] if os.environ.get(name) else []
        os.environ[name] = os.pathsep.join([str(folder), *previous])
    # If an option is given twice, Jupyter ignores it, together with related options.
    given = {word.partition("=")[0] for word in rest}
    ours = [option for option in [*OPTIONS, *address(rest), *quiet(rest)]
            if option.partition("=")[0] not in given]
    sys.argv = ["course.py lab", *ours, *rest]
    jupyterlab()


def quiet(words: list[str]) -> list[str]:
    """Returns the options that keep Jupyter's log out of the terminal.

    They also choose the token of the address. Jupyter's own is so long that a terminal
    breaks the line, and Jupyter prints it once more.

    Args:
      words: JupyterLab's command-line arguments. There are no options if the user asks
        for a log, and no token if the user has chosen one.
    """
    if any(re.match("--debug|--.*log.level", word) for word in words):
        return []
    own = any(re.match("--.*(token|password)", word) for word in words)
    if own or {"JUPYTER_TOKEN", "JUPYTER_TOKEN_FILE"} & os.environ.keys():
        return QUIET
    token = secrets.token_hex(16)
    return [*QUIET, f"--IdentityProvider.token={token}", f"--CourseLab.token={token}"]


def address(words: list[str]) -> list[str]:
    """Returns the option that makes the printed address open the given notebook.

    A browser that JupyterLab itself starts needs no such option, but on a server there
    is none.

    Args:
      words: JupyterLab's command-line arguments.

    Returns:
      A list with one option, or an empty list if no notebook is named.
    """
    files = [Path(word) for word in words if word.endswith(".ipynb")]
    if not files:
        return []
    roots = [word for word in words if word.startswith("--ServerApp.root_dir=")]
    root = Path(roots[-1].partition("=")[2]) if roots else files[0].parent
    try:
        place = files[0].resolve().relative_to(root.resolve()).as_posix()
    except ValueError:  # JupyterLab reports the problem itself
        return []
    return [f"--LabApp.default_url=/lab/tree/{urllib.parse.quote(place)}"]


def opened(numbers: list[str], fresh: bool) -> list[str]:
    """Creates the reader's copies and returns JupyterLab's arguments to open them."""
    copies.copies(nb.lessons(ROOT))
    first, *_ = copies.copies(nb.lessons(ROOT, numbers), fresh=fresh)
    return [str(first), f"--ServerApp.root_dir={ROOT}",
            f"--FileContentsManager.preferred_dir={copies.FOLDER}"]


if __name__ == "__main__":
    main(sys.argv[1:])
