"""Runs the checks of CI one after another and prints a summary.

python3 course.py test                       # all of them
python3 course.py test unit notebooks        # some parts
python3 course.py test quick                 # no browser, one lesson: minutes
python3 course.py test tf1tools              # only the tools for old code
python3 course.py test weekly                # parts too slow for every commit
python3 course.py test newest                # some lessons with another Python
python3 course.py test pythons               # all lessons with each other Python

The part `tests` consists of `unit` and `faults`.
"""

import subprocess
import sys
import time

from helpers.files import ROOT
from tools import notebook as nb

# A worker that a test has killed is not replaced, because the other workers might wait
# for it forever. --no-loadscope-reorder keeps the order of conftest, slow tests first.
PYTEST = [
    "-m", "pytest", "-q", "--dist", "loadfile", "--no-loadscope-reorder",
    "--max-worker-restart", "0", "--durations=15",
    # Only tests that hang are stopped (tests/limits.py). The option is here and not in
    # pyproject.toml, because a learner's pytest does not have the plugin.
    "--timeout", "1800", "--timeout-method", "thread",
]
# One more than there are cores of two, as tests wait for servers and programs.
WORKERS = ["-n", "3"]
EACH_TIME = ["-m", "not weekly"]
# Unit tests and fault tests run together, so that no worker has to wait for the other
# group. The folder of fault tests is named, so that its conftest can print a summary.
ALL_TESTS = [*PYTEST, *WORKERS, "tests", "legacy/tests", "tests/faults"]
UNIT = [*PYTEST, *WORKERS, "tests", "legacy/tests", "--ignore", "tests/faults"]
# Windows cannot fork a process, and on macOS a fork may crash.
WARM = ["-p", "tools.jupyter.warm_kernels"] if sys.platform == "linux" else []
NBVAL = [
    *PYTEST, *WORKERS, "--nbval", "--nbval-current-env",
    "--nbval-cell-timeout", "1500", *WARM,
]
PARTS = {
    "lint": ["-m", "ruff", "check", "."],
    "imports": ["-c", "import sys; sys.path.insert(0, 'legacy'); "
                "from importlinter.cli import lint_imports_command as lint; "
                "lint(['--no-cache'])"],
    "types": ["-m", "mypy"],
    "spelling": ["-m", "codespell_lib", "."],
    "tests": [*ALL_TESTS, *EACH_TIME],
    "notebooks": [*NBVAL, "notebooks"],
}
# A plain `test` does not run these: parts of `tests`, and parts that take too long.
MORE = {
    "unit": [*UNIT, *EACH_TIME],
    "faults": [*PYTEST, *WORKERS, *EACH_TIME, "tests/faults"],
    "tf1tools": [*PYTEST, *WORKERS, *EACH_TIME, "legacy/tests"],
    "short": [*UNIT, "-m", "not slow and not weekly"],
    "lesson": [*NBVAL, "notebooks/01a_variable_scope.ipynb"],
    "rare": [*ALL_TESTS, "-m", "weekly"],
    "measured": [*ALL_TESTS, *EACH_TIME, "--cov=helpers", "--cov-report="],
    "coverage": ["-m", "coverage", "report", "--skip-covered", "--fail-under=95"],
    "newest": ["-m", "tools.pythons", "--newest"],
    "pythons": ["-m", "tools.pythons"],
}
# Names that stand for several parts.
GROUPS = {
    "quick": ["lint", "imports", "types", "spelling", "short", "lesson"],
    "weekly": ["rare", "measured", "coverage"],
}


def main(arguments: list[str]) -> int:
    parser = nb.parser("test", __doc__)
    parser.add_argument("parts", nargs="*", metavar="PART",
                        help=" ".join([*PARTS, *GROUPS, *MORE]))
    options, rest = parser.parse_known_args(arguments)
    commands = PARTS | MORE
    parts = [part for name in options.parts or PARTS
             for part in GROUPS.get(name, [name])]
    if unknown := [part for part in parts if part not in commands]:
        known = " ".join([*PARTS, *GROUPS, *MORE])
        parser.error(f"There is no part {unknown[0]}. The parts are {known}.")
    if rest and len(parts) != 1:
        parser.error(f"{rest[0]} can be passed to only one part, so name exactly one.")
    return run({part: [*commands[part], *rest] for part in parts})


def run(commands: dict[str, list[str]]) -> int:
    """Runs one Python command per part and returns 1 if any of them failed."""
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
