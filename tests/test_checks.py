"""Every check by one table: what is right passes, what is wrong is refused.

`answers/NNx.txt` has answers to a sitting's exercises. `= name` begins an exercise, `+`
a right answer, `-` a wrong one: the solution with edits (`old => new`), or a body in
place of its own. The solutions stand in notebooks, whose cells `course.py test` runs.
"""

import functools
import importlib
import re
import sys
from pathlib import Path
from unittest import mock

import nbformat
import pytest
from tqdm import tqdm

from helpers.files import ROOT
from tools import exercises as ex
from tools import notebook as nb
from tools import stubs
from tools.cells import BEGIN, END, Lesson, exercise_cells

BLOCK = re.compile(rf"^ *{BEGIN}\n(.*?\n) *{END}", re.M | re.S)
tqdm.monitor_interval = 0  # no thread of its own
pytestmark = pytest.mark.usefixtures("no_thread_left")


@pytest.fixture(autouse=True)
def recursion_limit_of_python():
    """Gives each check the limit of a learner's Python: `port` raises it for good."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(before)


def rows():
    """Yields exercise, mark, title, edits and body of each answer."""
    for path in sorted((Path(__file__).parent / "answers").glob("*.txt")):
        for line in path.read_text("utf-8").splitlines():
            if line.startswith("= "):
                exercise = f"{path.stem} {line[2:]}"
            elif line[:2] in ("+ ", "- "):
                title, _, edit = line[2:].partition(": ")
                edits, body = [edit] * bool(edit), []
                yield exercise, line[0], title, edits, body
            elif line.startswith("    => "):
                edits[-1] += line[3:]
            elif " =>" in line:
                edits.append(line[4:])
            else:
                body.append(line)


ANSWERS = list(rows())
EXERCISES = list(dict.fromkeys(row[0] for row in ANSWERS))
each_exercise = pytest.mark.parametrize("key", EXERCISES)


@functools.cache
class Exercise:
    """An exercise of a lesson, its check, and what an answer to it may build on."""

    def __init__(self, key):
        [self.lesson] = nb.lessons(ROOT, [key.split()[0]])
        lesson = Lesson(self.lesson)
        [(task, cell)] = [pair for pair in zip(
            lesson.exercises, exercise_cells(lesson.solved.notebook), strict=True)
            if pair[0].key == key]
        self.check = getattr(importlib.import_module(task.module), task.check)
        self.name, self.solution = task.name, cell.source
        self.taught = ex.taught(lesson)
        self.place = {"__name__": "answer"}
        for source in task.before:
            exec(source, self.place)

    def answer(self, source):
        """Returns what a source defines, with what the lesson taught at hand."""
        place = dict(self.place)
        for taught in ex.needed(self.taught, source):
            exec(taught, place)
        exec(source, place)
        return place[self.name]

    def changed(self, edits, body):
        """Returns the solution with another body, and with its edits."""
        text = self.solution
        if body:
            text = BLOCK.sub(lambda _: "\n".join(body), text)
        for edit in edits:
            old, new = edit.replace(r"\n", "\n").split(" =>")
            assert old in text, f"there is no {old!r}"
            text = text.replace(old, new[1:])
        return text


def test_every_exercise_is_in_the_table():
    keys = [task.key for path in nb.lessons(ROOT) for task in Lesson(path).exercises]
    assert keys == EXERCISES


@each_exercise
def test_the_stub_is_not_tried(key):
    exercise = Exercise(key)
    stub = exercise.answer(stubs.stub(exercise.solution))
    assert "not tried yet" in repr(exercise.check(stub))


@pytest.mark.parametrize(("key", "mark", "title", "edits", "body"), ANSWERS,
                         ids=[f"{row[0]}: {row[2]}" for row in ANSWERS])
def test_right_is_accepted_and_wrong_is_refused(key, mark, title, edits, body):
    exercise = Exercise(key)
    report = exercise.check(exercise.answer(exercise.changed(edits, body)))
    assert bool(report) == (mark == "+") and not report.broken, report
    assert len({text for text, _, _ in report.claims}) <= 6


@each_exercise
def test_what_equals_anything_is_refused(key):
    exercise = Exercise(key)
    report = exercise.check(lambda *_, **__: mock.ANY)
    assert not report and not report.broken, report


@each_exercise
def test_the_hints_are_lines_of_an_accepted_answer(key):
    """What a hint quotes stands in the answer that follows it, or in the lesson.

    The answer is the solution, or the right one of the table called "by the hints".
    """
    exercise = Exercise(key)
    hinted = [body for one, _, title, _, body in ANSWERS
              if one == key and title == "by the hints"]
    answer = exercise.changed([], hinted[0] if hinted else [])
    cells = nbformat.read(exercise.lesson, as_version=4).cells
    lesson = " ".join(cell.source for cell in cells)
    report = exercise.check(exercise.answer(stubs.stub(exercise.solution)))
    hints = report.steps
    quoted = re.findall("`([^`]+)`", " ".join([*report.about.values(), *hints]))
    answer, lesson, *pieces = ("".join(text.split())
                               for text in (answer, lesson, *quoted))
    assert not [piece for piece in pieces if piece not in answer + lesson]
    assert max(len(piece) for piece in pieces if piece in answer) > 12
    assert " left" in hints[-1]


GENERAL = {"runs without an error", "changes nothing else"}


@each_exercise
def test_a_hint_about_a_claim_names_a_claim_of_its_check(key):
    exercise = Exercise(key)
    report = exercise.check(exercise.answer(exercise.solution))
    assert report.about.keys() <= {text for text, _, _ in report.claims} | GENERAL
