"""Rivals that need packages beyond the lock: an environment of their own, on demand."""

import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.rounds import ROOT, commands

ENVIRONMENT = ROOT / ".venv-rivals"
REQUIREMENTS = ROOT / "benchmarks" / "requirements.txt"
MODULE = "benchmarks.peers.libraries"
PIPELINE = ("limit OpenCV", "grain", "torch")
CONVERSION = ("limit OpenCV files",)


def python() -> Path:
    """Returns the environment's Python, whether it is there or not."""
    windows = sys.platform == "win32"
    return ENVIRONMENT / ("Scripts/python.exe" if windows else "bin/python")


def install(requirements: Path = REQUIREMENTS) -> None:
    """Makes the environment, and installs each line alone; names what cannot be.

    Raises:
      RuntimeError: Python cannot make an environment here.
    """
    if not python().exists():
        made = subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)],
                              capture_output=True, text=True)
        if made.returncode:
            said = (made.stderr or made.stdout).strip() or "no output"
            raise RuntimeError(f".venv-rivals: {said.splitlines()[-1]}")
    pip = [str(python()), "-m", "pip", "--disable-pip-version-check", "install", "-q"]
    for line in requirements.read_text("utf-8").splitlines():
        if not (wanted := line.partition("#")[0].strip()):
            continue
        done = subprocess.run([*pip, wanted], capture_output=True, text=True)
        if done.returncode:
            said = (done.stderr.strip() or "no output").splitlines()[-1]
            print(f"{wanted}: skipped, it cannot be installed: {said}")


def contestants(
    names: Iterable[str], arguments: Sequence[object]
) -> dict[str, list[str]]:
    """Returns commands of the rivals whose packages are there; names the others.

    Args:
      names: contestants of `benchmarks.peers.libraries`.
      arguments: for each of them.
    """
    if not python().exists():
        print("no rivals of other packages: --rivals installs them "
              "(benchmarks/requirements.txt)")
        return {}
    from benchmarks.peers.libraries import NEEDS

    found = []
    for name in names:
        if missing := [module for module in NEEDS[name] if not has(module)]:
            print(f"{name}: skipped, .venv-rivals has no {missing[0]}")
        else:
            found.append(name)
    return commands(MODULE, found, arguments, python())


def has(module: str) -> bool:
    """Whether the environment can import a module."""
    command = [str(python()), "-c", f"import {module}"]
    return not subprocess.run(command, capture_output=True).returncode
