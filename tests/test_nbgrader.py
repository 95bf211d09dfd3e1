"""A class hands in through nbgrader: from the assignment to feedback and points.

nbgrader switches itself on in every JupyterLab of its environment. So it gets one of
its own on top of the course's, made from `requirements-nbgrader.txt`, which needs the
network.
"""

import csv
import getpass
import html
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import nbformat
import pytest

from helpers.checks.lesson_01a import SHARED
from helpers.files import ROOT
from tools import handout
from tools import notebook as nb
from tools.cells import Lesson, exercise_cells
from tools.stubs import stub

LESSONS = [path.stem for path in nb.lessons(ROOT)]
CIRCLE = "01a_variable_scope"  # goes all the way round
NO_NETWORK = re.compile("after connection broken by|Network is unreachable")
HEAD = "def siamese(left, right, units):\n"
PARTLY = """    with tf1.variable_scope("siamese", reuse=tf1.AUTO_REUSE):
        a, b = (layers.fully_connected_layer(x, units, name="embed")
                for x in (left, right))
    return tf.reduce_sum(tf.square(a - b), -1)"""
# What a learner does to the exercise's cell and to that of its check.
SUBMISSIONS = {
    "right": (None, None),
    "partly": (HEAD + PARTLY, "print('All of it holds')"),
    "empty": (None, None),
    "crashing": (HEAD + "    import os\n    os._exit(1)", None),
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.version_info < (3, 11),
                       reason="nbgrader 0.9.6 needs Python 3.11 or newer"),
    pytest.mark.skipif(os.name == "nt", reason="the round has not been tried here"),
]


@pytest.fixture(scope="module")
def nbgrader(tmp_path_factory):
    """Runs nbgrader in the folder of a class; returns what it says."""
    folder = tmp_path_factory.mktemp("nbgrader")
    base = str(folder / "env")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", base], check=True)
    paths = sysconfig.get_paths("venv", {"base": base, "platbase": base})
    Path(paths["purelib"], "course.pth").write_text(
        f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    pip = [sys.executable, "-m", "pip", "--python", f"{paths['scripts']}/python"]
    done = subprocess.run(
        [*pip, "install", "-q", "--no-deps", "--retries", "1", "-r",
         ROOT / "requirements-nbgrader.txt"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode and NO_NETWORK.search(done.stdout):
        pytest.skip("nbgrader's packages cannot be fetched: there is no network")
    assert done.returncode == 0, done.stdout
    environment = {  # nbgrader starts `alembic` by its name
        **os.environ, "PATH": os.pathsep.join([paths["scripts"], os.environ["PATH"]]),
        "JUPYTER_PATH": f"{sys.prefix}/share/jupyter"}

    def run(*arguments, code=0, where="class"):
        done = subprocess.run(
            [f"{paths['scripts']}/nbgrader", *arguments], cwd=folder / where,
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, check=False)
        assert done.returncode == code, done.stdout
        return done.stdout

    run.folder = folder / "class"
    return run


def assignment(nbgrader, name):
    """Returns the notebook with the answers, which `handout` writes."""
    path = nbgrader.folder / "source" / name / f"{name}.ipynb"
    if not path.exists():
        number = name.split("_")[0]
        assert handout.main([str(nbgrader.folder), number, "--nbgrader"]) == 0
    return path


def released(nbgrader, name):
    """Returns the notebook to hand out, whose exercises are the lesson's stubs."""
    assignment(nbgrader, name)
    path = nbgrader.folder / "release" / name / f"{name}.ipynb"
    if not path.exists():
        nbgrader("generate_assignment", name)
    solved = Lesson(ROOT / "notebooks" / f"{name}.ipynb").solved.notebook
    assert [cell.source for cell in exercise_cells(nbformat.read(path, 4))] == [
        stub(cell.source) for cell in exercise_cells(solved)]
    return path


def hand_in(nbgrader, learner):
    """Stores the notebook of a learner where nbgrader looks for it."""
    kept = "source" if learner == "right" else "release"
    notebook = nbformat.read(nbgrader.folder / kept / CIRCLE / f"{CIRCLE}.ipynb", 4)
    marked = {cell.metadata.nbgrader.grade_id: cell for cell in notebook.cells
              if "nbgrader" in cell.metadata}
    for name, source in zip(("siamese", "check_siamese"), SUBMISSIONS[learner],
                            strict=True):
        marked[name].source = source or marked[name].source
    path = nbgrader.folder / "submitted" / learner / CIRCLE / f"{CIRCLE}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)


def test_the_guide_shows_the_round_that_is_tested():
    text = (ROOT / "docs" / "guide.md").read_text("utf-8")
    blocks = "".join(re.findall(r"^```\n(.+?)^```", text, re.M | re.S))
    shown = {*re.findall(r"^nbgrader (\w+)", blocks, re.M),
             *re.findall(r"`nbgrader (\w+)", text)}
    run = Path(__file__).read_text("utf-8")
    assert len(shown) >= 7 and all(f'"{command}"' in run for command in shown), shown


def test_four_submissions_go_all_the_way_round(nbgrader):
    released(nbgrader, CIRCLE)
    for learner in SUBMISSIONS:
        hand_in(nbgrader, learner)
    said = nbgrader("autograde", CIRCLE, code=1)  # one of them ends its kernel
    assert re.findall("for student '(.+)'", said) == ["crashing"]
    nbgrader("generate_feedback", CIRCLE)
    nbgrader("export")
    with open(nbgrader.folder / "grades.csv", newline="") as table:
        scores = {row["student_id"]: float(row["raw_score"])
                  for row in csv.DictReader(table)}
    assert scores == {"right": 1, "partly": 0, "empty": 0, "crashing": 0}
    pages = {path.parts[-3]: html.unescape(path.read_text("utf-8"))
             for path in nbgrader.folder.glob("feedback/*/*/*.html")}
    assert pages.keys() == scores.keys() - {"crashing"}
    assert "All of it holds" in pages["right"] and "not tried yet" in pages["empty"]
    assert f"[✗] {SHARED}" in pages["partly"]


@pytest.mark.weekly
@pytest.mark.parametrize("name", LESSONS)
def test_it_accepts_the_answers_and_makes_the_stubs_of_each_lesson(nbgrader, name):
    said = nbgrader("validate", str(assignment(nbgrader, name)))
    assert "Success! Your notebook passes all the tests." in said, said
    assert "partial credit" not in said, said
    released(nbgrader, name)


@pytest.mark.weekly
def test_an_assignment_goes_out_and_comes_back_through_the_exchange(nbgrader):
    """A hub does so; its learners press buttons for the learner's commands here."""
    path, folder = released(nbgrader, CIRCLE), nbgrader.folder.parent
    for name in ("exchange", "learner"):
        (folder / name).mkdir()
        (folder / name).chmod(0o777)  # nbgrader asks for it
    exchange = f"--Exchange.root={folder / 'exchange'}"
    course = ("--course", "tensorflow-machinery", exchange)
    nbgrader("release_assignment", CIRCLE, exchange)
    nbgrader("fetch_assignment", CIRCLE, *course, where="learner")
    nbgrader("submit", CIRCLE, *course, where="learner")
    nbgrader("collect", CIRCLE, exchange)
    [came] = nbgrader.folder.glob(f"submitted/{getpass.getuser()}/*/*.ipynb")
    assert came.read_bytes() == path.read_bytes()
    for command in ("autograde", "generate_feedback"):
        nbgrader(command, CIRCLE, f"--student={getpass.getuser()}")
    nbgrader("release_feedback", CIRCLE, exchange)
    nbgrader("fetch_feedback", CIRCLE, *course, where="learner")
    [page] = (folder / "learner").rglob("*.html")
    assert "not tried yet" in page.read_text("utf-8")
