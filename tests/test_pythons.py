"""Which other Pythons the lessons are run under, and which lessons."""

import sys

import pytest

from tools import notebook as nb
from tools import pythons


def test_what_does_not_answer_is_no_python(tmp_path, monkeypatch):
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    assert pythons.others() == {}
    for minor in (10, 11, 12, 13):
        program = tmp_path / "versions" / f"3.{minor}.0" / "bin" / "python3"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\nexit 1\n")
        program.chmod(0o755)
    assert pythons.others() == {}
    right = "10" if sys.version_info[1] != 10 else "11"
    program = tmp_path / "versions" / f"3.{right}.0" / "bin" / "python3"
    program.write_text("#!/bin/sh\nexit 0\n")
    assert pythons.others() == {(3, int(right)): str(program)}


def test_the_lessons_that_start_a_program_are_found():
    found = {nb.number(path) for path in pythons.that_start_processes()}
    assert {"01a", "09a", "09b", "10a"} <= found and "04b" not in found


def test_where_there_is_no_other_it_says_so(monkeypatch, capsys):
    monkeypatch.setattr(pythons, "others", dict)
    assert pythons.main([]) == 0
    assert "other supported Python (3.10 to 3.13)" in capsys.readouterr().out


@pytest.mark.parametrize("newest", [True, False])
def test_a_python_that_fails_is_named(monkeypatch, capsys, newest):
    tried = []
    monkeypatch.setattr(pythons, "others", lambda: {(3, 13): "a", (3, 12): "b"})
    monkeypatch.setattr(pythons, "run_under", lambda version, program, lessons:
                        tried.append(version) or int(version == "3.13"))
    assert pythons.main(["--newest"] if newest else []) == 1
    assert tried == (["3.13"] if newest else ["3.13", "3.12"])
    assert "FAILED under Python 3.13" in capsys.readouterr().err
