"""Writes the instructor's guide from the lessons' durations and teaching notes.

    python -m tools.guide      # write docs/guide.md

The minutes of a whole lesson are rounded up to a multiple of five. `run --time` stores
how long the cells ran.
"""

import math
import re
from pathlib import Path
from typing import NamedTuple

from helpers.files import ROOT, whole_file
from tools import notebook as nb
from tools import readme
from tools.cells import Lesson, exercise_cells, seconds_kept
from tools.timetable import (
    MINUTES_PER_EXERCISE,
    WORDS_PER_MINUTE,
    advice,
    reading,
    subjects,
    timetable,
)

GUIDE = ROOT / "docs" / "guide.md"
STEP = 5  # minutes
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
           "ten", "eleven", "twelve")
HALF_DAY = 240  # minutes, without breaks
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
    total = up(reading(lesson.cells) + run)
    return Minutes(total - predict - math.ceil(run), predict, math.ceil(run),
                   MINUTES_PER_EXERCISE * len(exercise_cells(lesson.notebook)))


def up(value: float) -> int:
    """Rounds a number of minutes up to a multiple of five."""
    return STEP * math.ceil(value / STEP)


def guide() -> str:
    """Returns the Markdown text of docs/guide.md."""
    lessons = {nb.number(path): path for path in nb.lessons(ROOT)}
    durations = {number: minutes(path) for number, path in lessons.items()}
    notes = advice()
    head, *sections = re.split("^(?=## )", notes["head"], flags=re.M)
    head = head.strip().format(words=WORDS_PER_MINUTE, each=MINUTES_PER_EXERCISE)
    parts = [head, _table(lessons, durations), "## Plans", *_plans(durations),
             "## Two hours by the clock", CLOCK.strip(),
             *(_class(subject, list(map(Lesson, paths)), notes)
               for subject, paths in subjects().items()),
             *map(str.strip, sections)]
    for number, path in lessons.items():
        parts.append(f"## {number}: {readme.head(path)['title']}")
        parts.append(_predictions(path))
        parts.append(notes.get(number, ""))
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
                raise ValueError(
                    f"Half day {index} of plan '{name}' takes {total} minutes, but the "
                    f"limit is {HALF_DAY}. Move a lesson to another half day."
                )
            done = ", ".join(number for number, count in half.items() if count)
            rows.append(f"| {index} | {', '.join(half)} | {done} | {total} |")
        left = sorted(found.keys() - {number for half in halves for number in half})
        rest = "every lesson"
        if left:
            rest = f"no time for these lessons: {', '.join(left)}"
        rows += ["", f"This plan has {rest}."]
        parts.append("\n".join(rows))
    return parts


def _class(subject: str, lessons: list[Lesson], notes: dict[str, str]) -> str:
    """Returns the timetable of a two-hour class on one subject, as Markdown."""
    plan = timetable(lessons, notes)
    lines = [f"### {subject}: {', '.join(lesson.title for lesson in lessons)}", "",
             "| clock | lesson | content |", "| --- | --- | --- |"]
    for step in plan.steps:
        content = f"*{step.title}*" if step.lesson else step.title or CLOSING
        lines.append(f"| {step.clock} | {step.lesson} | {content} |")
    if plan.home:
        home = ", ".join(f"{number} *{title}*" for number, title in plan.home)
        lines += ["", f"What remains is homework: {home}."]
    return "\n".join(lines)


def _predictions(lesson: Path) -> str:
    """Returns a sentence with the number of predictions and their sections."""
    asked = Lesson(lesson).questions
    names = list(dict.fromkeys(f"*{question.heading}*" for question in asked))
    count = NUMBERS[len(asked)] if len(asked) < len(NUMBERS) else len(asked)
    asks = f"The lesson asks for {count} prediction{'s' * (len(asked) > 1)}"
    if len(names) == 1:
        return f"{asks}, in the section {names[0]}."
    return f"{asks}, in the sections {', '.join(names[:-1])} and {names[-1]}."


if __name__ == "__main__":
    with whole_file(GUIDE) as temporary:
        temporary.write_text(guide(), encoding="utf-8")
