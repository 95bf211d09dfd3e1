"""Programs of TensorFlow 2 and Python 3 are left alone: not one byte is another."""

import contextlib
import io
import re
import runpy
from pathlib import Path

import pytest
from ported import copies, written

from tf1tools.port.outcome.work import work
from tf1tools.port.rule import Left

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
    done, new = copies({f"{name}.py": TODAY[name]}, tmp_path)
    assert new[f"{name}.py"] == TODAY[name]
    assert [one.words for one in done.of(Left)] == []
    assert said(tmp_path / "old" / f"{name}.py")


@pytest.mark.parametrize("module, names", [
    ("tensorflow", "ones"), ("tensorflow.keras.layers", "Dense"),
    ("keras.layers", "Dense"), ("tensorflow.nn", "relu"), ("numpy", "ones")])
def test_a_star_that_another_file_uses_is_left_alone(module, names, tmp_path):
    files = {"parts.py": f"from {module} import *\n", "main.py": (
        "import tensorflow as tf\nfrom parts import *\n"
        f"f = tf.function({names})\n")}
    done, new = copies(files, tmp_path)
    assert new == files and [one.words for one in done.of(Left)] == []


def test_all_of_them_together_are_left_alone(tmp_path):
    """In one folder, where a few are imported by one program."""
    written(tmp_path, {f"{name}.py": text for name, text in TODAY.items()})
    written(tmp_path, {"all.py": "".join(f"import {name}\n" for name in TODAY)})
    done = work(tmp_path)
    assert not any(one.is_changed for one in done.outcomes.values())
