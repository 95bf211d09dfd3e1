"""`course.py test`: which parts run, and what it sums up."""

import os
import subprocess
import sys

import pytest

from helpers.files import ROOT
from tools import run_tests

PASS, FAIL = ["-c", ""], ["-c", "raise SystemExit(3)"]


def test_all_parts_run_and_a_failure_is_named(capfd):
    assert run_tests.run({"one": FAIL, "two": PASS}) == 1
    out = capfd.readouterr().out
    assert "one        FAILED" in out and "two        passed" in out
    assert run_tests.run({"two": PASS}) == 0


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
