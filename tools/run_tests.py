"""Runs what CI runs, one part after the other, and sums up at the end.

python3 course.py test                       # all parts of the first list
python3 course.py test unit notebooks        # some: `tests` is `unit` and `faults`
python3 course.py test quick                 # no browser, one lesson: minutes
python3 course.py test nbgrader              # it takes the hand-outs: the network
python3 course.py test newest                # some lessons, another Python
python3 course.py test pythons               # all lessons, each other Python
"""

import subprocess
import sys
import time

from helpers.files import ROOT
from tools import notebook as nb

# A worker that a test has ended is not replaced: the rest could wait for it for ever.
# --no-loadscope-reorder: in the order of the conftest and the plugin, the slow first.
PYTEST = [
    "-m", "pytest", "-q", "--dist", "loadfile", "--no-loadscope-reorder",
    "--max-worker-restart", "0", "--durations=15",
    # What hangs is ended, and nothing else (tests/limits.py). Here and not in
    # pyproject.toml: a learner's pytest has no such option.
    "--timeout", "1800", "--timeout-method", "thread",
]
# More than there are cores, as tests wait for threads, processes and servers.
WORKERS = ["-n", "4"]
TESTS = [*PYTEST, *WORKERS, "tests", "legacy/tests"]
UNIT = [*TESTS, "--ignore", "tests/faults"]
NBVAL = [  # lessons compute more than they wait: one for each core of two
    *PYTEST, "-n", "2", "--nbval", "--nbval-current-env",
    "--nbval-cell-timeout", "1500",
]
PARTS = {
    "lint": ["-m", "ruff", "check", "."],
    "imports": ["-c", "import sys; sys.path.insert(0, 'legacy'); "
                "from importlinter.cli import lint_imports_command as lint; "
                "lint(['--no-cache'])"],
    "types": ["-m", "mypy"],
    "spelling": ["-m", "codespell_lib", "."],
    # Unit tests and faults at once: no worker waits for the last of either. The
    # folder of faults is named, so that its conftest is there to sum up.
    "tests": [*TESTS, "tests/faults", "--cov=helpers", "--cov-report="],
    "coverage": ["-m", "coverage", "report", "--skip-covered", "--fail-under=95"],
    "notebooks": [*NBVAL, "notebooks"],
}
# Not run by a plain `test`: a half of `tests`, the short cut, and what takes an hour.
MORE = {
    "unit": UNIT,
    "faults": [*PYTEST, *WORKERS, "tests/faults"],
    "tf1tools": [*PYTEST, *WORKERS, "legacy/tests"],
    "quick": [*UNIT, "-m", "not slow"],
    "lesson": [*NBVAL, "notebooks/01a_variable_scope.ipynb"],
    "nbgrader": ["-m", "pytest", "-q", "tests/nbgrader.py"],
    "newest": ["-m", "tools.pythons", "--newest"],
    "pythons": ["-m", "tools.pythons"],
}
QUICK = ["lint", "imports", "types", "spelling", "quick", "lesson"]


def main(arguments: list[str]) -> int:
    parser = nb.parser("test", __doc__)
    parser.add_argument("parts", nargs="*", metavar="PART",
                        help=" ".join([*PARTS, *MORE]))
    options, rest = parser.parse_known_args(arguments)
    commands = PARTS | MORE
    if unknown := [part for part in options.parts if part not in commands]:
        parser.error(f"there is no part {unknown[0]}; there are {' '.join(commands)}")
    if rest and len(options.parts) != 1:
        parser.error(f"{rest[0]} is for one part: name that part alone")
    parts = QUICK if options.parts == ["quick"] else options.parts or list(PARTS)
    return run({part: [*commands[part], *rest] for part in parts})


def run(commands: dict[str, list[str]]) -> int:
    """Runs one Python command per part, all of them; returns 1 if one failed."""
    results = {}
    for part, command in commands.items():
        print(f"\n=== {part} ===", flush=True)
        start = time.monotonic()
        code = subprocess.call([sys.executable, *command], cwd=ROOT)
        results[part] = code, time.monotonic() - start
    print()
    for part, (code, seconds) in results.items():
        print(f"{part:10s} {'FAILED' if code else 'passed'} {seconds:8.0f} s")
    return int(any(code for code, _ in results.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
