"""A lesson as slides: a deck that stands on its own, on one page."""

import builtins
import functools
import html
import itertools
import re
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from helpers.files import ROOT
from tools import deck, slides, slides_page, timetable
from tools import notebook as nb
from tools.cells import Lesson

LESSONS = nb.lessons(ROOT)
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda p: p.stem)
each_subject = pytest.mark.parametrize("subject", timetable.subjects())
SMALLEST = 18  # pixels of a text, at 1280 x 720
CODE = re.compile(r'<div class="part code[^>]*>.*?</pre>', re.S)


def deck_of(*sources, **options):
    """Slides of Markdown cells and, for text that begins with `>>>`, code cells."""
    cells = [new_markdown_cell("# Title\n\n## Setup")]
    for source in sources:
        if source.startswith(">>>"):
            code, _, printed = source[3:].partition("\n->")
            shown = [new_output("stream", text=printed)] * bool(printed)
            cells.append(new_code_cell(code, outputs=shown))
        else:
            cells.append(new_markdown_cell(source))
    lesson = Lesson(Path("01a_lesson.ipynb"), new_notebook(cells=cells))
    return deck.Deck(lesson, **options)


def words(shown):
    return html.unescape(re.sub(r"<[^>]+>", "", shown))


@functools.cache
def shown_in(name):
    """The slides of a lesson, or of a class on a subject, one after the other."""
    [*lessons] = [path for path in LESSONS if path.stem == name]
    columns = slides.of_lesson(lessons[0]) if lessons else slides.of_class(name)
    return list(itertools.chain(*columns))


def stands_on_its_own(shown):
    """Refuses names that were not shown, blank slides, stumps, and local links."""
    known = set(dir(builtins)) | deck.EVERYBODY_KNOWS
    for slide in shown:
        code = "\n".join(words(code) for code in CODE.findall("".join(slide.parts)))
        bound, used = deck.names(code)
        assert used - bound - known == set(), slide.where
        known |= bound
        asked = [part for part in slide.parts if "fragment" not in part.split(">")[0]]
        assert slide.figure or "".join(map(words, asked)).strip(), slide.where
        assert slide.solid or slide.figure or not slide.where, asked
        assert not re.search(r":\s*(</(?!pre)\w+>\s*)*$", slide.parts[-1]), slide.parts
        links = re.findall(r'href="([^"]+)"', "".join(slide.parts + slide.notes))
        assert all(re.match(r"https?://|#", link) for link in links), links


@each_lesson
def test_a_deck_stands_on_its_own_and_has_its_figures_and_tables(lesson):
    shown = shown_in(lesson.stem)
    stands_on_its_own(shown)
    cells = Lesson(lesson).cells
    figures = [deck.figures(cell) for cell in cells if cell.cell_type == "code"]
    parts = "".join(part for slide in shown for part in slide.parts if not slide.figure)
    assert all(len(slide.parts) == 1 for slide in shown if slide.figure)
    assert sum(slide.figure for slide in shown) == sum(map(len, figures))
    assert all(alt for alt, _ in itertools.chain(*figures))
    text = "".join(c.source + "\n" for c in cells if c.cell_type == "markdown")
    assert parts.count("<table") == len(re.findall(r"^\|[ :|-]+$", text, re.M))
    assert sum(bool(slide.notes) for slide in shown) > len(shown) / 2


@each_subject
def test_a_class_of_two_hours_goes_by_the_clock(subject):
    shown = shown_in(subject)
    stands_on_its_own(shown)
    paths = timetable.subjects()[subject]
    plan = timetable.timetable(list(map(Lesson, paths)), timetable.advice())
    headings = [words(heading) for slide in shown for heading in
                re.findall(r"<h2>.*?</h2>", slide.parts[0])]
    planned = [words(slides_page.inline(step.title)) for step in plan.steps[:-1]
               if step.title != "a break"]
    assert [title for title in headings if title in planned] == planned
    clocks = [match[1] for slide in shown for note in slide.notes
              if (match := re.match(r"<p><strong>(\d:\d\d)</strong>", note))]
    assert clocks == [step.clock for step in plan.steps if step.title != "a break"]
    rests = [step for step in plan.steps if step.title == "a break"]
    assert len(rests) == sum(title.startswith("A break") for title in headings)
    for path in paths:  # what a class skips
        of_lesson = [part for slide in shown for part in slide.parts
                     if slide.where.startswith(nb.number(path))]
        for title in timetable.left_out(timetable.advice()[nb.number(path)]):
            kept = any(step.title.startswith(title) for step in plan.steps)
            assert kept or not any(f">{title}" in part for part in of_lesson)


def test_the_notes_hold_the_advice_of_the_guide():
    shown = shown_in("03a_queues_and_coordinators")
    first, *rest = ["".join(slide.notes) for slide in shown]
    assert "Ask aloud" in first and "Common wrong answers" in first
    assert "Where readers stumble" in first and "enqueue waits\n" in first
    [figure] = [notes for slide, notes in zip(shown[1:], rest, strict=True)
                if "<iframe" in slide.parts[0]]
    assert "Live:" in figure
    assert [words(slide.parts[0]) for slide, notes in zip(shown[1:], rest, strict=True)
            if "Ask aloud" in notes] == ["What you can do now"]
    assert "0:12 in a class" in words("".join(rest))


def test_an_answer_waits_for_a_key_beside_its_question():
    [asked, _] = deck_of("## Subject\n\nIt is so.\n\n**Predict:** what now?",
                         ">>>one = 1", ">>>print(one)\n->1", "It was 1.\n\nSo what?",
                         ">>>print(2)\n->2").columns["Subject"]
    *visible, answer = asked.parts
    assert "fragment" in answer and "fragment" not in "".join(visible)
    assert "what now" in words("".join(visible)) and "one = 1" in words(visible[-2])
    assert "It was 1" in "".join(asked.notes) and not asked.figure


def test_code_brings_what_was_not_shown_before_it():
    columns = deck_of(
        ">>>from helpers import lesson\nfrom math import pi, tau\nimport re\nROOM = 4",
        "## Left out", ">>>def half(x):\n    return x / ROOM / pi", "## Kept",
        ">>>print(half(1))\n->0.1", titles=["Title", "Kept"]).columns
    shown = words("".join(columns["Kept"][0].parts))
    assert list(columns) == ["Title", "Kept"]
    lines = ["from math import pi, tau", "ROOM = 4", "def half", "print(half(1))"]
    places = [shown.index(line) for line in lines]
    assert places == sorted(places) and "lesson" not in shown and "re" not in shown[:6]


def test_a_set_up_that_does_something_is_shown_without_its_imports():
    columns = deck_of(">>>import numpy as np", ">>>for k in range(3):\n    print(k)",
                      "## Subject").columns
    assert "range(3)" in words("".join(columns["Setup"][0].parts))
    assert "import" not in words("".join(columns["Setup"][0].parts))


@pytest.mark.parametrize(("text", "leads_to", "shown"), [
    ("First. Second: all.", "", ""),
    ("First. A **term** is a word. Third.", "", "A **term** is a word."),
    ("First. It is a **term**.", "", "First. It is a **term**."),
    ("First. Next, we run it:", "code", "First. Next, we run it:"),
    ("First. What now? We print them.", "code", "What now?"),
    ("First. What now? There are two ways:", "list", "There are two ways:"),
    ("A **term** is a word. In the figure:", "", "A **term** is a word."),
])
def test_a_slide_shows_definitions_and_what_leads_to_the_code(text, leads_to, shown):
    assert deck.chosen(text, leads_to=leads_to, opening=False) == shown
    opens = deck.chosen(text, leads_to=leads_to, opening=True)
    assert opens.startswith(deck.sentences(text)[0])


def test_a_long_text_is_split_between_its_paragraphs():
    lines = [f"line {k}" if k % 8 else "" for k in range(1, 50)]
    pieces = list(deck.split("\n".join(lines)))
    assert [piece.count("\n") + 1 for piece in pieces] == [15, 15, 17]
    assert words("\n".join(pieces)).split() == " ".join(lines).split()


# In a browser

MEASURED = """scale => Reveal.getSlides().map(slide => {
  const {h, v} = Reveal.getIndices(slide), page = slide.querySelector(".page");
  const inside = e => !e.closest("aside") && e.getClientRects().length;
  const visible = () => {
    const walker = document.createTreeWalker(page, NodeFilter.SHOW_TEXT), seen = [];
    while (walker.nextNode()) {
      const parent = walker.currentNode.parentElement, style = getComputedStyle(parent);
      if (walker.currentNode.data.trim() && style.visibility === "visible"
          && !parent.closest(".where")) seen.push(parseFloat(style.fontSize));
    }
    return seen;
  };
  Reveal.slide(h, v, -1);
  const begins = visible().length + page.querySelectorAll("img, iframe").length;
  Reveal.slide(h, v, 99);
  const all = [...page.querySelectorAll("*")].filter(inside);
  const box = page.getBoundingClientRect();
  const cut = all.some(e => {
    const {top, left, bottom, right} = e.getBoundingClientRect();
    return top < box.top - 1 || left < box.left - 1 || right > box.right + 1
      || bottom > box.bottom + 1 || e.scrollWidth > e.clientWidth + 1
        && /auto|scroll|hidden/.test(getComputedStyle(e).overflow);
  });
  const figure = page.querySelector("img, iframe");
  const frame = !!page.querySelector("iframe"), where = page.dataset.where;
  const least = Math.min(...visible(), 99) * Reveal.getScale();
  return {place: `${h}/${v}`, where, blank: !begins, cut, frame, least,
    fills: figure ? figure.clientWidth / 1280 : 1};
})"""
IN_FRAME = """async () => {
  for (let k = 0; k < 2; k++) await new Promise(requestAnimationFrame);
  const kinds = "#stage text, h1, label, legend, output";
  const every = [...document.querySelectorAll(kinds)];
  const texts = every.filter(e => e.textContent.trim() && e.getClientRects().length);
  const sizes = texts.map(e => {
    const {a, b, c, d} = e.getScreenCTM?.() ?? {a: 1, b: 0, c: 0, d: 1};
    return parseFloat(getComputedStyle(e).fontSize) * Math.sqrt(a * d - b * c);
  });
  const root = document.documentElement, view = document.querySelector("#view");
  const main = document.querySelector("main");
  return {least: Math.min(...sizes), cut: root.scrollHeight > innerHeight + 1
    || main.scrollHeight > main.clientHeight + 1
    || view.scrollWidth > view.clientWidth + 1 || root.scrollWidth > innerWidth + 1};
}"""
SIZES = ((1280, 720), (1920, 1080))


@pytest.fixture
def opened(page, tmp_path):
    """Opens the slides of a lesson or class; gives what went wrong, as a list."""
    pytest.importorskip("sphinx_revealjs")
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda m: m.type == "error" and wrong.append(m.text))

    def show(name, query=""):
        target = tmp_path / f"{name}.html"
        lessons = [path for path in LESSONS if path.stem == name]
        columns = slides.of_lesson(lessons[0]) if lessons else slides.of_class(name)
        target.write_text(slides_page.page(name, columns), encoding="utf-8")
        page.goto(target.as_uri() + query)
        page.locator(".reveal.ready").wait_for()
        return wrong

    return show


def measure(page):
    """What is wrong with the slides of the open deck, and its smallest text."""
    scale, found, least = page.evaluate("Reveal.getScale()"), [], []
    for slide in page.evaluate(MEASURED):
        if slide["frame"]:
            h, v = slide["place"].split("/")
            page.evaluate(f"Reveal.slide({h}, {v})")
            frame = page.locator(".present > .present iframe").element_handle()
            inside = frame.content_frame().evaluate(IN_FRAME)
            slide["cut"] |= inside["cut"]
            slide["least"] = min(slide["least"], inside["least"] * scale)
        least.append(slide["least"])
        if (slide["blank"] or slide["cut"] or slide["least"] < SMALLEST * scale - 0.01
                or slide["fills"] < 0.95):
            found.append(slide)
    return found, min(least)


@pytest.mark.slow
@pytest.mark.parametrize("names", [
    pytest.param(["05a_multi_tower_linear_regression", "14_control_flow"], id="two"),
    pytest.param([*(path.stem for path in LESSONS), *timetable.subjects()], id="all",
                 marks=pytest.mark.weekly)])
def test_nothing_on_a_slide_is_blank_or_cut_or_small(names, page, opened):
    wrong = {}
    for name, (width, height) in itertools.product(names, SIZES):
        page.set_viewport_size({"width": width, "height": height})
        assert opened(name) == []
        found, least = measure(page)
        print(name, width, page.evaluate("Reveal.getTotalSlides()"), "slides,", least)
        if found:
            wrong[name, width] = found
    assert wrong == {}


@pytest.mark.slow
def test_the_page_needs_no_other_file_and_shows_its_notes(page, opened):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    assert opened("01b_reuse_and_optimizers", "?showNotes=true") == []
    assert page.evaluate("Reveal.getTotalSlides()") > 20
    first = page.evaluate("Reveal.getIndices()")
    page.keyboard.press("Space")
    assert page.evaluate("Reveal.getIndices()") != first
    assert page.locator(".speaker-notes").first.inner_text().strip()
    others = [url for url in asked if not url.startswith(("data:", "blob:", "about:"))]
    assert [url.split("?")[0].split("#")[0] for url in others] == [
        page.url.split("?")[0]]


@pytest.mark.slow
def test_a_click_in_an_interactive_figure_leaves_the_keyboard_to_the_deck(page, opened):
    assert opened("03a_queues_and_coordinators") == []
    place = "Reveal.getIndices()"
    page.evaluate("""() => {
      const slide = document.querySelector("iframe").closest("section");
      const {h, v} = Reveal.getIndices(slide);
      Reveal.slide(h, v);
    }""")
    figure = page.evaluate(place)
    inside = page.frame_locator(".present > .present iframe")
    before = inside.locator("#says").text_content()
    inside.get_by_role("radio", name="closed").click()
    assert inside.locator("#says").text_content() != before
    page.wait_for_function("document.activeElement === document.body")
    for forwards, backwards in (("ArrowRight", "ArrowLeft"), ("Space", "PageUp")):
        page.keyboard.press(forwards)
        assert page.evaluate(place) != figure
        page.keyboard.press(backwards)
        assert page.evaluate(place) == figure
        inside.locator("#stage").click()
        page.wait_for_function("document.activeElement === document.body")
    # With the keyboard alone, keys work in the figure until a page is turned.
    inside.get_by_role("radio", name="left open").press("Space")
    assert inside.locator("#says").text_content() == before
    assert page.evaluate(place) == figure
    page.keyboard.press("PageDown")
    page.wait_for_function(
        "({h, v}) => Reveal.getIndices().h !== h || Reveal.getIndices().v !== v",
        arg=figure)


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("names", [
    pytest.param([], id="some"),
    pytest.param(["03a_queues_and_coordinators", "14_control_flow"], id="all",
                 marks=pytest.mark.weekly)])
def test_axe_finds_nothing_serious(names, page, opened, theme):
    axe = pytest.importorskip("axe_playwright_python")
    page.emulate_media(color_scheme=theme)
    for name in names or ["05a_multi_tower_linear_regression"]:
        assert opened(name) == []
        page.evaluate(Path(axe.__file__).with_name("axe.min.js").read_text("utf-8"))
        places = page.evaluate("Reveal.getSlides().map(s => Reveal.getIndices(s))")
        for place in places if names else places[5:7]:
            page.evaluate("({h, v}) => Reveal.slide(h, v, 99)", place)
            found = [(each["id"], [node["html"][:120] for node in each["nodes"]])
                     for each in page.evaluate("axe.run()")["violations"]
                     if each["impact"] in ("serious", "critical")]
            assert found == [], (name, place)
