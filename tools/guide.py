"""The instructor's guide, docs/guide.md: minutes from the notebooks, and advice.

    python -m tools.guide      # write docs/guide.md

Minutes are rounded up to five.
"""

import math
import re
from pathlib import Path
from typing import NamedTuple

import nbformat

from helpers.files import ROOT, whole_file
from tools import notebook as nb
from tools import readme
from tools.lesson import Lesson, exercise_cells

GUIDE = ROOT / "docs" / "guide.md"
TEACHING = ROOT / "docs" / "book" / "teaching.md"
WORDS_PER_MINUTE, MINUTES_PER_EXERCISE, STEP = 95, 15, 5
HALF_DAY = 240  # minutes, without breaks
# Half days: lessons, and how many exercises of each are done in the room.
PLANS = {
    "One day: the core": [{"01a": 1, "02a": 1, "03a": 1, "04a": 1},
                          {"05a": 1, "06a": 1, "07a": 1, "08a": 1}],
    "Two hours on queues": [{"03a": 1, "03b": 1}],
    "Two hours on records": [{"04a": 1, "04b": 1}],
    "Two hours on towers": [{"05a": 1, "05b": 1, "05c": 0}],
    "Half a day for an heir": [{"10a": 1, "10b": 1, "11": 1}],
    "Two days": [{"01a": 1, "02a": 1, "03a": 1, "03b": 1},
                 {"04a": 1, "05a": 1, "05b": 1, "13a": 0},
                 {"06a": 1, "06b": 1, "07a": 1, "08a": 1},
                 {"10a": 1, "10b": 1, "11": 1, "14": 1}],
}


class Minutes(NamedTuple):
    """What one lesson takes.

    Attributes:
      read: its prose and its code, in words, at 95 a minute, as readers with a clock
        took; one minute for each page with knobs.
      exercises: how many there are.
    """

    read: int
    exercises: int

    def total(self, exercises: int | None = None) -> int:
        """Returns the minutes with so many exercises; with all of them if None."""
        count = self.exercises if exercises is None else exercises
        return self.read + MINUTES_PER_EXERCISE * count


def minutes(lesson: Path) -> Minutes:
    """Returns what a lesson, a notebook, takes."""
    notebook = nbformat.read(lesson, as_version=4)
    words = sum(len(re.findall(r"\w+", c.source)) for c in notebook.cells)
    pages = sum("srcdoc=" in "".join(o.get("data", {}).get("text/html", ""))
                for c in notebook.cells for o in c.get("outputs", []))
    return Minutes(up(words / WORDS_PER_MINUTE + pages),
                   len(exercise_cells(notebook)))


def up(value: float) -> int:
    """Returns minutes rounded up to the next five."""
    return STEP * math.ceil(value / STEP)


def guide() -> str:
    """Returns the whole text of docs/guide.md."""
    lessons = {nb.number(path): path for path in nb.lessons(ROOT)}
    found = {number: minutes(path) for number, path in lessons.items()}
    advice = _advice()
    head = advice["head"].format(words=WORDS_PER_MINUTE, each=MINUTES_PER_EXERCISE)
    parts = [head, _table(lessons, found), "## Plans", *_plans(found)]
    for number, path in lessons.items():
        parts.append(f"## {number}: {readme.head(path)['title']}")
        parts.append(_predictions(path))
        parts.append(advice.get(number, ""))
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(lessons: dict[str, Path], found: dict[str, Minutes]) -> str:
    rows = ["| sitting | read | exercises | all |",
            "| --- | --- | --- | --- |"]
    for number, path in lessons.items():
        m, title = found[number], readme.head(path)["title"]
        numbers = (m.read, m.exercises, m.total())
        core = " (core)" if number in readme.CORE else ""
        rows.append(f"| [{number} {title}](../notebooks/{path.name}){core} | "
                    + " | ".join(map(str, numbers)) + " |")
    hours = sum(m.total() for m in found.values()) / 60
    return "\n".join([*rows, "", f"All together: {math.ceil(hours)} hours."])


def _plans(found: dict[str, Minutes]) -> list[str]:
    """Returns each plan as a table.

    Raises:
      ValueError: a half day is longer than there is time.
    """
    parts = []
    for name, halves in PLANS.items():
        rows = [f"### {name}", "", "| half day | sittings | exercises | minutes |",
                "| --- | --- | --- | --- |"]
        for index, half in enumerate(halves, 1):
            total = sum(found[number].total(count) for number, count in half.items())
            if total > HALF_DAY:
                raise ValueError(f"guide: half day {index} of '{name}' takes {total} "
                                 f"minutes, and has {HALF_DAY}")
            done = ", ".join(f"{count} of {number}" for number, count in half.items()
                             if count)
            rows.append(f"| {index} | {', '.join(half)} | {done} | {total} |")
        left = sorted(found.keys() - {number for half in halves for number in half})
        rows += ["", f"Left out: {', '.join(left) or 'nothing'}."]
        parts.append("\n".join(rows))
    return parts


def _predictions(lesson: Path) -> str:
    """Returns how many questions a lesson asks of itself, and under which headings."""
    asked = Lesson(lesson).questions
    names = "; ".join(dict.fromkeys(f"*{question.heading}*" for question in asked))
    return f"Predictions: {len(asked)}, under {names}."


def _advice() -> dict[str, str]:
    """Returns what docs/book/teaching.md says: its `head`, and by lesson's number."""
    text = TEACHING.read_text("utf-8")
    head, *parts = re.split(r"^## (\d\d[a-z]?)\n", text, flags=re.M)
    of_lessons = dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))
    return {"head": head.strip(), **of_lessons}


if __name__ == "__main__":
    with whole_file(GUIDE) as temporary:
        temporary.write_text(guide(), encoding="utf-8")
