"""`course.py test`: which parts run, what it sums up, and the Pythons it looks for."""

import sys

import pytest

from tools import pythons, run_tests

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


def test_options_go_to_one_part(monkeypatch):
    asked = {}
    monkeypatch.setattr(run_tests, "run", asked.update)
    run_tests.main(["checks", "03a", "--sample", "3"])
    assert asked["checks"][-3:] == ["03a", "--sample", "3"]
    run_tests.main(["pythons", "3.10", "3.13"])
    assert asked["pythons"][-2:] == ["3.10", "3.13"]
    with pytest.raises(SystemExit):
        run_tests.main(["lint", "unit", "--minutes", "3"])


def test_the_python_that_runs_is_found_and_another_version_is_none(
    tmp_path, monkeypatch
):
    version = "{}.{}".format(*sys.version_info)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert pythons.find(version) is None
    home = tmp_path / "versions" / f"{version}.0" / "bin"
    home.mkdir(parents=True)
    (home / "python").symlink_to(sys.executable)
    assert pythons.find(version) == home / "python"
    (home.parent.parent / "3.99.1" / "bin").mkdir(parents=True)
    (home.parent.parent / "3.99.1" / "bin" / "python").symlink_to(sys.executable)
    assert pythons.find("3.99") is None


def test_a_version_that_is_not_there_is_said_and_no_failure(capsys, monkeypatch):
    monkeypatch.setattr(pythons, "find", lambda version: None)
    assert pythons.main(["3.10"]) == 0
    assert "Python 3.10: not on this machine" in capsys.readouterr().out
