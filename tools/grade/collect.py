"""Takes from what was handed in the exercise cells, and nothing else. Runs nothing."""

import itertools
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tools.exercises import Cell, Exercise, read_cells

LARGEST_NOTEBOOK = 20 * 10**6  # bytes; prints of a gigabyte are stored in it as well
LARGEST_ANSWER = 100_000  # characters
MOST_CELLS = 2_000
MOST_NOTEBOOKS, DEEPEST = 100, 8  # of one learner; folders inside one another
_DEFINED = re.compile(r"^(?:(?:async +)?def|class) +(\w+)|^(\w+) *=(?!=)", re.M)


class Answer(NamedTuple):
    """What a learner handed in for one exercise.

    Attributes:
      learner: the name of the folder or of the file.
      exercise: what it answers.
      source: of the cell; "" where there is none to run.
      result: why it cannot be run; "" where it can.
      note: what was odd about it, in words.
      elsewhere: names that other cells of the notebook define.
    """

    learner: str
    exercise: Exercise
    source: str
    result: str = ""
    note: str = ""
    elsewhere: tuple[str, ...] = ()


def collect(folder: Path, exercises: list[Exercise]) -> list[Answer]:
    """Returns an answer per learner and exercise of each lesson that a learner tried.

    Args:
      folder: a folder or a notebook per learner. The names of the notebooks do not
        matter: a notebook is of the lesson whose functions it defines.
      exercises: of all lessons that count.
    """
    return [answer for learner, paths in _learners(folder).items()
            for answer in _of_learner(learner, paths, exercises)]


def _of_learner(learner: str, paths: list[Path], exercises) -> list[Answer]:
    """Returns the answers of one learner, of the newest notebook of each lesson."""
    newest, counts, answers = {}, Counter(), []
    for path in sorted(paths, key=lambda path: (path.stat().st_mtime, path.name)):
        try:
            cells = _cells(path)
        except ValueError as error:
            nothing = Exercise("", path.name, "", "")
            answers.append(Answer(learner, nothing, "", "not a notebook", str(error)))
            continue
        defined = defaultdict(list)
        for cell in cells:
            for name in dict.fromkeys(map("".join, _DEFINED.findall(cell.source))):
                defined[name].append(cell)
        for lesson in {e.lesson for e in exercises
                       if path.name.startswith(e.lesson) or e.name in defined}:
            newest[lesson] = path, defined
            counts[lesson] += 1
    for lesson, (path, defined) in sorted(newest.items()):
        several = f"{counts[lesson]} notebooks: {path.name} is the newest"
        note = several if counts[lesson] > 1 else ""
        of_lesson = [e for e in exercises if e.lesson == lesson]
        answers += [_answer(learner, e, of_lesson, defined, note) for e in of_lesson]
    nothing = Answer(learner, Exercise("", "", "", ""), "", "no exercise found")
    return answers or [nothing]


def _learners(folder: Path) -> dict[str, list[Path]]:
    """Returns the notebooks of each learner; links and pipes are none."""
    found = {}
    for entry in _entries(folder):
        if entry.is_dir(follow_symlinks=False):
            paths = itertools.islice(_notebooks(Path(entry.path), 1), MOST_NOTEBOOKS)
            found.setdefault(entry.name, []).extend(paths)
        elif _is_notebook(entry):
            path = Path(entry.path)
            found.setdefault(path.stem, []).append(path)
    return dict(sorted(found.items()))


def _notebooks(folder: Path, depth: int) -> Iterator[Path]:
    for entry in _entries(folder):
        if _is_notebook(entry):
            yield Path(entry.path)
        elif depth < DEEPEST and entry.is_dir(follow_symlinks=False):
            yield from _notebooks(Path(entry.path), depth + 1)


def _entries(folder: Path) -> list[os.DirEntry]:
    try:
        with os.scandir(folder) as entries:
            kept = [entry for entry in entries if not entry.name.startswith(".")]
    except OSError:  # closed to us: nothing was handed in there
        return []
    return sorted(kept, key=lambda entry: entry.name)


def _is_notebook(entry: os.DirEntry) -> bool:
    return entry.name.endswith(".ipynb") and entry.is_file(follow_symlinks=False)


def _cells(path: Path) -> list[Cell]:
    """Returns the code cells of a notebook.

    Raises:
      ValueError: it cannot be read; says why in a few words.
    """
    size = path.stat().st_size
    if size > LARGEST_NOTEBOOK:
        raise ValueError(f"{size / 1e6:,.0f} MB are more than anybody reads: hand it "
                         "in without outputs")
    cells = [cell for cell in read_cells(path) if cell.kind == "code"]
    if len(cells) > MOST_CELLS:
        raise ValueError(f"{len(cells):,} cells are more than anybody reads")
    return cells


def _answer(learner, exercise, of_lesson, defined, note) -> Answer:
    """Finds the cell by the name that it defines: no order, copy or tag misleads it."""
    found = defined.get(exercise.name)
    notes = [note] if note else []
    if not found:
        others = _renamed(defined, of_lesson)
        if others:
            notes.append(f"there is {others[0]}")
        return Answer(learner, exercise, "", "missing", "; ".join(notes))
    source = found[-1].source
    if len({cell.source for cell in found}) > 1:
        notes.append(f"{len(found)} cells define it: the last one counts")
    if len(source) > LARGEST_ANSWER:
        notes.append(f"{len(source):,} characters")
        return Answer(learner, exercise, "", "too long a cell", "; ".join(notes))
    own = set(map(id, found))
    elsewhere = tuple(sorted(name for name, cells in defined.items()
                             if any(id(cell) not in own for cell in cells)))
    return Answer(learner, exercise, source, note="; ".join(notes), elsewhere=elsewhere)


def _renamed(defined, of_lesson: list[Exercise]) -> list[str]:
    """Returns what exercise cells define that no exercise asks for."""
    asked = {exercise.name for exercise in of_lesson}
    return [name for name, cells in defined.items()
            if name not in asked and "exercise" in cells[-1].tags]
