"""`course.py test`: which parts run, and what it sums up."""

import os
import subprocess
import sys

import psutil
import pytest

from helpers.files import ROOT
from tools import run_tests

PASS, FAIL = ["-c", ""], ["-c", "raise SystemExit(3)"]


def test_all_parts_run_and_a_failure_is_named(capfd):
    assert run_tests.run({"one": FAIL, "two": PASS}) == 1
    out = capfd.readouterr().out
    assert "one        FAILED" in out and "two        passed" in out
    assert run_tests.run({"two": PASS}) == 0


def test_the_notebooks_run_beside_the_tests_and_their_output_follows(tmp_path, capfd):
    """Each part waits for a file that only the other one makes."""
    def part(mine, other):
        return ["-c", "import pathlib, time\n"
                f"pathlib.Path({str(tmp_path / mine)!r}).touch()\n"
                f"while not pathlib.Path({str(tmp_path / other)!r}).exists():\n"
                f"    time.sleep(0.01)\nprint('this is {mine}')"]

    commands = {"tests": part("a", "b"), "notebooks": part("b", "a")}
    assert run_tests.run(commands) == 0
    out = capfd.readouterr().out
    assert out.index("this is a") < out.index("=== notebooks") < out.index("this is b")
    assert run_tests.run({"tests": PASS, "notebooks": FAIL}) == 1
    assert "notebooks  FAILED" in capfd.readouterr().out


def test_an_interrupted_run_leaves_no_notebooks_behind():
    forever = ["-c", "import time; time.sleep(600)"]
    with pytest.raises(KeyboardInterrupt), run_tests.in_background(forever):
        [process] = [child for child in psutil.Process().children()
                     if forever[1] in child.cmdline()]
        raise KeyboardInterrupt
    assert not process.is_running()


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [([], list(run_tests.PARTS)), (["quick"], run_tests.GROUPS["quick"]),
     (["weekly"], ["rare", "measured", "coverage"]),
     (["faults", "lint"], ["faults", "lint"])],
)
def test_which_parts_run(arguments, parts, monkeypatch):
    asked = []
    monkeypatch.setattr(run_tests, "run", lambda commands: asked.extend(commands))
    run_tests.main(arguments)
    assert asked == parts


def test_a_learners_pytest_knows_every_option_of_ours():
    """It has nbval, and none of the other plugins of the tests."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--strict-config", "--collect-only", "-q",
         "-p", "nbval.plugin", "--nbval", "notebooks/01a_variable_scope.ipynb"],
        cwd=ROOT, env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                       "PYTEST_ADDOPTS": ""},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0 and "warning" not in done.stdout.lower(), done.stdout
