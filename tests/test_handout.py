"""Hand-outs: the exercises alone, no answer in them, and they run."""

import nbformat
import pytest

from helpers.files import ROOT
from tools import exercises as ex
from tools import handout, stubs
from tools import notebook as nb
from tools.lesson import EXERCISE, Lesson, exercise_cells

LESSONS = nb.lessons(ROOT)


@pytest.mark.parametrize("lesson", LESSONS, ids=nb.number)
def test_a_handout_has_every_exercise_with_its_check_and_no_answer(lesson):
    notebook = handout.handout(Lesson(lesson))
    solutions = nbformat.read(nb.solution(lesson), as_version=4)
    answers = exercise_cells(solutions)
    assert [c.source for c in exercise_cells(notebook)] == [
        stubs.stub(answer.source) for answer in answers]
    text = "\n".join(cell.source for cell in notebook.cells)
    exercises = Lesson(lesson).exercises
    assert EXERCISE.findall(text) == [e.title for e in exercises]
    for exercise in exercises:
        assert f"{exercise.check}({exercise.name})" in text
    assert "SOLUTION" not in text
    assert not [c for c in notebook.cells if c.get("outputs")]
    headings = [line for c in notebook.cells if c.cell_type == "markdown"
                for line in c.source.splitlines() if line.startswith("## ")]
    assert len(headings) == len(exercises)


def test_answers_that_are_there_are_not_overwritten(tmp_path, capsys):
    assert handout.main([str(tmp_path), "01a"]) == 0
    [path] = tmp_path.iterdir()
    path.write_text("my answers")
    with pytest.raises(SystemExit):
        handout.main([str(tmp_path)])
    assert "may hold answers" in capsys.readouterr().err
    assert path.read_text() == "my answers" and len(list(tmp_path.iterdir())) == 1


def test_what_a_lesson_taught_follows_an_answer():
    statements = ["import numpy as np", "WIDTH = 3",
                  "def one(x):\n    return np.sum(x)",
                  "def two(x):\n    return one(x) * WIDTH", "import os"]
    assert ex.needed(statements, "def f(x):\n    return two(x)") == statements[:4]
    assert ex.needed(statements, "def f(x):\n    return x") == []
