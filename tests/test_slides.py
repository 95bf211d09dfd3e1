"""A lesson as slides: one page, no other file, everything shown has its words."""

import functools
import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from helpers.files import ROOT
from tools import notebook as nb
from tools import slides

LESSONS = nb.lessons(ROOT)
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda p: p.stem)


def cells(*sources):
    """Markdown and, for text that begins with `>>>`, code with one output."""
    made = []
    for source in sources:
        if source.startswith(">>>"):
            shown = new_output("stream", text="printed\n")
            made.append(new_code_cell(source[3:], outputs=[shown]))
        else:
            made.append(new_markdown_cell(source))
    return made


LESSON = ["# Title\n\nAn opening.", "## First\n\nIt is so. And so.", ">>> one",
          "**Predict:** what now?\n\nSome words.", ">>> two", "## Second\n\nThe end.",
          ">>> three"]


def test_a_section_is_a_column_and_code_joins_the_slide_before_it():
    columns = slides.slides(cells(*LESSON))
    assert [len(column) for column in columns] == [1, 1, 1]
    assert "what now" in columns[1][0].shown and "printed" in columns[2][0].shown


@functools.cache
def slides_of(lesson):
    return slides.slides(nbformat.read(lesson, as_version=4).cells)


@each_lesson
def test_every_lesson_has_slides_with_notes(lesson):
    columns = slides_of(lesson)
    every = [slide for column in columns for slide in column]
    assert len(columns) >= 6 and all(slide.shown.strip() for slide in every)
    for column in columns:
        assert len(column) == 1 or not any(map(slides._is_thin, column))
    assert sum(bool(slide.notes.strip()) for slide in every) > len(every) / 3
    images = re.findall(r"<img [^>]*>", "".join(slide.shown for slide in every))
    assert all(re.search(r"alt=[\"'].", image) for image in images)
    links = re.findall(r'href="([^"]+)"', "".join(s.shown + s.notes for s in every))
    assert all(re.match(r"https?://|#", link) for link in links), links


@pytest.mark.slow
def test_the_page_needs_no_other_file_and_turns_by_keyboard(page, tmp_path):
    pytest.importorskip("sphinx_revealjs")
    target = tmp_path / "lesson.html"
    target.write_text(slides.page(LESSONS[4]), encoding="utf-8")
    asked, wrong = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda m: m.type == "error" and wrong.append(m.text))
    page.goto(target.as_uri() + "?showNotes=true")
    page.locator(".reveal.ready").wait_for()
    assert page.evaluate("Reveal.getTotalSlides()") > 10
    first = page.evaluate("Reveal.getIndices()")
    page.keyboard.press("Space")
    assert page.evaluate("Reveal.getIndices()") != first
    assert page.locator(".speaker-notes").first.inner_text().strip()
    others = [url for url in asked if not url.startswith(("data:", "blob:", "about:"))]
    assert [url.split("?")[0] for url in others] == [target.as_uri()]
    assert not wrong


MEASURED = """() => Reveal.getSlides().flatMap(slide => {
  const {h, v} = Reveal.getIndices(slide);
  Reveal.slide(h, v, 99);
  const all = [...Reveal.getCurrentSlide().querySelectorAll('*')].filter(
    e => !e.closest('aside') && e.getClientRects().length);
  const boxes = all.map(e => e.getBoundingClientRect());
  const scrolls = all.some(e => /auto|scroll/.test(getComputedStyle(e).overflow)
    && (e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1));
  const cut = boxes.some(b => b.top < 0 || b.left < 0 || b.bottom > innerHeight
    || b.right > innerWidth);
  return scrolls || cut ? [`${h}/${v}`] : [];
})"""


@pytest.mark.slow
@pytest.mark.parametrize("lessons", [
    pytest.param(LESSONS[::7], id="some"),
    pytest.param(LESSONS, id="all", marks=pytest.mark.weekly)])
def test_nothing_on_a_slide_scrolls_or_is_cut(lessons, page, tmp_path):
    pytest.importorskip("sphinx_revealjs")
    target, wrong = tmp_path / "lesson.html", {}
    for lesson in lessons:
        target.write_text(slides.page(lesson), encoding="utf-8")
        for width, height in ((1280, 720), (1920, 1080)):
            page.set_viewport_size({"width": width, "height": height})
            page.goto(target.as_uri())
            page.locator(".reveal.ready").wait_for()
            if bad := page.evaluate(MEASURED):
                wrong[lesson.stem, width] = bad
    assert wrong == {}


def test_a_question_has_what_is_built_and_its_answer_is_not_told():
    built = new_code_cell("built = 1")
    head, *rest = cells("## First\n\nIt is so.", "**Predict:** what now?", ">>> two",
                        "Three come.\n\n## Second\n\nAn end.")
    [first, asked], [second] = slides.slides([head, built, *rest])
    assert "built" in first.shown and "Three" not in asked.shown + second.shown
    assert "Three come" in asked.notes and "An end" in second.shown


def test_an_answer_is_a_second_step_and_drawing_code_is_not_shown():
    [asked] = slides.slides(cells(*LESSON))[1]
    assert "one" not in asked.shown  # it stands before the question
    assert re.search(r'two.*<div class="fragment">.*printed', asked.shown, re.S)
    [drawn] = cells(">>>plot()")
    drawn.outputs = [new_output("display_data", {"image/png": "iVBO"})]
    assert "plot" not in slides.code(drawn) and "<img" in slides.code(drawn)


@each_lesson
def test_no_sentence_announces_what_is_not_there(lesson):
    columns = slides_of(lesson)
    stumps = [slide.shown[-80:] for column in columns for slide in column
              if re.search(r":\s*(</\w+>\s*)*$", slide.shown)]
    assert stumps == []


@pytest.mark.slow
def test_an_interactive_figure_works_in_a_slide(page, tmp_path):
    pytest.importorskip("sphinx_revealjs")
    target = tmp_path / "lesson.html"
    [lesson] = nb.lessons(ROOT, ["03a"])
    target.write_text(slides.page(lesson), encoding="utf-8")
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(target.as_uri())
    page.locator(".reveal.ready").wait_for()
    for _ in range(100):
        if page.evaluate("!!Reveal.getCurrentSlide().querySelector('iframe')"):
            break
        page.keyboard.press("Space")
    inside = page.frame_locator(".present > .present iframe")
    before = inside.locator("#says").text_content()
    place = page.evaluate("Reveal.getIndices()")
    inside.get_by_role("radio", name="closed").press("Space")
    assert inside.locator("#says").text_content() != before
    assert page.evaluate("Reveal.getIndices()") == place
    assert inside.locator("body").evaluate(
        "e => document.documentElement.scrollHeight <= innerHeight")
