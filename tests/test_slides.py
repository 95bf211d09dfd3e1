"""A lesson as slides: one page, no other file, everything shown has its words."""

import re
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from tools import notebook as nb
from tools import slides

ROOT = Path(__file__).resolve().parents[1]
LESSONS = nb.lessons(ROOT)
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda p: p.stem)


def cells(*sources, tags=()):
    """Markdown and, for text that begins with `>>>`, code with one output."""
    made = []
    for source in sources:
        if source.startswith(">>>"):
            shown = new_output("stream", text="printed\n")
            made.append(new_code_cell(source[3:], outputs=[shown]))
        else:
            made.append(new_markdown_cell(source))
    for index in tags:
        made[index].metadata["tags"] = ["slide"]
    return made


LESSON = ["# Title\n\nAn opening.", "## First\n\nIt is so. And so.", ">>> one",
          "**Predict:** what now?\n\nSome words.", ">>> two", "## Second\n\nThe end.",
          ">>> three"]


def test_no_slide_is_a_heading_or_a_sentence_alone():
    [column] = slides.slides(cells(
        "## Head\n\nIt begins. Say more.", ">>> one", "So it was. And more.",
        "### Part\n\nThe next.", "- a list", "**Predict:** what?", tags=range(6)))
    assert [bool(slides.HEADED.search(s.shown)) for s in column] == [True, True, False]
    assert "printed" in column[0].shown and "So it was." in column[0].shown
    assert "And more." in column[0].notes
    assert "a list" in column[1].shown and "what?" in column[2].shown


def test_a_section_is_a_column_and_code_joins_the_slide_before_it():
    columns = slides.slides(cells(*LESSON))
    assert [len(column) for column in columns] == [1, 2, 1]
    assert "printed" in columns[1][0].shown and "what now" in columns[1][1].shown


def test_a_film_is_shown_and_other_html_is_its_words():
    film, table = (new_output("display_data", {"text/html": page, "text/plain": "w"})
                   for page in ("<iframe></iframe>", "<table></table>"))
    shown = slides.code(new_code_cell("movie.show()", outputs=[film, table]))
    assert shown.count("<iframe>") == 1 and "<table>" not in shown
    assert shown.count('tabindex="0">w</pre>') == 1


@each_lesson
def test_every_lesson_has_slides_with_notes(lesson):
    import nbformat

    columns = slides.slides(nbformat.read(lesson, as_version=4).cells)
    every = [slide for column in columns for slide in column]
    assert len(columns) >= 6 and all(slide.shown.strip() for slide in every)
    for column in columns:
        assert len(column) == 1 or not any(map(slides._is_thin, column))
    assert sum(bool(slide.notes.strip()) for slide in every) > len(every) / 3
    images = re.findall(r"<img [^>]*>", "".join(slide.shown for slide in every))
    assert all(re.search(r'alt="[^"]+"', image) for image in images)
    links = re.findall(r'href="([^"]+)"', "".join(s.shown + s.notes for s in every))
    assert all(re.match(r"https?://|#", link) for link in links), links


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_needs_no_other_file_and_turns_by_keyboard(browser, tmp_path, theme):
    pytest.importorskip("sphinx_revealjs")
    target = tmp_path / "lesson.html"
    target.write_text(slides.page(LESSONS[4]), encoding="utf-8")
    context = browser.new_context(color_scheme=theme)
    page, asked, wrong = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda m: m.type == "error" and wrong.append(m.text))
    page.goto(target.as_uri() + "?showNotes=true")
    page.locator(".reveal.ready").wait_for(timeout=60_000)
    assert page.evaluate("Reveal.getTotalSlides()") > 10
    first = page.evaluate("Reveal.getIndices()")
    page.keyboard.press("Space")
    assert page.evaluate("Reveal.getIndices()") != first
    assert page.locator(".speaker-notes").first.inner_text().strip()
    others = [url for url in asked if not url.startswith(("data:", "blob:", "about:"))]
    assert [url.split("?")[0] for url in others] == [target.as_uri()]
    assert not wrong
    context.close()
