"""What `course.py run` says of a lesson that fails."""

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from tqdm import tqdm

from helpers.errors import DataError
from helpers.files import ROOT
from tools import command, copies, run_lessons
from tools import notebook as nb


@pytest.mark.parametrize("source, words", [
    ("raise ValueError('first\\nsecond')", "ValueError: first"),
    ("assert 1 + 1 == 3, 'no sum'", "AssertionError: no sum"),
    ("import os; os._exit(1)", "The kernel died, possibly out of memory."),
])
def test_the_cell_and_the_error_are_named_on_one_line(tmp_path, source, words):
    path = tmp_path / "01x_broken.ipynb"
    cells = [new_code_cell(text) for text in ("1 + 1", source, "2 + 2")]
    nbformat.write(new_notebook(cells=cells), path)
    with tqdm(disable=True) as bar, pytest.raises(RuntimeError) as caught:
        run_lessons.execute(path, bar, {})
    assert str(caught.value) == f"{path.name}, code cell 2 of 3: {words}"


@pytest.mark.parametrize("content", [
    b"", b"{", b"[]", b"null", b"\xff", b'{"cells": 7}', b'{"cells": [7]}',
    b'{"nbformat": 4, "nbformat_minor": 5, "metadata": 7, "cells": [{}]}',
    b'{"nbformat": [], "cells": []}', b"[" * 100_000])
def test_a_damaged_lesson_is_one_line(tmp_path, content):
    path = tmp_path / "01x_broken.ipynb"
    path.write_bytes(content)
    assert run_lessons._count(path) == 0
    with tqdm(disable=True) as bar, pytest.raises(RuntimeError) as caught:
        run_lessons.execute(path, bar, {})
    with pytest.raises(DataError):  # which `lab` says on one line
        copies.copied(path)
    said = str(caught.value)
    assert said.startswith(f"{path} is not a valid notebook") and "\n" not in said


@pytest.mark.parametrize("word", [
    "3a", "03A", "03a_queues_and_coordinators", "03a_queues_and_coordinators.ipynb",
    "notebooks/03a_queues_and_coordinators.ipynb"])
def test_a_lesson_is_known_by_its_number_and_by_its_file(word):
    assert [nb.number(path) for path in nb.lessons(ROOT, [word])] == ["03a"]


@pytest.mark.parametrize("word", ["3a,3b", "my/03a_queues_and_coordinators.ipynb"])
def test_what_is_no_lesson_is_refused(word):
    with pytest.raises(ValueError, match=f"Unknown lesson {word}"):
        nb.lessons(ROOT, [word])


def test_a_run_says_that_your_files_are_unchanged(monkeypatch, capsys):
    monkeypatch.setattr(run_lessons, "execute", lambda path, *_, **__: nb.read(path))
    [lesson, *_] = nb.lessons(ROOT)
    before = lesson.read_bytes()
    assert run_lessons.run([lesson], save=False) == []
    assert "Your files are unchanged." in capsys.readouterr().out
    assert lesson.read_bytes() == before


@pytest.mark.parametrize("error, line", [
    (DataError("a\x1b.rec: is damaged"), r"course.py: a\x1b.rec: is damaged"),
    (FileNotFoundError(2, "No such file", "a\nb"), r"course.py: 'a\nb': No such file"),
])
def test_an_error_of_a_file_ends_any_command_on_one_line(error, line, monkeypatch):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(command, "take_output", lambda: None)
    monkeypatch.setattr(command.runpy, "run_module", fail)
    monkeypatch.setattr(command.sys, "argv", ["command", "tools.progress"])
    with pytest.raises(SystemExit, match=re.escape(line)):
        command.main()
