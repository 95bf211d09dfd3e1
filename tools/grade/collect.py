"""Takes from what was handed in the exercise cells, and nothing else. Runs nothing."""

import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

import nbformat

from tools.exercises import Exercise

LARGEST_NOTEBOOK = 50 * 10**6  # bytes; prints of a gigabyte are stored in it as well
LARGEST_ANSWER = 100_000  # characters


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
    """Returns an answer per learner and exercise of each lesson that somebody tried.

    Args:
      folder: a folder or a notebook per learner. The names of the notebooks do not
        matter: a notebook is of the lesson whose functions it defines.
      exercises: of all lessons that count.
    """
    return [answer for learner, paths in _notebooks(folder).items()
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
        for lesson in _lessons(cells, path, exercises):
            newest[lesson] = path, cells
            counts[lesson] += 1
    for lesson, (path, cells) in sorted(newest.items()):
        several = f"{counts[lesson]} notebooks: {path.name} is the newest"
        note = several if counts[lesson] > 1 else ""
        of_lesson = [e for e in exercises if e.lesson == lesson]
        answers += [_answer(learner, e, of_lesson, cells, note) for e in of_lesson]
    nothing = Answer(learner, Exercise("", "", "", ""), "", "no exercise found")
    return answers or [nothing]


def _notebooks(folder: Path) -> dict[str, list[Path]]:
    """Returns the notebooks of each learner; links are not followed."""
    found = defaultdict(list)
    for path in sorted(folder.rglob("*.ipynb")):
        inside = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in inside.parts)
        if path.is_file() and not path.is_symlink() and not hidden:
            found[inside.parts[0] if len(inside.parts) > 1 else path.stem].append(path)
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink() and not path.name.startswith("."):
            found.setdefault(path.name, [])
    return dict(sorted(found.items()))


def _cells(path: Path) -> list[nbformat.NotebookNode]:
    """Returns the code cells of a notebook.

    Raises:
      ValueError: it cannot be read; says why in a few words.
    """
    size = path.stat().st_size
    if size > LARGEST_NOTEBOOK:
        raise ValueError(f"{size / 1e6:,.0f} MB are more than anybody reads: hand it "
                         "in without outputs")
    try:
        cells = nbformat.read(path, as_version=4).cells
        return [cell for cell in cells if cell.cell_type == "code"
                and isinstance(cell.source, str)]
    except Exception as error:  # a damaged file fails in nbformat in many ways
        raise ValueError(f"cannot be read ({type(error).__name__})") from error


def _defines(source: str, name: str) -> bool:
    """Returns whether a cell defines a name at its top level, parsable or not."""
    return bool(re.search(rf"^((async +)?def|class) +{name}\b|^{name} *=(?!=)", source,
                          re.M))


def _lessons(cells, path: Path, exercises: list[Exercise]) -> set[str]:
    """Returns the lessons whose functions a notebook defines, or whose name it has."""
    return {e.lesson for e in exercises if path.name.startswith(e.lesson)
            or any(_defines(cell.source, e.name) for cell in cells)}


def _answer(learner, exercise, of_lesson, cells, note) -> Answer:
    """Finds the cell by the name that it defines: no order, copy or tag misleads it."""
    found = [c for c in cells if _defines(c.source, exercise.name)]
    notes = [note] if note else []
    if not found:
        others = _renamed(cells, of_lesson)
        if others:
            notes.append(f"there is {others[0]}")
        return Answer(learner, exercise, "", "missing", "; ".join(notes))
    source = found[-1].source
    if len({c.source for c in found}) > 1:
        notes.append(f"{len(found)} cells define it: the last one counts")
    if len(source) > LARGEST_ANSWER:
        notes.append(f"{len(source):,} characters")
        return Answer(learner, exercise, "", "too long a cell", "; ".join(notes))
    rest = "\n".join(c.source for c in cells if c not in found)
    elsewhere = set(re.findall(r"^(?:def|class) +(\w+)|^(\w+) *=(?!=)", rest, re.M))
    names = tuple(sorted({name for pair in elsewhere for name in pair if name}))
    return Answer(learner, exercise, source, note="; ".join(notes), elsewhere=names)


def _renamed(cells, of_lesson: list[Exercise]) -> list[str]:
    """Returns what exercise cells define that no exercise asks for."""
    tagged = [c.source for c in cells if "exercise" in c.metadata.get("tags", [])]
    return [name for source in tagged
            for name in re.findall(r"^(?:def|class) +(\w+)", source, re.M)
            if name not in {e.name for e in of_lesson}]
