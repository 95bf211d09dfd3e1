"""The instructor's guide: its minutes are those of the notebooks, its advice theirs."""

import re

import nbformat
import pytest

from tools import guide
from tools import notebook as nb

LESSONS = {nb.number(path): path for path in nb.lessons(guide.ROOT)}
ROW = re.compile(r"^\| \[(\d\d[a-z]?) .+?\)" + 3 * r" \| (\d+)" + r" \|$", re.M)
SKIPPED = re.compile(r"^\*\*Short of time:\*\* (.+)$", re.M)


@pytest.fixture(scope="module")
def text():
    return guide.GUIDE.read_text("utf-8")


def test_the_minutes_are_those_of_the_notebooks(text):
    """A word more or less in a lesson may turn the rounding: one step is let pass."""
    fresh = {row[0]: [int(n) for n in row[1:]] for row in ROW.findall(guide.guide())}
    stored = {row[0]: [int(n) for n in row[1:]] for row in ROW.findall(text)}
    assert stored.keys() == fresh.keys() == LESSONS.keys()
    for number, row in fresh.items():
        near = [abs(a - b) <= guide.STEP for a, b in zip(row, stored[number],
                                                         strict=True)]
        assert all(near), f"lesson {number}: run python -m tools.guide"
        read, exercises, total = stored[number]
        assert total == read + exercises * guide.MINUTES_PER_EXERCISE


def test_all_but_the_numbers_is_made_from_the_lessons(text):
    def words(page):
        return re.sub(r"\d+", "#", page)

    assert words(text) == words(guide.guide()), "run: python -m tools.guide"


def test_a_plan_says_what_it_leaves_out(monkeypatch, text):
    plans = re.findall(
        r"^### [^\n]*\n.+?^Left out: [\da-c, ]+", text, re.M | re.S)
    assert len(plans) == len(guide.PLANS)
    for plan in plans:
        table, left = plan.split("Left out: ")
        taken = {n for row in re.findall(r"^\| \d \| ([\da-c, ]+) \|", table, re.M)
                 for n in row.split(", ")}
        assert taken | set(left.split(", ")) == LESSONS.keys()
    monkeypatch.setattr(guide, "PLANS", {"All": [{n: 0} for n in LESSONS]})
    assert "Left out: nothing." in guide.guide()


def test_what_to_skip_are_sections_of_the_lesson():
    for number, advice in guide._advice().items():
        if number == "head":
            continue
        cells = nbformat.read(LESSONS[number], as_version=4).cells
        headings = set(re.findall(r"^#+ (.+)$", "\n".join(
            c.source for c in cells if c.cell_type == "markdown"), re.M))
        named = re.findall(r"(?<!\w)\*([^*]+)\*", SKIPPED.search(advice)[1])
        assert named
        for name in named:
            assert any(name in heading for heading in headings), f"{number}: {name}"
        assert advice.count("?") >= 3 and "**Where readers stumble**" in advice
