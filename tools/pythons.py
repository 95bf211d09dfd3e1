"""Runs the lessons with the other supported Python versions that are installed.

python3 course.py test newest     # the newest Python: some lessons
python3 course.py test pythons    # every other Python: all lessons

`newest` runs the lessons that start processes, and one core lesson. Each Python gets a
copy of the course and an environment in `build/pythons/`, which needs the network and
some gigabytes once.
"""

import glob
import os
import shutil
import subprocess
import sys
from pathlib import Path

from helpers.files import ROOT
from tools import notebook as nb
from tools.environment import NEWEST, OLDEST

FOLDER = ROOT / "build" / "pythons"
CORE = "01a"
STARTS = ("subprocess.", "Cluster(")  # in lessons that start processes


def others() -> dict[tuple[int, int], str]:
    """Returns the other supported Pythons on this machine, newest first.

    The interpreters are searched for on the path and among the versions of pyenv, and
    each of them has to start.
    """
    pyenv = os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv"
    programs = {}
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        version = f"3.{minor}"
        versions = glob.glob(f"{pyenv}/versions/{version}.*/bin/python3")
        for program in filter(None, [shutil.which(f"python{version}"), *versions]):
            if (3, minor) != sys.version_info[:2] and _answers(program, version):
                programs[3, minor] = program
                break
    return programs


def _answers(program: str, version: str) -> bool:
    code = f"import sys, venv; sys.exit('%d.%d' % sys.version_info[:2] != '{version}')"
    return subprocess.run([program, "-c", code], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def that_start_processes() -> list[Path]:
    """Returns the lessons that start processes, and one core lesson."""
    return [path for path in nb.lessons(ROOT) if nb.number(path) == CORE
            or any(word in path.read_text("utf-8") for word in STARTS)]


def run_under(version: str, program: str, lessons: list[Path]) -> int:
    """Runs lessons with another Python and compares their stored outputs.

    Returns:
      The exit code of the first command that failed, or 0.
    """
    folder = FOLDER / version
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True,
                           stdout=subprocess.PIPE).stdout
    for name in filter(None, os.fsdecode(files).split("\0")):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    environment = {k: v for k, v in os.environ.items() if k != "VIRTUAL_ENV"}
    # Every command creates the environment first.
    code = subprocess.call([program, "course.py", "progress"], cwd=folder,
                           env=environment, stdout=subprocess.DEVNULL)
    python = folder / ".venv" / ("Scripts/python.exe" if os.name == "nt"
                                 else "bin/python")
    return code or subprocess.call(
        [python, "-m", "pytest", "-q", "--nbval", "--nbval-current-env",
         "--nbval-cell-timeout", "1500", "-p", "no:cacheprovider",
         *[path.relative_to(ROOT) for path in lessons]], cwd=folder, env=environment)


def main(arguments: list[str]) -> int:
    parser = nb.parser("test pythons", __doc__)
    parser.add_argument("--newest", action="store_true")
    options = parser.parse_args(arguments)
    interpreters = list(others().items())
    if not interpreters:
        print(
            f"No other supported Python ({OLDEST[0]}.{OLDEST[1]} to "
            f"{NEWEST[0]}.{NEWEST[1]}) is installed, so no lessons were run."
        )
    failed = []
    for (major, minor), program in interpreters[:1] if options.newest else interpreters:
        version = f"{major}.{minor}"
        lessons = that_start_processes() if options.newest else nb.lessons(ROOT)
        print(f"Python {version}, {len(lessons)} lessons:", flush=True)
        if run_under(version, program, lessons):
            failed.append(version)
    for version in failed:
        print(f"FAILED under Python {version}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
