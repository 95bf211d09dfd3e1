"""`course.py test`: which parts run, and what it sums up."""

import pytest

from tools import run_tests

PASS, FAIL = ["-c", ""], ["-c", "raise SystemExit(3)"]


def test_all_parts_run_and_a_failure_is_named(capfd):
    assert run_tests.run({"one": FAIL, "two": PASS}) == 1
    out = capfd.readouterr().out
    assert "one        FAILED" in out and "two        passed" in out
    assert run_tests.run({"two": PASS}) == 0


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [([], list(run_tests.PARTS)), (["quick"], run_tests.QUICK),
     (["faults", "lint"], ["faults", "lint"])],
)
def test_which_parts_run(arguments, parts, monkeypatch):
    asked = []
    monkeypatch.setattr(run_tests, "run", lambda commands: asked.extend(commands))
    run_tests.main(arguments)
    assert asked == parts
