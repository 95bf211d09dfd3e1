"""Submissions of lesson 09a: right, wrong and odd; and what each is due."""

import copy
import os
from pathlib import Path

import nbformat

from helpers.files import ROOT
from tools import notebook as nb
from tools.handout import handout
from tools.lesson import Lesson, exercise_cells

[LESSON], [OTHER] = (nb.lessons(ROOT, [number]) for number in ("09a", "06b"))
HOST = "def repeated_steps(log):\n"
RIGHT, WRONG = "solved", "not solved"


def solved(lesson: Path = LESSON, notebook=None) -> nbformat.NotebookNode:
    """The hand-out of a lesson, or another notebook, with its solutions' answers."""
    notebook = notebook or handout(Lesson(lesson))
    answers = exercise_cells(nbformat.read(nb.solution(lesson), as_version=4))
    for cell, answer in zip(exercise_cells(notebook), answers, strict=True):
        cell.source = answer.source
    return notebook


def with_second(source: str) -> nbformat.NotebookNode:
    """The hand-out with this answer to the second exercise, and none to the first."""
    notebook = solved()
    first, second = exercise_cells(notebook)
    second.source = source
    notebook.cells.remove(first)
    return notebook


def whole_lesson():
    return solved(LESSON, nbformat.read(LESSON, as_version=4))


def copied():
    notebook = solved()
    old = copy.deepcopy(exercise_cells(notebook)[1])
    old.source = HOST + "    return 0"
    notebook.cells.insert(2, old)
    return notebook


def helped():
    """The second answer builds on a cell of the learner, which builds on the lesson."""
    notebook = solved()
    second = exercise_cells(notebook)[1]
    helper = copy.deepcopy(second)
    helper.source = ("%time pass\nLIMIT = 1\nopen('missing')\n"
                     "def repeats(log):\n    times = collections.Counter(log)\n"
                     "    return sum(n > LIMIT for n in times.values())")
    notebook.cells.insert(notebook.cells.index(second), helper)
    second.source = HOST + "    return repeats(log)"
    return notebook


# Each: the notebook, whose first answer is right, or the second answer alone; and what
# the second is due.
SECOND = {
    "right": (solved, RIGHT),
    "whole lesson": (whole_lesson, RIGHT),
    "copied": (copied, RIGHT),
    "with the lesson's imports": (HOST + """\
    import numpy as np
    seen = collections.Counter(log)
    return int(np.sum([count > 1 for count in seen.values()]))
""", RIGHT),
    "as in a notebook": ("""\
import asyncio
%time started = 1
!echo a line of the shell
display(started)
await asyncio.sleep(0)
""" + HOST + """\
    display(log)
    return sum(count > 1 for count in collections.Counter(log).values())
""", RIGHT),
    "with a helper of its own": (helped, RIGHT),
    "without its helper": (HOST + "    return repeats(log)", WRONG),
    "untouched": (HOST + "    ### YOUR CODE HERE\n    pass", "not tried"),
    "wrong": (HOST + "    return len(log) - len(set(log))", WRONG),
    "syntax error": (HOST + "    return (", "syntax error"),
    "endless": (HOST + "    while True:\n        pass", "too long"),
    "waits and is deaf": ("""\
import signal, time
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
""" + HOST + "    while True:\n        time.sleep(3600)", "too long"),
    "memory": ("full = [bytearray(10**10) for _ in range(10)]\n" + HOST
               + "    return 0", "error"),
    "exits hard, with a fake": ("""\
import os
def repeated_steps(log):
    print('{"result": "solved", "says": "", "nonce": ""}', flush=True)
    os._exit(0)
""", "ended itself"),
    "writes where its verdict is written": ("""\
import fcntl, os, stat
for number in range(3, 200):
    try:
        if stat.S_ISFIFO(os.fstat(number).st_mode) and (
                fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY):
            os.write(number, bytes([0, 0, 255, 255]))
    except OSError:
        pass
""" + HOST + """\
    return sum(count > 1 for count in collections.Counter(log).values())
""", "tampered"),
    "another check": ("""\
import helpers.checks.lesson_09a as checks
class Fine:
    claims = [("right", True, "")]
check_repeated_steps = checks.check_repeated_steps = lambda *a, **k: Fine()
""" + HOST + "    return 0", "tampered"),
    "another NumPy": ("""\
import numpy as np
np.allclose = np.testing.assert_allclose = lambda *a, **k: True
""" + HOST + "    return 0", "tampered"),
    "fills the disk": ("""\
with open("full", "wb") as file:
    while True:
        file.write(bytes(10**6))
""" + HOST + "    return 0", "too much on disk"),
}


def write(folder: Path) -> dict[str, tuple[str, ...]]:
    """Writes the submissions; returns what the exercises of each are due."""
    due = {}
    for number, (name, (made, second)) in enumerate(SECOND.items()):
        notebook = with_second(made) if isinstance(made, str) else made()
        file = "home work (2).ipynb" if number % 2 == 0 else LESSON.name
        _write(folder / name / file, notebook)
        due[name] = ("missing" if isinstance(made, str) else RIGHT, second)
    unreadable = folder / "=half a notebook" / LESSON.name
    _write(unreadable, solved())
    unreadable.write_bytes(unreadable.read_bytes()[:2000])
    due[unreadable.parent.name] = ("not a notebook",)
    # Two of one lesson, the newer one untouched, and a second lesson beside it.
    home = folder / "two lessons"
    for age, file, notebook in ((60, "old.ipynb", solved()),
                                (0, "new.ipynb", handout(Lesson(LESSON))),
                                (0, "vgg.ipynb", solved(OTHER))):
        _write(home / file, notebook)
        when = (home / file).stat().st_mtime - age
        os.utime(home / file, (when, when))
    others = len(exercise_cells(handout(Lesson(OTHER))))
    due[home.name] = (RIGHT,) * others + ("not tried",) * 2
    return due


def _write(path: Path, notebook) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(nbformat.writes(notebook, version=4).encode())
