"""The form of every notebook: canonical JSON, the mould, links, words, stubs."""

import json
import re
import statistics

import nbformat
import pytest

from helpers.files import ROOT
from tools import guide, readme, stubs, within
from tools import notebook as nb
from tools.cells import Lesson, exercise_cells, reports

LESSONS = nb.lessons(ROOT)
SOLUTIONS = [nb.solution(path) for path in LESSONS]
NOTEBOOKS = LESSONS + SOLUTIONS
MAX_KILOBYTES = 1500
BANNED = re.compile(r"\b(just|simply|easily|obviously|trivial(?:ly)?)\b", re.I)
MACHINE_PATH = re.compile(r"(?<![\w.:/])/(?:home|Users|root|tmp|work|opt|var)/[\w.-]+")
SECTIONS = [
    r"^\*\*You build\*\*", r"^\*\*You will be able to\*\*", r"^## Setup",
    r"^## The same thing today", r"^## Exercise 1: ",
    r"^## What you can do now", r"^## In practice", r"^## Further reading",
]

each_notebook = pytest.mark.parametrize(
    "path", NOTEBOOKS, ids=lambda p: f"{p.parent.name}/{p.stem}"
)
each_lesson = pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)


def read(path):
    return nbformat.read(path, as_version=4)


def prose(path):
    return "\n\n".join(c.source for c in read(path).cells if c.cell_type == "markdown")


def code_cells(path):
    return [c for c in read(path).cells if c.cell_type == "code"]


def test_there_are_lessons_in_order():
    numbers = [nb.number(path) for path in LESSONS]
    subjects = {int(n[:2]): [m[2:] for m in numbers if m[:2] == n[:2]] for n in numbers}
    assert list(subjects) == list(range(1, len(subjects) + 1))
    for places in subjects.values():
        assert places == [""] or places == list("abc"[: len(places)])


@each_lesson
def test_is_one_sitting(path):
    time = guide.minutes(path)
    assert len(read(path).cells) <= 100
    assert time.sitting <= 50
    head = readme.head(path)
    assert abs(int(head["minutes"]) - time.sitting) <= guide.STEP, "its head: minutes"
    assert int(head["practice"]) == time.exercises


@each_notebook
def test_json_is_canonical(path):
    stored = path.read_text("utf-8")
    assert stored == nb.dumps(nb.canonical(read(path), path.name)), (
        f"run: python3 course.py run {nb.number(path)} --solutions --save"
    )
    assert len(stored) < MAX_KILOBYTES * 1024


@each_notebook
def test_every_cell_was_run_once_in_order(path):
    counts = [c.execution_count for c in code_cells(path)]
    assert counts == list(range(1, len(counts) + 1))


@each_notebook
def test_nothing_of_this_machine_is_stored(path):
    for cell in code_cells(path):
        assert not any(o.get("name") == "stderr" for o in cell.outputs)
        assert not any(o.output_type == "error" for o in cell.outputs)
        texts = [cell.source] + [
            json.dumps(dict(o.get("data", {}), **{"image/png": ""})) + o.get("text", "")
            for o in cell.outputs
        ]
        assert not MACHINE_PATH.search("\n".join(texts)), cell.id
        assert not re.search(r"\b0x[0-9a-f]{8,}", "\n".join(texts[1:])), cell.id


@each_notebook
def test_cells_are_small(path):
    sizes = sorted(
        sum(bool(line.strip()) for line in c.source.splitlines())
        for c in code_cells(path)
    )
    assert sizes[-1] <= 30
    if path in LESSONS:
        assert sizes[int(0.9 * (len(sizes) - 1))] <= 15
        assert statistics.median(sizes) <= 8
    for cell in code_cells(path):
        wide = [line for line in cell.source.splitlines() if len(line) > 79]
        assert not wide, f"{cell.id}: over 79 columns: {wide[0]}"


@each_lesson
def test_prose_between_cells(path):
    in_a_row = 0
    for cell in read(path).cells:
        in_a_row = in_a_row + 1 if cell.cell_type == "code" else 0
        assert in_a_row <= 2, f"{cell.id}: say what we do, or what we saw"


@each_lesson
def test_has_the_parts_of_a_lesson(path):
    text = prose(path)
    missing = [s for s in SECTIONS if not re.search(s, text, re.M)]
    assert not missing
    assert Lesson(path).questions
    assert read(path).cells[-1].source.splitlines()[-1].startswith("Next: ")


@each_lesson
def test_closing_answers_the_opening_one_for_one(path):
    text = prose(path)
    promises = re.search(r"\*\*You will be able to\*\*\n((?:\s*- .*\n?(?:  .*\n?)*)+)",
                         text)
    answers = re.search(r"## What you can do now\n((?:.|\n)*?)(?=\n## |\Z)", text)
    count = [len(re.findall(r"^\s*- ", part.group(1), re.M))
             for part in (promises, answers)]
    assert count[0] >= 3 and count[0] == count[1]


@each_notebook
def test_words_that_talk_down(path):
    found = BANNED.findall(prose(path))
    assert not found, f"{path.name}: {sorted(set(found))}"


@each_lesson
def test_previous_and_next(path):
    index = LESSONS.index(path)
    first, last = (read(path).cells[k].source.splitlines() for k in (0, -1))
    if index:
        before = LESSONS[index - 1]
        link = f"[Previous: {Lesson(before).title}]({before.name})"
        assert any(line.startswith(link) for line in first)
    if index + 1 < len(LESSONS):
        after = LESSONS[index + 1]
        assert last[-1] == f"Next: [{Lesson(after).title}]({after.name})"


def test_few_cells_go_uncompared():
    ignored, total = map(sum, zip(*(nb.ignored_share(read(p)) for p in NOTEBOOKS),
                                  strict=True))
    assert ignored / total < 0.02, f"{ignored} of {total}"


def without_reason(cell):
    """What is wrong with a cell's tolerance; "" where nothing is."""
    allowed = within.tolerance(cell)
    if not allowed:
        return "a reason for no tolerance" if nb.REASON in cell.metadata else ""
    if nb.IGNORE_TAGS & set(cell.metadata.tags):
        return "a tolerance, and nothing is compared"
    if within.widest(cell.outputs, allowed) > within.WIDE:
        reason = cell.metadata.get(nb.REASON, "")
        return "" if reason.endswith(".") else f"{allowed}, over a third: {nb.REASON}?"
    return ""


@each_notebook
def test_a_wide_tolerance_has_a_reason(path):
    wrong = {cell.id: without_reason(cell) for cell in code_cells(path)}
    assert not any(wrong.values()), {k: v for k, v in wrong.items() if v}


@each_lesson
def test_stubs_come_from_the_solutions(path):
    answers = exercise_cells(read(nb.solution(path)))
    cells = exercise_cells(read(path))
    assert 1 <= len(answers) <= 2
    assert [c.source for c in cells] == [stubs.stub(a.source) for a in answers], (
        f"run: python -m tools.stubs {nb.number(path)}"
    )


@each_lesson
def test_stubs_fail_and_solutions_pass(path):
    """Reads the stored outputs, which strict nbval compares with a fresh run."""
    failed, passed = ([text for c in read(place).cells for _, text in reports(c)]
                      for place in (path, nb.solution(path)))
    assert len(failed) == len(passed) == len(exercise_cells(read(path)))
    assert all("not tried yet" in t and "✓" not in t for t in failed)
    assert all("✓" in t and "✗" not in t for t in passed)


def test_readme_says_of_the_lessons_what_they_are():
    text = (ROOT / "README.md").read_text("utf-8")
    assert readme.with_blocks(text) == text, "run: python -m tools.readme"
