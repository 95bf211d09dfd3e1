"""Interactive figures: what they store, and what a reader can do with them."""

import itertools
import re
from pathlib import Path
from xml.dom import minidom

import numpy as np
import pytest
from playwright.sync_api import expect

from helpers import svg
from helpers.explore import Frame, explore

AXES = svg.box(0, 0, 300, 100, "soft", fill="none", stroke="currentColor")


def bar(height, place):
    """A frame of two layers; the sentence has the numbers."""
    drawn = svg.box(40 * place, 100 - height, 30, height, "a") + svg.text(
        40 * place, 90 - height, f"{height} < 101 & more")
    said = f"The bar {place} is {height} high: it's < 101 & \"so\"."
    return Frame([AXES, drawn], said)


def bars(**options):
    return explore(bar, "How high is it?", size=(300, 100), height=[10, 20, 50],
                   place=list(range(8)), names={"place": "which bar"}, **options)


def test_every_setting_has_a_frame_and_what_is_shared_is_stored_once():
    made = bars()
    settings = itertools.product(["10", "20", "50"], map(str, range(8)))
    assert list(made.frames) == list(settings)
    assert made.page().count(AXES) == 1
    assert made.page().count("<g>") == 1 + 24
    assert made._repr_html_().count("high: it") == 24 + 24 + 1  # page, table, still


def test_the_pieces_of_a_drawing_are_sound_and_round():
    values = np.arange(6).reshape(2, 3)
    pieces = [AXES, *bar(10, 1).layers, svg.line([0, 1.26], [2.74, 3], "bad"),
              svg.picture(1, 2, values, np.eye(6, 3, dtype=int) * 255, scale=5)]
    minidom.parseString(f"<svg>{''.join(pieces)}</svg>")
    assert "d='M0 2.5L1.5 3'" in pieces[-2]
    assert "width='15' height='10'" in pieces[-1]


def test_a_page_stays_small_enough_to_look_through():
    with pytest.raises(ValueError, match="got 1 controls and 31 settings"):
        explore(bar, "?", size=(1, 1), height=list(range(31)))
    with pytest.raises(ValueError, match="got 4 controls and 1 settings"):
        explore(bar, "?", size=(1, 1), a=[0], b=[0], c=[0], d=[0])
    with pytest.raises(ValueError, match=r"2\d\d kB, but the limit is 130 kB"):
        explore(lambda k: Frame([str(k) * 10_000], "."), "?", size=(1, 1),
                k=list(range(10, 20)))


@pytest.fixture
def opened(page, tmp_path):
    """Opens a document and gives the interactive figure in it; no request leaves."""
    asked = []
    page.on("request", lambda request: asked.append(request.url))

    def open_one(document):
        path = tmp_path / "page.html"
        path.write_text(f"<!doctype html><title>t</title><body>{document}", "utf-8")
        page.goto(path.as_uri())
        return page.frame_locator("iframe")

    yield open_one
    assert all(url.startswith(("file:", "data:", "about:")) for url in asked)


def serious(frame):
    """What axe-core (of Deque) finds in a frame, by rule and element."""
    axe = pytest.importorskip("axe_playwright_python")
    frame.evaluate(Path(axe.__file__).with_name("axe.min.js").read_text("utf-8"))
    return [(found["id"], found["nodes"][0]["html"])
            for found in frame.evaluate("axe.run()")["violations"]
            if found["impact"] in ("serious", "critical")]


def says(inside):
    return inside.locator("#says").text_content()


@pytest.mark.slow
def test_the_controls_work_by_keyboard_and_say_what_they_show(page, opened):
    inside = opened(bars(start={"height": 20})._repr_html_())
    assert says(inside) == "The bar 0 is 20 high: it's < 101 & \"so\"."
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    expect(inside.locator("#says")).to_contain_text("The bar 0 is 50 high")
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    expect(inside.locator("#says")).to_contain_text("The bar 7 is 50 high")
    slider = inside.get_by_role("slider", name="which bar")
    assert slider.get_attribute("aria-valuetext") == "7"
    stage = inside.locator("#stage")
    assert stage.get_attribute("aria-label") == says(inside)
    assert "50 < 101 & more" in stage.text_content()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(inside.locator("#says")).to_contain_text("The bar 0 is 20 high")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    rows = inside.locator("tr")
    assert rows.count() == 25
    assert rows.nth(0).text_content() == "heightwhich barwhat happens"
    assert rows.nth(24).text_content().startswith("507The bar 7 is 50 high")


@pytest.mark.slow
@pytest.mark.parametrize(("width", "theme"), [(390, "light"), (900, "dark")])
def test_it_fits_and_follows_the_theme(page, opened, width, theme):
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=theme)
    wide = explore(bar, "?", size=(664, 84), place=[1],
                   height=[10**k for k in (1, 10, 11, 12)])
    inside = opened((wide if width == 390 else bars())._repr_html_())
    body = inside.locator("body")
    assert body.evaluate("e => document.documentElement.scrollWidth <= innerWidth")
    assert body.evaluate("e => document.documentElement.scrollHeight <= innerHeight")
    assert inside.locator("#stage").evaluate("e => 13 * e.getScreenCTM().a") > 11.9
    ground = body.evaluate("e => getComputedStyle(e).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 25, 29)"}[theme]


def shown(inside):
    """Names what the controls choose, in order."""
    return inside.locator("body").evaluate(
        "e => controls.map((name, k) => values[k][chosen(k)])")


# Time passes only when a test says so.
BY_HAND = """\
window.setInterval = turn => { window.turn = turn; return 1; };
window.clearInterval = () => { window.turn = () => {}; };
"""


def passes(inside, turns):
    for _ in range(turns):
        inside.locator("body").evaluate("e => turn()")


@pytest.mark.slow
def test_play_runs_from_the_first_value_to_the_last_and_can_pause(page, opened):
    page.add_init_script(BY_HAND)
    inside = opened(bars(start={"place": 5}, play="place")._repr_html_())
    button = inside.locator("#play")
    assert shown(inside) == ["10", "5"], "it opens at its start"
    button.press("Enter")
    assert shown(inside) == ["10", "0"]
    assert inside.locator("#says").get_attribute("aria-live") == "off"
    passes(inside, 2)
    assert shown(inside) == ["10", "2"] and "pause" in button.text_content()
    button.click()
    passes(inside, 5)
    assert shown(inside) == ["10", "2"] and "play" in button.text_content()
    button.click()
    passes(inside, 1)
    assert shown(inside) == ["10", "3"], "it goes on where it paused"
    passes(inside, 9)
    assert shown(inside) == ["10", "7"] and "play" in button.text_content()
    button.click()
    assert shown(inside) == ["10", "0"], "it begins again"
    passes(inside, 1)
    inside.get_by_role("radio", name="50").press("Space")
    passes(inside, 5)
    assert shown(inside) == ["50", "1"], "the reader took over"
    assert inside.locator("#says").get_attribute("aria-live") == "polite"


@pytest.mark.slow
def test_nothing_moves_by_itself_for_a_reader_who_asks_for_less_motion(page, opened):
    page.add_init_script(BY_HAND)
    page.emulate_media(reduced_motion="reduce")
    inside = opened(bars(start={"place": 6}, play="place")._repr_html_())
    button = inside.get_by_role("button", name="next")
    for place in ("7", "0", "1"):
        button.click()
        passes(inside, 3)
        assert shown(inside) == ["10", place]
    assert not opened(bars()._repr_html_()).locator("#play").is_visible()


@pytest.mark.slow
def test_a_click_on_a_part_of_a_drawing_chooses_its_value(page, opened):
    def frame(first, second):
        boxes = [svg.choice(svg.box(40 * k, 0, 30, 90, "a"), "the <2nd>", value)
                 for k, value in enumerate(["x", "it's", "z"])]
        return Frame(boxes, f"{first} {second}")

    made = explore(frame, "Which?", size=(300, 100), names={"second": "the <2nd>"},
                   first=[1, 2], second=["x", "it's", "z"])
    inside = opened(made._repr_html_())
    assert inside.get_by_text("also chooses: the <2nd>.").is_visible()
    for k, value in ((1, "it's"), (2, "z"), (0, "x")):
        inside.locator("#stage rect").nth(k).click()
        assert shown(inside) == ["1", value] and says(inside) == f"1 {value}"
    with pytest.raises(ValueError, match="Unknown value 'y' for control 'a'"):
        explore(lambda a: Frame([svg.choice("", "a", "y")], ""), "?", size=(9, 9),
                a=["x"])


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 700, 1280])
def test_a_drawing_fills_its_box_and_its_text_stays_legible(page, opened, width):
    page.set_viewport_size({"width": width, "height": 900})
    wide = explore(bar, "How high is it?", size=(700, 300), play="height",
                   height=[10, 20, 50], place=list(range(8)))
    inside = opened(wide._repr_html_())
    stage, view = inside.locator("#stage"), inside.locator("#view")
    scale = stage.evaluate("e => e.getScreenCTM().a")
    assert scale * 13 > 11.9
    drawn = stage.evaluate("e => [700, 300].map(side => side * e.getScreenCTM().a)")
    room = view.evaluate("e => [e.scrollWidth, e.clientHeight]")
    assert all(side > 0.8 * all_of for side, all_of in zip(drawn, room, strict=True))
    scrolls = width == 390
    assert inside.locator("#wider").is_visible() == scrolls
    assert view.get_attribute("tabindex") == ("0" if scrolls else None)
    first, second = (inside.locator(css).bounding_box()["y"]
                     for css in ("fieldset", ".range"))
    assert (second > first + 20) == scrolls, "one control above the other"


@pytest.mark.slow
def test_without_scripts_a_still_and_the_table_come_to_light(page, opened):
    output = bars(start={"height": 50})._repr_html_()
    opened(output)
    assert not page.locator("img").is_visible()
    # What JupyterLab leaves of it in a notebook that it does not trust.
    opened(re.sub("<style>.*?</style>(?=<div)|<iframe.*</iframe>", "", output,
                  flags=re.S))
    assert page.get_by_text("trust this notebook to use the controls").is_visible()
    assert page.locator("img").bounding_box()["width"] == 300
    assert page.locator("img").get_attribute("alt").startswith("The bar 0 is 50 high")
    page.get_by_text("All settings in words").click()
    assert page.locator("tr").count() == 25 and page.locator("tr").nth(24).is_visible()


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(page, opened, theme):
    page.emulate_media(color_scheme=theme)
    opened(bars()._repr_html_())
    assert serious(page.frames[1]) == []


# All of these are equal to another one, and no two have the same text.
EQUAL = [0, False, 0.0, -0.0, 0j, 1, True, 1.0, np.float32(1), 1 + 0j]
EQUAL = list({str(value): value for value in EQUAL}.values())


@pytest.mark.parametrize("values", list(itertools.permutations(EQUAL, 2)), ids=str)
def test_equal_values_have_a_frame_each(values):
    made = explore(lambda a, b: Frame(["<g/>"], repr((a, b))), "q", size=(9, 9),
                   start={"b": values[1]}, a=values, b=values)
    assert [frame.says for frame in made.frames.values()] == [
        repr(pair) for pair in itertools.product(values, repeat=2)]
    assert made.frames[made.start].says == repr(values)


def test_values_or_controls_that_look_the_same_are_refused():
    for controls in ({"a": ["1", 1]}, {"a": [1, 2], "b": [1, 2], "names": {"b": "a"}}):
        with pytest.raises(ValueError, match="must be unique"):
            explore(lambda **_: Frame([], ""), "q", size=(9, 9), **controls)
