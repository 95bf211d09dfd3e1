"""The book: built once, then every page opened in a browser, from the disk.

A page may ask for files beside it and for nothing else.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_output
from playwright.sync_api import expect

from helpers.files import ROOT
from tests.limits import LIMIT
from tools import book, book_notebooks, book_pages
from tools import notebook as nb

LESSONS = nb.lessons(ROOT)
DRAWS = "fig, ax = plt.subplots()\nax.plot(a)\nax.set(b)\nax.text(c)\nshow(fig)"
HEADINGS = """() => [...document.querySelectorAll(
    'article h1, article h2, article h3, article h4, article h5, article h6')]
    .map(h => [Number(h.tagName[1]), h.textContent])"""
PICTURES = """() => [...document.querySelectorAll('article img, article svg')]
    .filter(e => !e.closest('[aria-hidden=true]'))
    .map(e => e.getAttribute('alt') || e.getAttribute('aria-label') || '')"""
DEAD_ENDS = """() => [...document.querySelectorAll('article a[href^="#"]')]
    .map(a => decodeURIComponent(a.hash.slice(1)))
    .filter(id => id && !document.getElementById(id))"""
FOUND = """() => [...document.querySelectorAll('#search-results li a')]
    .map(a => a.getAttribute('href').split('?')[0].split('#')[0])"""


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """The folder of a finished book, made where nothing counts lines or warnings."""
    folder = tmp_path_factory.mktemp("book") / "book"
    program = ("import pathlib, sys; from tools import book; "
               "book.make(pathlib.Path(sys.argv[1]))")
    done = subprocess.run([sys.executable, "-c", program, folder], cwd=ROOT,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.fixture(scope="session")
def visit(browser):
    """Opens files in one theme and notes what goes wrong on the way."""
    opened = []

    def open_in(theme):
        context = browser.new_context(color_scheme=theme)
        context.set_default_timeout(1000 * LIMIT)
        opened.append(context)
        page, wrong = context.new_page(), []
        # A film stands in a frame of its own, which is not allowed to store anything.
        context.add_init_script(
            f"self === top && localStorage.setItem('mode', '{theme}')")
        inside = ("file:", "data:", "blob:", "about:srcdoc")
        page.on("request", lambda r: r.url.startswith(inside)
                or wrong.append(f"outside: {r.url}"))
        page.on("requestfailed", lambda r: wrong.append(f"failed: {r.url}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("console", lambda message: message.type == "error"
                and wrong.append(f"console: {message.text}"))
        return page, wrong

    yield open_in
    for context in opened:
        context.close()


def htmls(folder):
    """The pages; the theme keeps a piece of its own among its styles."""
    return [path for path in sorted(folder.rglob("*.html"))
            if "_static" not in path.parts]


@pytest.mark.slow
@pytest.mark.parametrize("every", [
    pytest.param(8, id="some"), pytest.param(1, id="all", marks=pytest.mark.weekly)])
def test_every_page_opens_with_no_network_and_no_error(every, pages, visit):
    page, wrong = visit("light")
    found, pictures = htmls(pages), 0
    assert len(found) > len(LESSONS) + 20
    for path in found[::every]:
        page.goto(path.as_uri(), wait_until="load")
        name = path.relative_to(pages).as_posix()
        assert not wrong, f"{name}: {wrong[:3]}"
        if name != "search.html":  # the theme writes it, and a script fills it
            pictures += pictures_with_words_below_headings_in_order(page, name)
    assert pictures > 40 // every


def pictures_with_words_below_headings_in_order(page, name):
    """Looks at a page that is open, and at where its links lead; counts pictures."""
    levels = [level for level, _ in page.evaluate(HEADINGS)]
    assert levels[:1] == [1] and levels.count(1) == 1, name
    steps = zip(levels, levels[1:], strict=False)
    assert all(after <= before + 1 for before, after in steps), name
    words = page.evaluate(PICTURES)
    assert all(words), name
    assert page.evaluate(DEAD_ENDS) == [], name
    return len(words)


@pytest.mark.slow
def test_in_the_dark_a_figure_is_a_grey_card(pages, visit):
    page, wrong = visit("dark")
    films, figures = (
        path.stem for path in LESSONS if nb.number(path) in ("03b", "13c"))
    page.goto((pages / "notebooks" / f"{figures}.html").as_uri())
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    figure = page.locator(".cell_output img").first
    look = figure.evaluate("e => getComputedStyle(e).filter")
    assert look == "brightness(0.82)"
    ground = figure.evaluate("e => getComputedStyle(e).backgroundColor")
    assert ground == "rgb(255, 255, 255)"
    formula = page.locator("svg.formula").first
    ink = formula.evaluate("e => getComputedStyle(e).fill")
    assert ink == formula.evaluate("e => getComputedStyle(e.parentElement).color")
    page.goto((pages / "notebooks" / f"{films}.html").as_uri())
    film = page.locator(".cell_output iframe").first
    ground = film.evaluate("e => getComputedStyle(e.parentElement).backgroundColor")
    assert ground == "rgba(0, 0, 0, 0)" and not wrong


@pytest.mark.slow
@pytest.mark.parametrize("at_most", [
    pytest.param(3, id="some"), pytest.param(99, id="all", marks=pytest.mark.weekly)])
def test_interactive_figures_work_by_keyboard_on_a_phone(at_most, pages, visit):
    """And axe-core, of Deque, finds nothing serious in the first three."""
    page, wrong = visit("light")
    page.set_viewport_size({"width": 390, "height": 800})
    seen = 0
    for path in sorted((pages / "notebooks").glob("*.html")):
        if "class='explore-still'" not in path.read_text("utf-8") or seen == at_most:
            continue
        page.goto(path.as_uri())
        frame = page.locator("iframe[title]").first
        frame.scroll_into_view_if_needed()
        inside = frame.content_frame
        assert inside.locator("body").evaluate(
            "e => document.documentElement.scrollWidth <= innerWidth"), path.stem
        before = inside.locator("#says").text_content()
        turned = set()
        for control in inside.locator("[type=range], input:checked").all():
            for key in ("ArrowRight", "ArrowLeft", "ArrowLeft"):
                control.focus()
                page.keyboard.press(key)
                turned.add(inside.locator("#says").text_content())
        assert turned - {before}, path.stem
        seen += 1
        if seen <= 3:
            serious(frame.element_handle().content_frame())
    assert seen >= min(at_most, 10) and not wrong


def serious(frame):
    """Refuses what axe-core finds to be serious in an interactive figure."""
    axe = pytest.importorskip("axe_playwright_python")
    frame.evaluate(Path(axe.__file__).with_name("axe.min.js").read_text("utf-8"))
    found = frame.evaluate("axe.run()")["violations"]
    assert not [one["nodes"][0]["html"] for one in found
                if one["impact"] in ("serious", "critical")]


@pytest.mark.slow
def test_the_film_of_the_front_page_moves(pages, visit):
    page, wrong = visit("light")
    page.goto((pages / "index.html").as_uri())
    film = page.locator("img[src$='film.svg']")
    first = film.screenshot()
    page.wait_for_timeout(3000)  # half of the film
    assert film.screenshot() != first and not wrong


def test_the_film_shows_two_queues_that_fill_and_one_that_stays_empty():
    text = (ROOT / "docs" / "film.svg").read_text("utf-8")
    levels = [[int(level) for level in re.findall(r">(\d+) of \d+<", frame)]
              for frame in text.split("class='frame'")[1:]]
    assert len(levels) >= 12
    assert levels[0] < levels[5] < levels[-1] == [8, 6, 0]
    assert all(empty == 0 for _, _, empty in levels)


@pytest.mark.slow
def test_the_search_finds_from_the_disk(pages, visit):
    page, wrong = visit("light")
    page.goto((pages / "search.html").as_uri() + "?q=QueueRunner")
    page.locator("#search-results li a").first.wait_for()
    page.wait_for_function("document.querySelector('.search-summary')"
                           "?.textContent.match(/[0-9]+ page|found/)")
    assert "notebooks/03a_queues_and_coordinators.html" in page.evaluate(FOUND)
    assert "glossary.html" in page.evaluate(FOUND)
    titles = page.locator("#search-results li a").all_text_contents()
    assert "03a Feed a step from queues and threads" in titles
    expect(page.locator("#search-results li").filter(
        has_text="03a").locator(".context").first).to_contain_text("QueueRunner")
    excerpts = page.locator("#search-results .context").all_text_contents()
    assert not re.search(r"\btf1? \. ", " ".join(excerpts))  # code in pieces
    assert not wrong


@pytest.mark.slow
def test_a_solution_is_folded_under_each_exercise(pages):
    for lesson in LESSONS:
        text = (pages / "notebooks" / f"{lesson.stem}.html").read_text("utf-8")
        wanted = len(book_notebooks.solved(lesson))
        assert text.count(book_notebooks.SHOW) == wanted >= 1


@pytest.mark.parametrize("source, outputs, later, folded", [
    (DRAWS, "figure", "fig, ax = plt.subplots()\nax.plot(2)", True),
    (DRAWS, "figure", "print(ax)", False),
    (DRAWS, "figure text", "", False),
    (DRAWS, "", "", False),
    (DRAWS.replace("ax.set", "session.run"), "figure", "", False),
    (DRAWS.replace("\n", "; "), "figure", "", False),
])
def test_the_code_of_a_cell_that_only_draws_is_folded(source, outputs, later, folded):
    made = {"figure": [new_output("display_data", {"image/png": "iVBO"}),
                       new_output("display_data", {"text/plain": "Figure: A box."})],
            "text": [new_output("stream", name="stdout", text="1")]}
    cell = new_code_cell(source, outputs=sum(map(made.get, outputs.split()), []))
    found = book_notebooks.only_draws(cell, [new_code_cell(later)])
    assert found == folded


def test_each_pitfall_of_the_lessons_has_a_row():
    text = (ROOT / "docs" / "pitfalls.md").read_text("utf-8")
    page = book_pages.pitfall_page(text)
    assert page.count("](#cell-") == len(book_pages.pitfalls()) > 50
    assert "course.py book" in text and "course.py book" not in page
    first = next(iter(book_pages.pitfalls()))
    lost = re.sub(rf"^.*{first[0]}: {re.escape(first[1])}.*$", "", text, flags=re.M)
    with pytest.raises(ValueError, match="missing from docs/pitfalls.md"):
        book_pages.pitfall_page(lost)
    with pytest.raises(ValueError, match="missing from lesson 01"):
        book_pages.pitfall_page(text + "\n| a | b | 01: no such pitfall |\n")


def test_each_term_is_quoted_from_its_lesson():
    terms = (book.SETTINGS / "terms.txt").read_text("utf-8")
    page = book_pages.glossary_page(terms)
    assert page.count("\n:   ") == len(terms.splitlines()) - 1 > 80
    with pytest.raises(ValueError, match="found it in 0"):
        book_pages.glossary_page("shelf | 01 | no lesson says this")
