"""Converts lessons to reveal.js slides that work offline.

    python3 course.py slides 14              # build/slides/14_control_flow.html
    python3 course.py slides 03 --two-hours  # build/slides/03_two_hours.html

A deck shows the questions, pitfalls, definitions, lists, tables, code, outputs and
figures of a lesson. Its sentences become speaker notes (press S), together with the
advice of the instructor's guide and the minute at which each section begins. Space and
the arrow keys go to the next step and skip none. If you add `?showNotes=true` to the
address, the notes appear next to the slide.

With `--two-hours`, a deck follows the timetable that docs/guide.md has for a subject.
"""

import itertools
import sys
from pathlib import Path

from helpers.files import ROOT, whole_file
from tools import notebook as nb
from tools import timetable
from tools.cells import Lesson
from tools.deck import ALOUD, Deck
from tools.slides_page import Slide, heading, markdown, page, part

FOLDER = ROOT / "build" / "slides"


def of_lesson(path: Path) -> list[list[Slide]]:
    """Returns the slides of a whole lesson, with one column per section."""
    plan = _plan(nb.number(path)[:2])
    [lesson] = [lesson for lesson in plan.lessons if lesson.path == path]
    return list(_deck(lesson, plan, whole=True).columns.values())


def of_class(subject: str) -> list[list[Slide]]:
    """Returns the slides of a class of two hours on a subject, such as `03`."""
    plan = _plan(subject)
    decks = {lesson.number: _deck(lesson, plan, whole=False)
             for lesson in plan.lessons}
    columns, begun = [[_agenda(plan)]], []
    for step, following in itertools.pairwise([*plan.steps, None]):
        if step.lesson:
            deck = decks[step.lesson]
            if step.lesson not in begun:
                begun.append(step.lesson)
                opening = (deck.lesson.title, "Setup")
                columns += [deck.columns[k] for k in opening if k in deck.columns]
            columns.append(deck.columns[step.title])
        elif following:
            title = heading(2, f"A break, until {following.clock}")
            columns.append([Slide("", [part(title)])])
        else:
            columns.append([_closing(plan, step.clock, begun)])
    return columns


def _plan(subject: str) -> timetable.Timetable:
    lessons = list(map(Lesson, timetable.subjects()[subject]))
    return timetable.timetable(lessons, timetable.advice())


def _deck(lesson: Lesson, plan: timetable.Timetable, *, whole: bool) -> Deck:
    """Returns the slides of a lesson, or of what a class of two hours covers of it."""
    advice = timetable.advice()[lesson.number]
    clock = {step.title: step.clock for step in plan.steps
             if step.lesson == lesson.number}
    if whole:
        return Deck(lesson, clock=clock, advice=advice)
    titles = [lesson.title, "Setup", *clock]
    return Deck(lesson, titles, timetable.left_out(advice), clock, advice)


def _agenda(plan: timetable.Timetable) -> Slide:
    """Returns the first slide of a class, with its timetable."""
    rows = [f"| {step.clock} | {step.lesson} | {step.title or 'your questions'} |"
            for step in plan.steps]
    table = "\n".join(["| clock | lesson | |", "| --- | --- | --- |", *rows])
    numbers = {step.lesson for step in plan.steps}
    titles = ". ".join(lesson.title for lesson in plan.lessons
                       if lesson.number in numbers) + "."
    return Slide("", [part(heading(1, "Two hours by the clock"), "keep"),
                      part(markdown(titles), "keep"), part(markdown(table), "agenda")])


def _closing(plan: timetable.Timetable, clock: str, lessons: list[str]) -> Slide:
    """Returns the last slide of a class, whose notes ask aloud."""
    home = "\n".join(f"- {number} {title}" for number, title in plan.home)
    shown = [heading(2, "What is new to you?"),
             markdown("Each of you names one new thing.")]
    if home:
        shown.append(markdown(f"What remains is homework:\n\n{home}"))
    advice = timetable.advice()
    aloud = [questions for number in lessons
             for questions in ALOUD.findall(advice[number])]
    return Slide("", list(map(part, shown)),
                 [markdown(f"**{clock}**"), *map(markdown, aloud)])


def main(arguments: list[str]) -> int:
    parser = nb.parser("slides", __doc__)
    parser.add_argument("--two-hours", action="store_true",
                        help="make the deck of a class of two hours on each subject")
    options, lessons = nb.chosen(parser, arguments)
    if options.two_hours:
        decks = {f"{subject}_two_hours": (f"{subject}: two hours", of_class(subject))
                 for subject in sorted({nb.number(lesson)[:2] for lesson in lessons})}
    else:
        decks = {lesson.stem: (Lesson(lesson).title, of_lesson(lesson))
                 for lesson in lessons}
    for name, (title, columns) in decks.items():
        target = FOLDER / f"{name}.html"
        with whole_file(target) as temporary:
            temporary.write_text(page(title, columns), encoding="utf-8")
        print("Open", target.relative_to(ROOT).as_posix())
    print("Press Space for the next step, and S for the speaker notes.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
