"""Fills a folder from which a class installs the course without a network.

    python3 course.py wheels FOLDER                          # for machines like this
    python3 course.py wheels FOLDER windows macos 3.12 3.13  # for other machines

The folder gets the packages of the course as wheels, for each of the named systems with
each of the named versions of Python. The systems are linux, linux-arm, macos (Apple
silicon) and windows. A second call adds to the folder. Bring the folder to the class on
a USB stick, or offer it on the local network. On each machine, run:

    python3 course.py lab --wheels FOLDER
"""

import argparse
import itertools
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement

from helpers.files import ROOT
from tools import notebook as nb
from tools.environment import LOCK, NEWEST, OLDEST, go_where_called


class System(NamedTuple):
    """Operating system of a learner, as markers and wheels name it.

    Attributes:
      platform_system, platform_machine, sys_platform, os_name: Values of the markers in
        a lock file.
      tags: Tags of the wheels that the system can install, apart from `any`.
    """

    platform_system: str
    platform_machine: str
    sys_platform: str
    os_name: str
    tags: tuple[str, ...]

    def needs(self, pin: str, release: str) -> bool:
        """Returns whether a line of a lock file is for this system and Python.

        Args:
          pin: The line, such as "wurlitzer==3.1.1 ; sys_platform != 'win32'".
          release: Release of Python, such as "3.11.9".
        """
        marker = Requirement(pin).marker
        values = {name: value for name, value in self._asdict().items()
                  if name != "tags"}
        return marker is None or marker.evaluate(
            {**values, "python_version": release.rpartition(".")[0],
             "python_full_version": release})


def _linux(machine: str) -> tuple[str, ...]:
    """Returns the tags of wheels for glibc 2.28, of 2018, and older, newest first."""
    return (*(f"manylinux_2_{minor}_{machine}" for minor in range(28, 16, -1)),
            f"manylinux2014_{machine}", f"manylinux2010_{machine}",
            f"manylinux1_{machine}")


SYSTEMS = {
    "linux": System("Linux", "x86_64", "linux", "posix", _linux("x86_64")),
    "linux-arm": System("Linux", "aarch64", "linux", "posix", _linux("aarch64")),
    "macos": System("Darwin", "arm64", "darwin", "posix", ("macosx_12_0_arm64",)),
    "windows": System("Windows", "AMD64", "win32", "nt", ("win_amd64",)),
}
PYTHONS = [f"{OLDEST[0]}.{minor}" for minor in range(OLDEST[1], NEWEST[1] + 1)]


def here() -> tuple[str, str]:
    """Returns the names of this system and this Python."""
    [name] = [name for name, system in SYSTEMS.items() if system[:2] == (
        platform.system(), platform.machine())]
    return name, "{}.{}".format(*sys.version_info[:2])


def download(folder: Path, name: str, python: str, lock: Path = ROOT / LOCK) -> bool:
    """Downloads what a lock file needs on one system with one Python.

    Args:
      folder: Folder for the wheels. Files that it already contains are kept.
      name: Key of `SYSTEMS`.
      python: Version of Python, such as "3.12".
      lock: Lock file. Lines without a version are skipped.

    Returns:
      Whether pip found a wheel for each package.
    """
    tags = itertools.chain(*(("--platform", tag) for tag in SYSTEMS[name].tags))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download",
           "--no-deps", "--only-binary=:all:", "--ignore-requires-python",
           "--implementation", "cp", "--python-version", python, *tags,
           "--dest", str(folder)]
    return all(subprocess.run([*pip, *packages], check=False).returncode == 0
               for packages in wanted(lock, SYSTEMS[name], python) if packages)


def wanted(lock: Path, system: System, python: str) -> tuple[list[str], list[str]]:
    """Returns the packages for the first release of a Python, and more for the last.

    A lock file may name two versions of a package, for early and for late releases. A
    learner may have either, and pip refuses to download both at once.
    """
    pins = re.findall(r"^[\w.-]+==.+", lock.read_text("utf-8"), re.M)
    first, last = ([pin.split(";")[0].strip() for pin in pins
                    if system.needs(pin, f"{python}.{release}")] for release in (0, 99))
    return first, [package for package in last if package not in first]


def main(arguments: list[str]) -> int:
    parser = nb.parser("wheels", __doc__)
    parser.add_argument("folder", type=Path, help="folder for the packages")
    parser.add_argument("machines", nargs="*", metavar="SYSTEM-OR-PYTHON",
                        type=_machine, help=" ".join([*SYSTEMS, *PYTHONS]))
    options = parser.parse_args(arguments)
    this_system, this_python = here()
    names = [word for word in options.machines if word in SYSTEMS] or [this_system]
    pythons = [word for word in options.machines if word in PYTHONS] or [this_python]
    for name, python in itertools.product(names, pythons):
        if not download(options.folder, name, python):
            print(f"course.py wheels: Failed to download all packages for {name} with "
                  f"Python {python}; see the errors above. Run the same command again "
                  "to resume.",
                  file=sys.stderr)
            return 1
    files = list(options.folder.glob("*.whl"))
    size = sum(path.stat().st_size for path in files) / 1e9
    print(f"\n{options.folder} contains {len(files)} wheels, {size:.1f} GB, for "
          f"{' and '.join(names)} with Python {' and '.join(pythons)}.\n"
          "On each machine, run in the folder of the course: "
          "python3 course.py lab --wheels FOLDER")
    return 0


def _machine(word: str) -> str:
    """Checks the name of a system or a version of Python on the command line."""
    if word in SYSTEMS or word in PYTHONS:
        return word
    raise argparse.ArgumentTypeError(
        f"Unknown system or Python version {word!r}. Choose one of "
        f"{', '.join([*SYSTEMS, *PYTHONS])}.")


if __name__ == "__main__":
    go_where_called()
    sys.exit(main(sys.argv[1:]))
