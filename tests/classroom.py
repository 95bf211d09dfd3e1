"""Submissions of lesson 09a: right, wrong and hostile; and what each is due."""

import copy
import os
from pathlib import Path

import nbformat

from helpers.files import ROOT
from tools import notebook as nb
from tools import stubs
from tools.handout import handout

[LESSON], [OTHER] = (nb.lessons(ROOT, [number]) for number in ("09a", "06b"))
HOST = "def repeated_steps(log):\n"
RIGHT, WRONG = "solved", "not solved"


def solved(lesson: Path = LESSON) -> nbformat.NotebookNode:
    """The hand-out of a lesson with the answers of its solutions."""
    notebook = handout(lesson)
    answers = stubs.exercise_cells(nbformat.read(nb.solution(lesson), as_version=4))
    for cell, answer in zip(stubs.exercise_cells(notebook), answers, strict=True):
        cell.source = answer.source
    return notebook


def with_second(source: str) -> nbformat.NotebookNode:
    """The hand-out with this answer to the second exercise, and none to the first."""
    notebook = solved()
    first, second = stubs.exercise_cells(notebook)
    second.source = source
    notebook.cells.remove(first)
    return notebook


def whole_lesson():
    notebook = nbformat.read(LESSON, as_version=4)
    answers = stubs.exercise_cells(solved())
    for cell, answer in zip(stubs.exercise_cells(notebook), answers, strict=True):
        cell.source = answer.source
    return notebook


def copied():
    notebook = solved()
    old = copy.deepcopy(stubs.exercise_cells(notebook)[1])
    old.source = HOST + "    return 0"
    notebook.cells.insert(2, old)
    return notebook


def renamed():
    notebook = solved()
    cell = stubs.exercise_cells(notebook)[1]
    cell.source = cell.source.replace("repeated_steps", "steps_again")
    return notebook


def spread_over_cells():
    notebook = solved()
    stubs.exercise_cells(notebook)[1].source = HOST + "    return helper(log)"
    helper = nbformat.v4.new_code_cell("def helper(log):\n    return 0")
    notebook.cells.insert(2, helper)
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
    "untouched": (HOST + "    ### YOUR CODE HERE\n    pass", "not tried"),
    "wrong": (HOST + "    return len(log) - len(set(log))", WRONG),
    "renamed": (renamed, "missing"),
    "helper in another cell": (spread_over_cells, WRONG),
    "syntax error": (HOST + "    return (", "syntax error"),
    "endless": (HOST + "    while True:\n        pass", "too long"),
    "waits and is deaf": ("""\
import signal, time
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
""" + HOST + "    while True:\n        time.sleep(3600)", "too long"),
    "gigabyte": ("""\
def repeated_steps(log):
    for _ in range(1000):
        print('x' * 10**6)
    return 0
""", "too much output"),
    "memory": ("full = [bytearray(10**10) for _ in range(10)]\n" + HOST
               + "    return 0", "error"),
    "exits hard, with a fake": ("""\
import os
def repeated_steps(log):
    print('{"result": "solved", "says": "", "nonce": ""}', flush=True)
    os._exit(0)
""", "ended itself"),
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
    "fills its folder": ("""\
import os
for number in range(4000):
    os.makedirs(f"{number % 2}/" * 4 + str(number))
while True:
    pass
""" + HOST + "    return 0", "too much on disk"),
    "forks without end": ("""\
import os
def repeated_steps(log):
    while True:
        try:
            os.fork()
        except OSError:
            pass
""", "too many processes"),
    "leaves a daemon": ("""\
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(3600)
    os._exit(0)
""" + HOST + "    return 0", WRONG),
    "kills its parent": ("""\
import os, signal
def repeated_steps(log):
    for victim in (os.getppid(), 0):
        try:
            os.kill(victim, signal.SIGKILL)
        except OSError:
            pass
    return 0
""", "ended itself"),
    "reads the right answer": ("""\
import json
notebook = json.load(open({answer!r}))
for cell in notebook['cells']:
    if 'def repeated_steps' in ''.join(cell['source']):
        exec(''.join(cell['source']))
def unused(): pass
repeated_steps = repeated_steps
""", "error"),
}


def write(folder: Path) -> dict[str, tuple[str, ...]]:
    """Writes the submissions; returns what the exercises of each are due."""
    due = {}
    answer = folder / "right" / "home work (2).ipynb"
    for number, (name, (made, second)) in enumerate(SECOND.items()):
        if isinstance(made, str):
            notebook = with_second(made.replace("{answer!r}", repr(str(answer))))
        else:
            notebook = made()
        file = "home work (2).ipynb" if number % 2 == 0 else LESSON.name
        _write(folder / name / file, notebook)
        due[name] = ("missing" if isinstance(made, str) else RIGHT, second)
    name = "<script>alert(1)</script>"
    unreadable = folder / "=half a notebook" / LESSON.name
    _write(unreadable, solved())
    unreadable.write_bytes(unreadable.read_bytes()[:2000])
    due[unreadable.parent.name] = ("not a notebook",)
    # Two of one lesson, the newer one untouched, and a second lesson beside it.
    home = folder / name.replace("/", "∕")
    for age, file, notebook in ((60, "old.ipynb", solved()),
                                (0, "new.ipynb", handout(LESSON)),
                                (0, "vgg.ipynb", solved(OTHER))):
        _write(home / file, notebook)
        when = (home / file).stat().st_mtime - age
        os.utime(home / file, (when, when))
    others = len(stubs.exercise_cells(handout(OTHER)))
    due[home.name] = (RIGHT,) * others + ("not tried",) * 2
    return due


def _write(path: Path, notebook) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(nbformat.writes(notebook, version=4).encode())
