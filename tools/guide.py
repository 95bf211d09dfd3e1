"""Writes the instructor's guide from the lessons' durations and teaching notes.

    python -m tools.guide      # write docs/guide.md

The minutes of a whole lesson are rounded up to a multiple of five. `run --time` stores
how long the cells ran.
"""

import math
import re
from pathlib import Path
from typing import NamedTuple

import nbformat

from helpers.files import ROOT, whole_file
from tools import notebook as nb
from tools import readme
from tools.cells import Lesson, exercise_cells, seconds_kept, sections

GUIDE = ROOT / "docs" / "guide.md"
TEACHING = ROOT / "docs" / "book" / "teaching.md"
WORDS_PER_MINUTE, MINUTES_PER_EXERCISE, STEP = 95, 15, 5
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
           "ten", "eleven", "twelve")
HALF_DAY = 240  # minutes, without breaks
CLASS, BREAK, CLOSE = 120, 10, 5  # minutes
CLOCK = """
Each table below is the timetable of a class of two hours on one subject. It assumes
that a class reads as fast as a single reader. The tables skip the sections that you can
leave out if you are short of time; the advice for each lesson, further below, names
them. Only the first exercise of each lesson is done in class.
"""
CLOSING = "each learner names one new thing; then ask the questions of *Ask aloud*"
# Half days: lessons, with the number of exercises that are done in class.
PLANS = {
    "One day: the core": [{"01a": 1, "02a": 0, "03a": 1, "04a": 0},
                          {"05a": 1, "06a": 0, "07a": 1, "08a": 0}],
    "Two hours on queues": [{"03a": 1, "03b": 1}],
    "Two hours on records": [{"04a": 1, "04b": 1}],
    "Half a day on towers": [{"05a": 1, "05b": 1, "05c": 0}],
    "Half a day on old code": [{"10a": 1, "10b": 1, "11": 1}],
    "Two days": [{"01a": 1, "02a": 0, "03a": 1, "03b": 0},
                 {"04a": 0, "05a": 1, "05b": 1, "13a": 0},
                 {"06a": 0, "06b": 0, "07a": 1, "08a": 1},
                 {"10a": 1, "10b": 0, "11": 1, "14": 0}],
}


class Minutes(NamedTuple):
    """Minutes that a lesson takes, by activity.

    Attributes:
      read: Minutes for text and code at 95 words a minute, a speed that was measured
        with readers, plus one minute for each interactive figure. The minutes for
        predictions are deducted.
      predict: Half a minute for each question.
      run: Measured running time of the cells.
      exercises: Minutes for all exercises together.
    """

    read: int
    predict: int
    run: int
    exercises: int

    @property
    def sitting(self) -> int:
        """The minutes for everything except the exercises."""
        return self.read + self.predict + self.run

    def total(self, exercises: int | None = None) -> int:
        """Returns the minutes with a number of exercises, or with all of them."""
        if exercises is None:
            return self.sitting + self.exercises
        return self.sitting + MINUTES_PER_EXERCISE * exercises


def minutes(path: Path) -> Minutes:
    """Returns the minutes that a lesson takes, by activity."""
    lesson = Lesson(path)
    run = seconds_kept().get(lesson.number, 0) / 60
    predict = math.ceil(len(lesson.questions) / 2)
    total = up(_reading(lesson.cells) + run)
    return Minutes(total - predict - math.ceil(run), predict, math.ceil(run),
                   MINUTES_PER_EXERCISE * len(exercise_cells(lesson.notebook)))


def _reading(cells: list[nbformat.NotebookNode]) -> float:
    """Returns the minutes for reading text and code and for interactive figures."""
    words = sum(len(re.findall(r"\w+", cell.source)) for cell in cells)
    pages = sum("srcdoc=" in "".join(o.get("data", {}).get("text/html", ""))
                for cell in cells for o in cell.get("outputs", []))
    return words / WORDS_PER_MINUTE + pages


def up(value: float) -> int:
    """Rounds a number of minutes up to a multiple of five."""
    return STEP * math.ceil(value / STEP)


def guide() -> str:
    """Returns the Markdown text of docs/guide.md."""
    lessons = {nb.number(path): path for path in nb.lessons(ROOT)}
    durations = {number: minutes(path) for number, path in lessons.items()}
    advice = _advice()
    head, *sections = re.split("^(?=## )", advice["head"], flags=re.M)
    head = head.strip().format(words=WORDS_PER_MINUTE, each=MINUTES_PER_EXERCISE)
    parts = [head, _table(lessons, durations), "## Plans", *_plans(durations),
             "## Two hours by the clock", CLOCK.strip(), *_classes(lessons, advice),
             *map(str.strip, sections)]
    for number, path in lessons.items():
        parts.append(f"## {number}: {readme.head(path)['title']}")
        parts.append(_predictions(path))
        parts.append(advice.get(number, ""))
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(lessons: dict[str, Path], found: dict[str, Minutes]) -> str:
    rows = ["| lesson | read | predict | run | exercises | total |",
            "| --- | --- | --- | --- | --- | --- |"]
    for number, path in lessons.items():
        m, title = found[number], readme.head(path)["title"]
        numbers = (m.read, m.predict, m.run, m.exercises, m.total())
        core = " (core)" if number in readme.CORE else ""
        rows.append(f"| [{number} {title}](../notebooks/{path.name}){core} | "
                    + " | ".join(map(str, numbers)) + " |")
    hours = sum(m.total() for m in found.values()) / 60
    total = f"All lessons together take {math.ceil(hours)} hours."
    return "\n".join([*rows, "", total])


def _plans(found: dict[str, Minutes]) -> list[str]:
    """Returns each teaching plan as a Markdown table of half days.

    Raises:
      ValueError: If a half day is longer than `HALF_DAY`.
    """
    parts = []
    for name, halves in PLANS.items():
        rows = [f"### {name}", "",
                "| half day | lessons | with exercise 1 of | minutes |",
                "| --- | --- | --- | --- |"]
        for index, half in enumerate(halves, 1):
            total = sum(found[number].total(count) for number, count in half.items())
            if total > HALF_DAY:
                raise ValueError(f"Half day {index} of the plan '{name}' takes {total} "
                                 f"minutes, but only {HALF_DAY} are available.")
            done = ", ".join(number for number, count in half.items() if count)
            rows.append(f"| {index} | {', '.join(half)} | {done} | {total} |")
        left = sorted(found.keys() - {number for half in halves for number in half})
        rest = "every lesson"
        if left:
            rest = f"no time for these lessons: {', '.join(left)}"
        rows += ["", f"This plan has {rest}."]
        parts.append("\n".join(rows))
    return parts


def _classes(lessons: dict[str, Path], advice: dict[str, str]) -> list[str]:
    """Returns a two-hour timetable for each subject, as Markdown."""
    subjects: dict[str, list[Path]] = {}
    for number, path in lessons.items():
        subjects.setdefault(number[:2], []).append(path)
    return [_class(subject, [Lesson(path) for path in paths], advice)
            for subject, paths in subjects.items()]


def _class(subject: str, lessons: list[Lesson], advice: dict[str, str]) -> str:
    """Returns the timetable of a two-hour class on one subject."""
    rows, clock, rested, home = [], 0, False, []
    for lesson in lessons:
        for title, length in _steps(lesson, advice.get(lesson.number, "")):
            if home or clock + length > CLASS - CLOSE:
                home.append(f"{lesson.number} *{title}*")
                continue
            if clock + length > CLASS / 2 and not rested:
                rows.append((clock, "", "a break"))
                clock, rested = clock + BREAK, True
            rows.append((clock, lesson.number, f"*{title}*"))
            clock += length
    rows.append((clock, "", CLOSING))
    lines = [f"### {subject}: {', '.join(lesson.title for lesson in lessons)}", "",
             "| clock | lesson | content |", "| --- | --- | --- |",
             *(f"| {at // 60}:{at % 60:02d} | {number} | {what} |"
               for at, number, what in rows)]
    if home:
        lines += ["", f"What remains is homework: {', '.join(home)}."]
    return "\n".join(lines)


def _steps(lesson: Lesson, advice: str) -> list[tuple[str, int]]:
    """Returns the sections of a lesson that a class covers, with their minutes.

    Only the first exercise is done in class. The sections that the teaching notes leave
    out are skipped, and so are the pages after the exercises.
    """
    out = re.findall(r"\*([^*]+)\*", "".join(
        re.findall(r"leave out (.+?)(?:; |\. |$)", advice, re.M)))
    steps, before = [], 0.0  # title and set-up are added to the next section
    for cells in sections(lesson.cells):
        title = re.findall(r"^##? (.+)$", cells[0].source, re.M)[-1]
        if title.startswith("Exercise"):
            return [*steps, (title, MINUTES_PER_EXERCISE)]
        kept = _without(cells, out)
        length = before + _reading(kept)
        before = length if title in ("Setup", lesson.title) else 0.0
        if not before and kept:
            steps.append((title, max(1, round(length))))
    return steps


def _without(cells: list[nbformat.NotebookNode], out: list[str]) -> list:
    """Returns the cells that are not under any of the omitted headings."""
    kept, leaves = [], False
    for cell in cells:
        for heading in re.findall(r"^##+ (.+)$", cell.source, re.M):
            leaves = heading.startswith(tuple(out))
        if not leaves:
            kept.append(cell)
    return kept


def _predictions(lesson: Path) -> str:
    """Returns a sentence with the number of predictions and their sections."""
    asked = Lesson(lesson).questions
    names = list(dict.fromkeys(f"*{question.heading}*" for question in asked))
    count = NUMBERS[len(asked)] if len(asked) < len(NUMBERS) else len(asked)
    asks = f"The lesson asks for {count} prediction{'s' * (len(asked) > 1)}"
    if len(names) == 1:
        return f"{asks}, in the section {names[0]}."
    return f"{asks}, in the sections {', '.join(names[:-1])} and {names[-1]}."


def _advice() -> dict[str, str]:
    """Returns the teaching notes by lesson number, and the introduction as `head`."""
    text = TEACHING.read_text("utf-8")
    head, *parts = re.split(r"^## (\d\d[a-z]?)\n", text, flags=re.M)
    of_lessons = dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))
    return {"head": head.strip(), **of_lessons}


if __name__ == "__main__":
    with whole_file(GUIDE) as temporary:
        temporary.write_text(guide(), encoding="utf-8")
