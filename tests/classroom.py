"""Submissions of lesson 09a: right, wrong and hostile; and what each is due.

    python -m classroom FOLDER      # in tests/: writes them, to be graded by hand
"""

import copy
import os
import sys
from pathlib import Path

import nbformat

from helpers.files import ROOT
from tools import notebook as nb
from tools import stubs
from tools.handout import handout

[LESSON], [OTHER] = (nb.lessons(ROOT, [number]) for number in ("09a", "06b"))
NAMES = "tf_configs", "repeated_steps"
HOST = "def repeated_steps(log):\n"
RIGHT, WRONG = "solved", "not solved"


def solved(lesson: Path = LESSON) -> nbformat.NotebookNode:
    """The hand-out of a lesson with the answers of its solutions."""
    notebook = handout(lesson)
    answers = stubs.exercises(nbformat.read(nb.solution(lesson), as_version=4))
    for cell, answer in zip(stubs.exercises(notebook), answers, strict=True):
        cell.source = answer.source
    return notebook


def with_second(source: str) -> nbformat.NotebookNode:
    """The solved hand-out, with another answer to the second exercise."""
    notebook = solved()
    stubs.exercises(notebook)[1].source = source
    return notebook


def whole_lesson():
    notebook = nbformat.read(LESSON, as_version=4)
    for cell, answer in zip(stubs.exercises(notebook), stubs.exercises(solved()),
                            strict=True):
        cell.source = answer.source
    return notebook


def reordered():
    notebook = solved()
    notebook.cells.reverse()
    return notebook


def copied():
    notebook = solved()
    old = copy.deepcopy(stubs.exercises(notebook)[1])
    old.source = HOST + "    return 0"
    notebook.cells.insert(2, old)
    return notebook


def untagged():
    notebook = solved()
    for cell in notebook.cells:
        cell.metadata = {}
    return notebook


def deleted():
    notebook = solved()
    notebook.cells.remove(stubs.exercises(notebook)[1])
    return notebook


def renamed():
    notebook = solved()
    cell = stubs.exercises(notebook)[1]
    cell.source = cell.source.replace("repeated_steps", "steps_again")
    return notebook


def spread_over_cells():
    notebook = with_second(HOST + "    return helper(log)")
    helper = nbformat.v4.new_code_cell("def helper(log):\n    return 0")
    notebook.cells.insert(2, helper)
    return notebook


# Each: the notebook, or the second answer, and what that is due; the first is right.
SECOND = {
    "right": (solved, RIGHT),
    "whole lesson": (whole_lesson, RIGHT),
    "reordered": (reordered, RIGHT),
    "copied": (copied, RIGHT),
    "untagged": (untagged, RIGHT),
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
    "timed": ("%%time\n" + HOST + """\
    return sum(count > 1 for count in collections.Counter(log).values())
""", RIGHT),
    "untouched": (HOST + "    ### YOUR CODE HERE\n    pass", "not tried"),
    "wrong": (HOST + "    return len(log) - len(set(log))", WRONG),
    "deleted": (deleted, "missing"),
    "renamed": (renamed, "missing"),
    "helper in another cell": (spread_over_cells, WRONG),
    "raises": (HOST + "    return 1 / 0", WRONG),
    "raises at once": ("1 / 0\n" + HOST + "    return 0", "error"),
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
    "exits": ("import sys\n" + HOST + "    sys.exit(0)", "ended itself"),
    "exits hard, with a fake": ("""\
import os
def repeated_steps(log):
    print('{"result": "solved", "says": "", "nonce": ""}', flush=True)
    os._exit(0)
""", "ended itself"),
    "writes to every way out": ("""\
import os
def repeated_steps(log):
    for number in range(256):
        try:
            os.write(number, b'{"result": "solved", "says": "", "nonce": ""}\\n')
        except OSError:
            pass
    return 0
""", WRONG),
    "another check": ("""\
import helpers.checks.lesson_09a as checks
class Fine:
    claims = [("right", True, "")]
check_repeated_steps = checks.check_repeated_steps = lambda *a, **k: Fine()
""" + HOST + "    return 0", "tampered"),
    "another report": ("""\
from helpers.checks import report
report.Report.__bool__ = lambda self: True
report.Report.__init__ = lambda self, *a: setattr(self, 'claims', [('x', True, '')])
""" + HOST + "    return 0", "tampered"),
    "another NumPy": ("""\
import numpy as np
np.allclose = np.testing.assert_allclose = lambda *a, **k: True
""" + HOST + "    return 0", "tampered"),
    "another dumps": ("""\
import json
right = json.dumps
json.dumps = lambda verdict: right({**verdict, "result": "solved"})
""" + HOST + "    return 0", "tampered"),
    "another trial": ("""\
import tools.grade.trial as trial
trial._replaced = lambda marks: []
trial._verdict = lambda *a: {"result": "solved", "says": ""}
""" + HOST + "    return 0", "tampered"),
    "fills its folder": ("""\
import os
for number in range(4000):
    os.makedirs(f"{number % 2}/" * 4 + str(number))
while True:
    pass
""" + HOST + "    return 0", "too much on disk"),
    "nests folders": ("""\
import os
for _ in range(1500):
    os.mkdir("x")
    os.chdir("x")
""" + HOST + "    return 0", WRONG),
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
        due[name] = (RIGHT, second)
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
    others = len(stubs.exercises(handout(OTHER)))
    due[home.name] = (RIGHT,) * others + ("not tried",) * 2
    return due


def _write(path: Path, notebook) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(nbformat.writes(notebook, version=4).encode())


if __name__ == "__main__":
    for learner, results in write(Path(sys.argv[1])).items():
        print(f"{learner:30s} {', '.join(results)}")
