"""Programs of TensorFlow 2 and Python 3 are left alone: not one byte is another."""

import contextlib
import io
import re
import runpy
from pathlib import Path

import pytest

from tools.port import write
from tools.port.rule import Left
from tools.port.work import work

TODAY = dict(re.findall(r"^# === (\w+)\n(.*?)(?=^# ===|\Z)",
                        (Path(__file__).parent / "port" / "today.txt").read_text(),
                        re.M | re.S))


def said(path):
    """Returns what a program prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        runpy.run_path(str(path), run_name="__main__")
    return out.getvalue()


@pytest.mark.parametrize("name", TODAY)
def test_a_program_of_today_is_left_alone(name, tmp_path):
    old = tmp_path / "old"
    old.mkdir()
    (old / f"{name}.py").write_text(TODAY[name])
    done = work(old)
    write.write(old, tmp_path / "new", done)
    assert (tmp_path / "new" / f"{name}.py").read_text() == TODAY[name]
    assert [one.words for one in done.of(Left)] == []
    assert said(old / f"{name}.py")


def test_all_of_them_together_are_left_alone(tmp_path):
    """In one folder, where a few are imported by one program."""
    old = tmp_path / "old"
    old.mkdir()
    for name, text in TODAY.items():
        (old / f"{name}.py").write_text(text)
    (old / "all.py").write_text("".join(f"import {name}\n" for name in TODAY))
    done = work(old)
    assert not any(done.is_changed(file) for file in done.project.files.values())
