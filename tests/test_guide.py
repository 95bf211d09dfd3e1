"""The instructor's guide: its minutes are those of the notebooks, its advice theirs."""

import re

import nbformat
import pytest

from tools import guide, readme, timetable
from tools import notebook as nb
from tools.cells import Lesson, sections

LESSONS = {nb.number(path): path for path in nb.lessons(guide.ROOT)}
ROW = re.compile(r"^\| \[(\d\d[a-z]?) .+?\)" + 5 * r" \| (\d+)" + r" \|$", re.M)
LEFT_OUT = "This plan has no time for these lessons: "
SKIPPED = re.compile(r"^\*\*If you are short of time,\*\* (.+)$", re.M)


@pytest.fixture(scope="module")
def text():
    return guide.GUIDE.read_text("utf-8")


def test_the_guide_is_that_of_the_lessons(text):
    assert guide.guide() == text, "run: python -m tools.guide"


def test_what_a_sitting_takes_in_all_is_the_sum(text):
    rows = {row[0]: [int(n) for n in row[1:]] for row in ROW.findall(text)}
    assert rows.keys() == LESSONS.keys()
    for number, (read, predict, run, exercises, total) in rows.items():
        asked = len(Lesson(LESSONS[number]).exercises)
        assert exercises == asked * timetable.MINUTES_PER_EXERCISE
        assert total == read + predict + run + exercises


def test_a_plan_says_what_it_leaves_out(monkeypatch, text):
    plans = re.findall(
        rf"^### [^\n]*\n.+?^{LEFT_OUT}[\da-c, ]+", text, re.M | re.S)
    assert len(plans) == len(guide.PLANS)
    for plan in plans:
        table, left = plan.split(LEFT_OUT)
        taken = {n for row in re.findall(r"^\| \d \| ([\da-c, ]+) \|", table, re.M)
                 for n in row.split(", ")}
        assert taken | set(left.split(", ")) == LESSONS.keys()
    monkeypatch.setattr(guide, "PLANS", {"All": [{n: 0} for n in LESSONS]})
    assert "This plan has every lesson." in guide.guide()


def test_what_to_skip_are_sections_of_the_lesson():
    for number, advice in timetable.advice().items():
        if number == "head":
            continue
        cells = nbformat.read(LESSONS[number], as_version=4).cells
        headings = set(re.findall(r"^#+ (.+)$", "\n".join(
            c.source for c in cells if c.cell_type == "markdown"), re.M))
        named = re.findall(r"(?<!\w)\*([^*]+)\*", SKIPPED.search(advice)[1])
        assert named
        for name in named:
            assert any(name in heading for heading in headings), f"{number}: {name}"
        assert advice.count("?** ") >= 3 and "**Where readers stumble**" in advice


def test_each_question_has_its_answer_and_two_wrong_ones():
    for number, advice in timetable.advice().items():
        if number == "head":
            continue
        aloud = advice.split("**Ask aloud**")[1].split("**Where readers stumble**")[0]
        for line in aloud.strip().splitlines():
            assert re.fullmatch(
                r"- \*\*.+\?\*\* .+\. "
                r"\*Common wrong answers:\* [^;]+; [^;]+\.", line), line


def in_class(text):
    """Returns the lessons that a plan names or a timetable shows."""
    planned = {number for halves in guide.PLANS.values() for half in halves
               for number in half}
    return planned | {*re.findall(r"^\| \d:\d\d \| (\w+) \|", text, re.M)}


def test_a_sitting_that_a_class_sees_has_a_sketch_and_something_to_change(text):
    shown = "".join(path.read_text("utf-8") for path in LESSONS.values())
    seen = in_class(text)
    assert seen > {*readme.CORE, "03b"}
    for number in seen:
        advice = timetable.advice()[number]
        assert "**On the board**\n\n```\n" in advice, number
        live = re.search(r"^\*\*Live:\*\* (.+)$", advice, re.M)[1]
        page = re.match(r"Open the interactive figure \*(.+?)\*", live)
        cell = re.match(r"In the section \*(.+?)\*, .*?(?:replace|below) `(.+?)`", live)
        if page:
            assert f"Interactive figure: {page[1]}" in shown, number
        elif cell:
            assert changed_once(number, *cell.groups()), number
        else:
            assert live.startswith("Run `python3 course.py tensorboard`"), number


def changed_once(number, heading, code):
    """Returns whether a section has the code that a demonstration changes."""
    cells = nbformat.read(LESSONS[number], as_version=4).cells
    [section] = [part for part in sections(cells)
                 if f"## {heading}" in part[0].source.split("\n")]
    return any(code in cell.source for cell in section if cell.cell_type == "code")


def test_a_class_ends_in_time_and_has_a_break():
    notes = timetable.advice()
    for paths in timetable.subjects().values():
        steps = timetable.timetable(list(map(Lesson, paths)), notes).steps
        minutes = [step.minute for step in steps]
        assert minutes == sorted(minutes)
        assert minutes[-1] <= timetable.CLASS - timetable.CLOSE
        rests = any(step.title == "a break" for step in steps)
        assert minutes[-1] < timetable.CLASS / 2 or rests
