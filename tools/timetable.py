"""Plans a class of two hours on one subject from its lessons and teaching notes."""

import re
from pathlib import Path
from typing import NamedTuple

import nbformat

from helpers.files import ROOT
from tools import notebook as nb
from tools.cells import Lesson, sections

TEACHING = ROOT / "docs" / "book" / "teaching.md"
WORDS_PER_MINUTE, MINUTES_PER_EXERCISE = 95, 15
CLASS, BREAK, CLOSE = 120, 10, 5  # minutes


class Step(NamedTuple):
    """Part of a class.

    Attributes:
      minute: Minute at which it begins.
      lesson: Number of its lesson, or "" for a break and for the end.
      title: Heading of its section, or "" for the end.
    """

    minute: int
    lesson: str
    title: str

    @property
    def clock(self) -> str:
        """The minute as hours and minutes, such as `1:05`."""
        return f"{self.minute // 60}:{self.minute % 60:02d}"


class Timetable(NamedTuple):
    """Class of two hours on one subject.

    Attributes:
      lessons: All lessons of the subject.
      steps: Parts of the class in order, the end included.
      home: Lesson number and heading of each section that is left as homework.
    """

    lessons: list[Lesson]
    steps: list[Step]
    home: list[tuple[str, str]]


def subjects() -> dict[str, list[Path]]:
    """Returns the lessons of each subject, such as 03a, 03b and 03c of `03`."""
    found: dict[str, list[Path]] = {}
    for path in nb.lessons(ROOT):
        found.setdefault(nb.number(path)[:2], []).append(path)
    return found


def timetable(lessons: list[Lesson], notes: dict[str, str]) -> Timetable:
    """Fits the sections of a subject's lessons into two hours with a break.

    Args:
      lessons: Lessons of one subject, in order.
      notes: Teaching notes, as `advice` returns them.
    """
    steps, clock, rested, home = [], 0, False, []
    for lesson in lessons:
        for title, length in _parts(lesson, notes.get(lesson.number, "")):
            if home or clock + length > CLASS - CLOSE:
                home.append((lesson.number, title))
                continue
            if clock + length > CLASS / 2 and not rested:
                steps.append(Step(clock, "", "a break"))
                clock, rested = clock + BREAK, True
            steps.append(Step(clock, lesson.number, title))
            clock += length
    return Timetable(lessons, [*steps, Step(clock, "", "")], home)


def reading(cells: list[nbformat.NotebookNode]) -> float:
    """Returns the minutes for reading text and code and for interactive figures."""
    words = sum(len(re.findall(r"\w+", cell.source)) for cell in cells)
    pages = sum("srcdoc=" in "".join(o.get("data", {}).get("text/html", ""))
                for cell in cells for o in cell.get("outputs", []))
    return words / WORDS_PER_MINUTE + pages


def _parts(lesson: Lesson, notes: str) -> list[tuple[str, int]]:
    """Returns the sections of a lesson that a class covers, with their minutes.

    Only the first exercise is done in class. The sections that the teaching notes leave
    out are skipped, and so are the pages after the exercises.
    """
    parts, out = [], left_out(notes)
    before = 0.0  # title and set-up are added to the next section
    for cells in sections(lesson.cells):
        title = re.findall(r"^##? (.+)$", cells[0].source, re.M)[-1]
        if title.startswith("Exercise"):
            return [*parts, (title, MINUTES_PER_EXERCISE)]
        kept = _without(cells, out)
        length = before + reading(kept)
        before = length if title in ("Setup", lesson.title) else 0.0
        if not before and kept:
            parts.append((title, max(1, round(length))))
    return parts


def left_out(notes: str) -> tuple[str, ...]:
    """Returns how the headings begin that a class leaves out if it is short of time."""
    return tuple(re.findall(r"\*([^*]+)\*", "".join(
        re.findall(r"leave out (.+?)(?:; |\. |$)", notes, re.M))))


def _without(cells: list[nbformat.NotebookNode], out: tuple[str, ...]) -> list:
    """Returns the cells that are not under any of the omitted headings."""
    kept, leaves = [], False
    for cell in cells:
        for heading in re.findall(r"^##+ (.+)$", cell.source, re.M):
            leaves = heading.startswith(out)
        if not leaves:
            kept.append(cell)
    return kept


def advice() -> dict[str, str]:
    """Returns the teaching notes by lesson number, and the introduction as `head`."""
    text = TEACHING.read_text("utf-8")
    head, *parts = re.split(r"^## (\d\d[a-z]?)\n", text, flags=re.M)
    of_lessons = dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))
    return {"head": head.strip(), **of_lessons}
