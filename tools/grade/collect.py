"""Takes from what was handed in the exercise cells, and definitions before them.

Nothing is run here.
"""

import os
import re
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from tools.exercises import definitions
from tools.lesson import Exercise, read_cells

REMEDIES = {".zip": "an archive: unpack it, and give the learner a folder",
            ".py": "a program: ask for the notebook (.ipynb) that was handed out"}
TAKEN = {".ipynb", *REMEDIES}
_DEFINED = re.compile(r"^(?:(?:async +)?def|class) +(\w+)|^(\w+) *=(?!=)", re.M)


class Answer(NamedTuple):
    """What a learner handed in for one exercise.

    Attributes:
      learner: the name of the folder or of the file.
      exercise: what it answers.
      source: of the cell; "" where there is none to run.
      result: why it cannot be run; "" where it can.
      note: what was odd about it, in words.
      file: from which it was taken, and when that was written.
      own: what the learner's notebook defines above it: statements.
    """

    learner: str
    exercise: Exercise
    source: str
    result: str = ""
    note: str = ""
    file: str = ""
    own: tuple[str, ...] = ()


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
    """Returns the answers of one learner; of two to one exercise the newer counts."""
    defined, names, answers = defaultdict(list), [], []
    for path in sorted(paths, key=lambda path: (path.stat().st_mtime, path.name)):
        when = datetime.fromtimestamp(path.stat().st_mtime)
        file = f"{path.name}, {when:%Y-%m-%d %H:%M}"
        try:
            if path.suffix in REMEDIES:
                raise ValueError(REMEDIES[path.suffix])
            cells = read_cells(path)
        except ValueError as error:
            nothing = Exercise("", path.name, "", "")
            answers.append(Answer(learner, nothing, "", "not a notebook", str(error),
                                  file))
            continue
        names.append(path.name)
        own: list[str] = []
        for cell in cells:
            if cell.cell_type == "code":
                for name in set(map("".join, _DEFINED.findall(cell.source))):
                    defined[name].append((cell.source, file, own, len(own)))
                own += definitions(cell.source)
    tried = {e.lesson for e in exercises if e.name in defined
             or any(name.startswith(e.lesson) for name in names)}
    answers += [_answer(learner, exercise, defined[exercise.name], names)
                for exercise in exercises if exercise.lesson in tried]
    why = "none of its cells defines what an exercise asks for" if names else (
        "there is no notebook (.ipynb): ask for the one that was handed out")
    nothing = Answer(learner, Exercise("", "", "", ""), "", "no exercise found", why,
                     ", ".join(names))
    return answers or [nothing]


def _learners(folder: Path) -> dict[str, list[Path]]:
    """Returns the notebooks of each learner; links, pipes and hidden ones are none."""
    found: dict[str, list[Path]] = {}
    for place, inside, names in os.walk(folder):
        inside[:] = sorted(name for name in inside if not name.startswith("."))
        parts = Path(place).relative_to(folder).parts
        if parts:
            found.setdefault(parts[0], [])
        for name in sorted(names):
            path = Path(place, name)
            if path.suffix in TAKEN and name[0] != "." and path.is_file() \
                    and not path.is_symlink():
                learner = parts[0] if parts else path.stem
                found.setdefault(learner, []).append(path)
    return dict(sorted(found.items()))


def _answer(learner: str, exercise: Exercise, found: list[tuple],
            names: list[str]) -> Answer:
    """Takes the cell that defines the name: no order, copy or tag misleads it."""
    if not found:
        return Answer(learner, exercise, "", "missing",
                      f"no cell defines {exercise.name}: deleted, or renamed?",
                      ", ".join(names))
    several = f"{len(found)} cells define it: the last one counts"
    source, file, own, above = found[-1]
    differ = len({source for source, *_ in found}) > 1
    return Answer(learner, exercise, source, note=several if differ else "",
                  file=file, own=tuple(own[:above]))
