"""Runs all lessons, outputs compared, under every Python that the course promises.

    python3 course.py test pythons [3.10 3.13 ...]

For each version that this machine has, as `python3.N` or in pyenv's folder, an
environment is made beside `.venv` (once, with the network) and strict nbval runs in it.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from helpers.files import ROOT, sha256
from tools.run_tests import NBVAL

VERSIONS = ("3.10", "3.11", "3.12", "3.13")


def find(version: str) -> Path | None:
    """Returns a Python of this version on this machine, or None."""
    candidates = []
    if on_path := shutil.which(f"python{version}"):
        candidates.append(Path(on_path))
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    candidates += sorted(pyenv.glob(f"{version}.*/bin/python"))
    return next((path for path in candidates if _is(path, version)), None)


def _is(path: Path, version: str) -> bool:
    """Whether a program is that Python; a stand-in of pyenv may be none."""
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([path, "-c", ask], capture_output=True, text=True)
    return done.returncode == 0 and done.stdout.strip() == version


def environment(version: str, python: Path) -> Path:
    """Returns the Python of an environment that holds the lock; makes it if needed.

    Raises:
      RuntimeError: a step failed; its own words are above.
    """
    folder = ROOT / f".venv-{version}"
    stamp, lock = folder / "complete.txt", sha256(ROOT / "requirements.txt")
    there = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if stamp.exists() and stamp.read_text() == lock:
        return there
    shutil.rmtree(folder, ignore_errors=True)
    pip = [there, "-m", "pip", "--disable-pip-version-check", "-q", "install"]
    for command in ([python, "-m", "venv", folder],
                    [*pip, "-r", ROOT / "requirements.txt"]):
        if subprocess.call([str(part) for part in command], cwd=ROOT):
            raise RuntimeError(f"Python {version}: its environment could not be made")
    stamp.write_text(lock)
    return there


def compare(version: str, python: Path) -> str:
    """Runs every notebook under one Python; returns what came of it."""
    clean = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONNOUSERSITE": "1",
             "PYTHONUTF8": "1"}
    code = subprocess.call([str(python), *NBVAL, "notebooks"], cwd=ROOT, env=clean)
    return "FAILED" if code else "passed"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="course.py test pythons",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("versions", nargs="*", metavar="3.N", default=VERSIONS)
    results = {}
    for version in parser.parse_args(arguments).versions:
        print(f"\n=== Python {version} ===", flush=True)
        python = find(version)
        if python is None:
            results[version] = "not on this machine"
            continue
        try:
            results[version] = compare(version, environment(version, python))
        except RuntimeError as error:
            results[version] = f"FAILED: {error}"
    print()
    for version, result in results.items():
        print(f"Python {version}: {result}")
    return int(any(result.startswith("FAILED") for result in results.values()))


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(1)
