"""Shows which exercises you have solved, according to your saved notebooks.

    python3 course.py progress         # all lessons; `progress 03 05` for some
    python3 course.py progress FILE    # a notebook that was handed out, or a folder

The command reads your copies in my/, or the lessons themselves if you have no copies.
It looks for the reports of checks that you ran and saved, and counts the predictions
that you wrote. Copies that `lab --fresh` has replaced count too. Nothing is run, and
nothing is sent anywhere.

If you are stuck, `check_NAME(NAME, hints=1)` in a notebook gives a hint, and `hints=2`
gives the next one. The solutions are in notebooks/solutions/.
"""

import contextlib
import itertools
import re
import sys
from pathlib import Path
from typing import NamedTuple

from helpers.errors import printable
from helpers.files import ROOT
from tools import copies
from tools import notebook as nb
from tools.cells import asked, read_cells, reports
from tools.environment import go_where_called

ORDER = SOLVED, TRIED, UNTOUCHED = "solved", "begun", "not tried yet"


class Solved(NamedTuple):
    """State of one exercise in a saved notebook.

    Attributes:
      title: Heading of the exercise, such as `Exercise 1: spread`.
      state: `SOLVED`, `TRIED` or `UNTOUCHED`.
      claim: First claim of the check that did not hold, or "".
    """

    title: str
    state: str
    claim: str = ""


def states(path: Path) -> list[Solved]:
    """Returns the state of each exercise in a notebook, in order.

    Args:
      path: Saved lesson, or a notebook that was handed out.

    Raises:
      ValueError: If the file is not a notebook.
    """
    results, unrun = [], []
    for cell in read_cells(path):
        if titles := asked(cell):
            results += unrun
            unrun = [Solved(title, UNTOUCHED) for title in titles]
        for title, report in reports(cell):
            results.append(_exercise(title, report))
            unrun = []
    return results + unrun


def all_states(path: Path) -> list[Solved]:
    """Returns the best state of each exercise over all versions of a copy."""
    known = states(path)
    for old in _readable(path):
        best = {one.title: one for one in states(old)}
        known = [min(one, best.get(one.title, one), key=lambda one: ORDER.index(
            one.state)) for one in known]
    return known


def written(path: Path) -> list[bool]:
    """Returns which predictions were written in any version of a copy."""
    known = list(map(bool, copies.predictions(path)))
    for old in _readable(path):
        texts = copies.predictions(old)
        if len(texts) == len(known):  # otherwise the lesson has changed
            known = [done or bool(text)
                     for done, text in zip(known, texts, strict=True)]
    return known


def _readable(path: Path) -> list[Path]:
    """Returns the earlier versions of a copy that can be read as notebooks."""
    readable = []
    for old in copies.earlier(path):
        with contextlib.suppress(ValueError):
            read_cells(old)
            readable.append(old)
    return readable


def notebooks(words: list[str]) -> list[Path]:
    """Returns the notebooks that lesson numbers, files or folders refer to.

    Raises:
      ValueError: If one of the words refers to no notebook.
    """
    if not words or all(re.fullmatch(r"\d+[a-zA-Z]?", word) for word in words):
        return [copies.newest(lesson) for lesson in nb.lessons(ROOT, words)]
    paths = []
    for word in words:
        path = Path(word)
        inside = [p for p in sorted(path.rglob("*.ipynb"))
                  if ".ipynb_checkpoints" not in p.parts] if path.is_dir() else []
        if not path.is_file() and not inside:
            raise ValueError(
                f"{word} is neither a notebook nor a folder of notebooks. Pass a "
                "lesson number, or the path of a notebook."
            )
        paths += inside or [path]
    return paths


def _exercise(title: str, report: str) -> Solved:
    cross = re.search(r"\[✗\] (.+)", report)
    if cross:
        return Solved(title, TRIED, cross.group(1))
    return Solved(title, SOLVED if "✓" in report else UNTOUCHED)


def main(arguments: list[str]) -> int:
    sys.stdout.reconfigure(errors="backslashreplace")
    parser = nb.parser("progress", __doc__)
    parser.add_argument("words", nargs="*", metavar="NN or FILE",
                        help="lessons, notebooks or folders; by default, all lessons")
    words = parser.parse_args(arguments).words
    results, predicted, unread = {}, {}, []
    try:
        for path in notebooks(words):
            try:
                results[path], predicted[path] = all_states(path), written(path)
            except ValueError as error:  # the other notebooks still count
                unread.append(str(error))
    except ValueError as error:
        parser.error(str(error))
    begun = [path for path in predicted if words or any(predicted[path]) or any(
        exercise.state != UNTOUCHED for exercise in results[path])]
    for path in begun:
        lines = [path.stem]
        for exercise in results[path]:
            stopped = f" (stopped at: {exercise.claim})" if exercise.claim else ""
            lines.append(f"  {exercise.title:40s} {exercise.state}{stopped}")
        if asked := predicted[path]:
            lines.append(f"  {'Predictions':40s} {sum(asked)} of {len(asked)} written")
        print("\n".join(map(printable, lines)))
    if others := [path.stem.split("_")[0] for path in predicted if path not in begun]:
        print("Not begun:", " ".join(others))
    every = [exercise.state for of_lesson in results.values() for exercise in of_lesson]
    asked = list(itertools.chain.from_iterable(predicted.values()))
    print(f"{every.count(SOLVED)} of {len(every)} exercises solved" + (
        f", {sum(asked)} of {len(asked)} predictions written" if asked else "")
        + " (only saved notebooks count)" * (bool(asked) and not any(asked)))
    for line in unread:
        print(printable(f"course.py progress: {line}"), file=sys.stderr)
    return 1 if unread else 0


if __name__ == "__main__":
    go_where_called()
    sys.exit(main(sys.argv[1:]))
