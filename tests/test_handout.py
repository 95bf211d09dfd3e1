"""Hand-outs: the exercises alone, no answer in them, and they run."""

import os

import nbformat
import pytest

from helpers.files import ROOT
from tools import exercises as ex
from tools import handout, stubs
from tools import notebook as nb
from tools.cells import EXERCISE, Lesson, exercise_cells

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


@pytest.mark.parametrize("lesson", LESSONS, ids=nb.number)
def test_an_assignment_has_the_marks_that_nbgrader_reads(lesson):
    notebook = handout.assignment(Lesson(lesson))
    nbformat.validate(notebook)
    marks = [cell.metadata.nbgrader for cell in notebook.cells
             if "nbgrader" in cell.metadata]
    exercises = Lesson(lesson).exercises
    assert [m.grade_id for m in marks if m.solution] == [e.name for e in exercises]
    assert [m.grade_id for m in marks if m.grade] == [e.check for e in exercises]
    assert [m.points for m in marks if m.grade] == [1] * len(exercises)
    assert all(m.locked == m.grade != m.solution for m in marks)
    assert [cell.source for cell in exercise_cells(notebook)] == [
        cell.source for cell in exercise_cells(Lesson(lesson).solved.notebook)]


def test_a_lesson_is_not_taken_for_the_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        handout.main(["03"])
    assert "handout FOLDER 03" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())
    assert handout.main(["03", "01a"]) == 0
    assert len(list(tmp_path.glob("03/01a_*.ipynb"))) == 1


def test_answers_that_are_there_are_not_overwritten(tmp_path, capsys):
    assert handout.main([str(tmp_path), "01a"]) == 0
    [path] = tmp_path.iterdir()
    path.write_text("my answers")
    with pytest.raises(SystemExit):
        handout.main([str(tmp_path)])
    assert "may contain answers" in capsys.readouterr().err
    assert path.read_text() == "my answers" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
@pytest.mark.parametrize("more", [[], ["--nbgrader"]])
def test_a_full_disk_leaves_no_part_of_a_notebook(more, tmp_path, capsys):
    resource = pytest.importorskip("resource")
    known = resource.getrlimit(resource.RLIMIT_FSIZE)
    folder = tmp_path / "out"
    for size in (0, 1, 1000):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, known[1]))
        try:
            with pytest.raises(SystemExit):
                handout.main([str(folder), "01a", *more])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, known)
        assert not [path for path in folder.rglob("*") if path.is_file()]
        assert "No partial file was kept" in capsys.readouterr().err
    assert handout.main([str(folder), "01a", *more]) == 0


def test_assignments_lie_where_nbgrader_looks(tmp_path, capsys):
    assert handout.main([str(tmp_path), "1a", "--nbgrader"]) == 0
    name = "01a_variable_scope"
    assert f"generate_assignment {name}" in capsys.readouterr().out
    assert (tmp_path / "source" / name / f"{name}.ipynb").exists()
    settings = (tmp_path / "nbgrader_config.py").read_text()
    assert stubs.STUB in settings and compile(settings, "settings", "exec")
    with pytest.raises(SystemExit):
        handout.main([str(tmp_path), "1a", "--nbgrader"])


def test_what_a_lesson_taught_follows_an_answer():
    statements = ["import numpy as np", "WIDTH = 3",
                  "def one(x):\n    return np.sum(x)",
                  "def two(x):\n    return one(x) * WIDTH", "import os"]
    assert ex.needed(statements, "def f(x):\n    return two(x)") == statements[:4]
    assert ex.needed(statements, "def f(x):\n    return x") == []
