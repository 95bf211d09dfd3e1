"""nbgrader takes the hand-outs: `course.py test nbgrader`, from the network.

It has an environment of its own, on top of the course's: what it installs would open
in every JupyterLab of the course.
"""

import csv
import os
import shutil
import subprocess
import sys
import sysconfig

import nbformat
import pytest

from helpers.files import ROOT
from tools import handout
from tools import notebook as nb
from tools.cells import Lesson, exercise_cells
from tools.stubs import stub

PIN = "nbgrader==0.9.6"
LESSONS = [path.stem for path in nb.lessons(ROOT)]
CIRCLE = "01a_variable_scope"  # goes all the way round


@pytest.fixture(scope="module")
def nbgrader(tmp_path_factory):
    """What runs nbgrader, in a course folder that `handout --nbgrader` wrote."""
    folder = tmp_path_factory.mktemp("nbgrader")
    subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True)
    environment = sysconfig.get_paths("venv", {"base": str(folder / "env"),
                                               "platbase": str(folder / "env")})
    with open(f"{environment['purelib']}/course.pth", "w") as link:
        link.write(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})")
    scripts = environment["scripts"]
    subprocess.run([f"{scripts}/python", "-m", "pip", "install", "-q", PIN], check=True)
    environ = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
               "JUPYTER_PATH": f"{sys.prefix}/share/jupyter"}
    assert handout.main([str(folder / "class"), "--nbgrader"]) == 0

    def run(*arguments):
        """Returns what nbgrader says."""
        done = subprocess.run(
            [f"{scripts}/nbgrader", *arguments], cwd=folder / "class", env=environ,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        assert done.returncode == 0, done.stdout
        return done.stdout

    run.folder = folder / "class"
    return run


@pytest.mark.parametrize("name", LESSONS)
def test_it_accepts_the_answers_and_makes_the_stubs_of_the_course(nbgrader, name):
    said = nbgrader("validate", f"source/{name}/{name}.ipynb")
    assert "Success! Your notebook passes all the tests." in said, said
    assert "partial credit" not in said, said
    nbgrader("generate_assignment", name)
    released = nbgrader.folder / "release" / name / f"{name}.ipynb"
    lesson = Lesson(ROOT / "notebooks" / f"{name}.ipynb")
    assert [cell.source for cell in exercise_cells(nbformat.read(released, 4))] == [
        stub(cell.source) for cell in exercise_cells(lesson.solved.notebook)]


def test_it_refuses_a_stub_and_grades_one_right_and_one_wrong(nbgrader):
    if not (nbgrader.folder / "release" / CIRCLE).exists():
        nbgrader("generate_assignment", CIRCLE)
    released = f"release/{CIRCLE}/{CIRCLE}.ipynb"
    said = nbgrader("validate", released)
    assert "FAILED ON 1 CELL" in said and "not tried yet" in said, said
    for learner, kept in ("ada", "source"), ("bob", "release"):
        shutil.copytree(nbgrader.folder / kept / CIRCLE,
                        nbgrader.folder / "submitted" / learner / CIRCLE)
    nbgrader("autograde", CIRCLE)
    nbgrader("generate_feedback", CIRCLE)
    nbgrader("export")
    with open(nbgrader.folder / "grades.csv", newline="") as table:
        scores = {row["student_id"]: float(row["raw_score"])
                  for row in csv.DictReader(table) if row["assignment"] == CIRCLE}
    assert scores == {"ada": 1, "bob": 0}
