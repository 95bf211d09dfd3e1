"""`lesson.begin` leaves Python's collector at work, and hides nothing of the user's."""

import os
import subprocess
import sys

import pytest

from helpers import lesson
from tools import pythons

PROGRAM = """
import gc
from helpers import lesson
from tools import pythons
lesson.begin("tests")
assert gc.isenabled()
frozen = gc.get_freeze_count()
assert frozen > 100_000, frozen
mine = []
mine.append(mine)
lesson.begin("tests")  # a cell that is run again
assert gc.isenabled() and gc.get_freeze_count() <= frozen
assert any(one is mine for one in gc.get_objects())
"""


def test_the_collector_works_again_and_a_second_call_hides_nothing():
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)


def test_a_program_of_a_lesson_prints_no_warnings_and_one_may_ask_for_them(monkeypatch):
    monkeypatch.delenv("PYTHONWARNINGS", raising=False)
    warns = [sys.executable, "-c", "import warnings; warnings.warn('old')"]
    assert b"old" in subprocess.run(warns, capture_output=True, check=True).stderr
    lesson.begin("tests")
    assert subprocess.run(warns, capture_output=True, check=True).stderr == b""
    monkeypatch.setenv("PYTHONWARNINGS", "default")
    lesson.begin("tests")
    assert b"old" in subprocess.run(warns, capture_output=True, check=True).stderr


def test_a_program_of_a_lesson_prints_no_colours(monkeypatch):
    """Under a Python that has colours: a kernel asks for them."""
    python = pythons.others().get((3, 13))
    if not python:
        pytest.skip("no Python 3.13 here, or it runs the tests")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("PYTHON_COLORS", raising=False)
    crash = [python, "-c", "1/0"]
    assert b"\x1b" in subprocess.run(crash, capture_output=True, check=False).stderr
    lesson.begin("tests")
    assert "FORCE_COLOR" not in os.environ
    assert b"\x1b" not in subprocess.run(crash, capture_output=True, check=False).stderr
