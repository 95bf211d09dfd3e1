"""`course.py tensorboard` in a real browser: every page that the lessons lead to."""

import re
import sys

import pytest
import tensorflow.compat.v1 as tf1
from playwright.sync_api import expect

from helpers.files import ROOT
from helpers.vgg import layer_table
from prebuilt import tasks
from tools import serve_graphs

SCREENSHOT = ROOT / "docs" / "tensorboard.png"
TOWERS = {f"tower_{k}" for k in range(4)}
TOWERS_OF_RUN = ("tower_0", "tower_1")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tensorboard(serve):
    """The address of a running `course.py tensorboard`."""
    with serve("tensorboard", "--logdir_spec=prebuilt:prebuilt") as address:
        yield address + "/"


@pytest.fixture
def board(page, tensorboard):
    """A page; afterwards, nothing has been asked of another machine."""
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_viewport_size({"width": 1400, "height": 900})
    yield page
    own = tensorboard, "data:", "blob:"
    assert asked and not [url for url in asked if not url.startswith(own)]


@pytest.fixture
def graphs(board, tensorboard):
    """The Graphs page."""
    board.goto(f"{tensorboard}#graphs")
    return board


def choose(page, run, one_of_its_blocks):
    """Picks a run from the list, as a reader does, and waits for its drawing."""
    menu = page.locator("paper-dropdown-menu.run-dropdown").first
    menu.wait_for()
    menu.click()
    page.locator("paper-item").get_by_text(run, exact=True).click()
    page.locator(f'g.node[data-name="{one_of_its_blocks}"]').first.wait_for(
        state="attached")


def names(page):
    return set(page.locator("g.node").evaluate_all(
        "nodes => nodes.map(node => node.getAttribute('data-name'))"))


def colours(page, name):
    """The colours of a block: it is filled by a gradient, a band per device."""
    return set(page.locator(f'linearGradient[id="device-{name}"] stop').evaluate_all(
        "stops => stops.map(s => s.getAttribute('stop-color') || s.style.stopColor)"))


def at_rest(page, read):
    """What `read()` gives once nothing moves: a drawing glides into its place."""
    found = read()
    for _ in range(60):
        page.wait_for_timeout(500)
        before, found = found, read()
        if found == before:
            return found
    raise AssertionError(f"the graph still moves: {before} {found}")


def test_vgg19_shows_every_layer_in_one_chain(graphs):
    choose(graphs, "prebuilt/vgg19", "softmax")
    layers = [row.name for row in layer_table("E")][1:]
    others = {"images", "keep_prob", "flatten", "softmax"}
    assert not {*layers, *others} - names(graphs)
    nodes = [graphs.locator(f'g.node[data-name="{layer}"]').first for layer in layers]
    found = at_rest(graphs, lambda: [node.bounding_box()["y"] for node in nodes])
    assert found == sorted(found, reverse=True)


def test_towers_have_a_colour_per_device(graphs):
    choose(graphs, "prebuilt/multi_tower_vgg", "input_queue")
    assert not (TOWERS | {"input_queue", "vgg", "average", "update"}) - names(graphs)
    graphs.locator("paper-radio-button").get_by_text("Device", exact=True).click()
    graphs.locator('linearGradient[id="device-tower_0"] stop').first.wait_for(
        state="attached")
    of_towers = at_rest(
        graphs, lambda: {name: colours(graphs, name) for name in TOWERS}
    )
    assert all(len(found) == 1 for found in of_towers.values()), of_towers
    assert len(set.union(*of_towers.values())) == len(TOWERS)
    assert colours(graphs, "vgg") == of_towers["tower_0"]  # the weights live there
    assert colours(graphs, "average") >= of_towers["tower_0"]  # so are the sums


def test_it_opens_on_a_graph_that_fits_the_screen(board, tensorboard):
    board.goto(f"{tensorboard}#graphs")
    board.locator('g.node[data-name="tower_2"]').first.wait_for(
        state="attached")
    found = at_rest(board, lambda: [
        node.bounding_box() for node in board.locator("g.node").all()])
    size = board.viewport_size
    assert all(box["x"] >= 0 and box["y"] >= 0 and box["x"] + box["width"]
               <= size["width"] and box["y"] + box["height"] <= size["height"]
               for box in found if box)


def test_the_faults_of_three_towers_can_be_seen(graphs):
    choose(graphs, "prebuilt/faulty_towers", "tower_0")
    graphs.locator("paper-radio-button").get_by_text("Device", exact=True).click()
    graphs.locator('linearGradient[id="device-tower_0"] stop').first.wait_for(
        state="attached")
    of_towers = at_rest(graphs, lambda: [
        len(colours(graphs, f"tower_{k}")) for k in range(3)])
    assert of_towers == [1, 1, 2]  # question 9


def test_the_text_page_asks_the_questions_of_the_sheet(board, tensorboard):
    shown = card(board, tensorboard, "text", "tasks", "", "tf-text-loader")
    for question in (task.question for task in tasks.TASKS):
        expect(shown).to_contain_text(question)


def test_the_page_on_tensorboard_shows_pictures_of_what_to_look_for():
    shown = re.findall(r"!\[([^]]+)\]\((\w+\.png)\)",
                       (ROOT / "docs" / "look.md").read_text("utf-8"))
    assert len(shown) == 4
    for said, name in shown:
        picture = ROOT / "docs" / name
        assert picture.read_bytes().startswith(b"\x89PNG") and len(said) > 100
        assert picture.stat().st_size < 150_000


@pytest.mark.parametrize("run, blocks", [
    ("queue_run", {"tower_0", "tower_1", "w", "b", "average", "update"}),
    ("queue_regression", {"examples", "feed", "batch", "model", "loss", "train"}),
])
def test_what_the_pictures_show_is_there(graphs, run, blocks):
    choose(graphs, f"prebuilt/{run}", max(blocks))  # the last name is of one run only
    assert not blocks - names(graphs)
    if run == "queue_run":
        graphs.locator("paper-radio-button").get_by_text("Device", exact=True).click()
        home, other = at_rest(graphs, lambda: [
            colours(graphs, "tower_0"), colours(graphs, "tower_1")])
        assert home == colours(graphs, "w") == colours(graphs, "update") != other


def card(page, address, dashboard, run, tag, element):
    """Opens a dashboard with one run and one tag; returns the tag's card."""
    page.goto(f"{address}#{dashboard}&regexInput={run}&tagFilter={tag}")
    found = page.locator(element).first
    found.wait_for()
    return found


def events(run):
    path = ROOT / "prebuilt" / run / "events.out.tfevents.run"
    return list(tf1.train.summary_iterator(str(path)))


def logged(run, tag):
    """Returns {step: value} of what prebuilt/ holds."""
    return {event.step: value for event in events(run)
            for value in event.summary.value if value.tag == tag}


def test_scalars_lay_two_runs_over_each_other(board, tensorboard):
    card(board, tensorboard, "scalars", "rate_", "train/loss", "tf-scalar-card")
    lines = board.locator("tf-scalar-card").first.locator("path.line")
    lines.nth(3).wait_for(state="attached")  # each as it is, and smooth
    drawn = at_rest(board, lambda: lines.evaluate_all(
        "paths => paths.map(p => [p.getAttribute('stroke'), p.getAttribute('d')])"))
    ends = {colour: float(path.split(",")[-1]) for colour, path in drawn}
    assert len(ends) == 2
    fast, slow = (max(logged(f"rate_{rate}", "train/loss").items())[1].simple_value
                  for rate in (0.05, 0.002))
    assert slow < fast and min(ends.values()) < max(ends.values())


def test_images_and_text_show_pictures_and_answers(board, tensorboard):
    loaders = card(board, tensorboard, "images", "rate_0.002", "", "tf-image-loader")
    picture = loaders.locator("img")
    picture.wait_for()
    board.wait_for_function(
        "image => image.naturalWidth > 0", arg=picture.element_handle())
    assert picture.evaluate("image => [image.naturalWidth, image.naturalHeight]") == [
        32, 32]
    assert board.locator("tf-image-loader").count() == 4
    table = card(board, tensorboard, "text", "rate_0.002", "", "tf-text-loader")
    table.locator("table").first.wait_for()
    shown = table.locator("table").first.locator("td").all_inner_texts()
    newest = max(logged("rate_0.002", "answers").items())[1]
    assert [text.strip() for text in shown] == [
        text.decode() for text in newest.tensor.string_val]


def test_graphs_are_coloured_by_what_a_step_cost(graphs):
    choose(graphs, "prebuilt/queue_run", "tower_0")
    graphs.locator("paper-dropdown-menu.run-dropdown").nth(1).click()
    graphs.locator("paper-item").get_by_text("step 30", exact=True).click()
    for what in ("Memory", "Compute time"):
        radio = graphs.locator("paper-radio-button").get_by_text(what, exact=True)
        radio.click()
        found = at_rest(graphs, lambda: {
            name: graphs.locator(f'g.node[data-name="{name}"] > g.nodeshape > *')
            .first.evaluate("shape => getComputedStyle(shape).fill")
            for name in (*TOWERS_OF_RUN, "global_step")
        })
        greens = {name: int(re.findall(r"\d+", colour)[1])
                  for name, colour in found.items()}
        assert all(0 < greens[name] < greens["global_step"] for name in TOWERS_OF_RUN)


def test_the_port_that_is_asked_for_is_the_one_that_is_printed(monkeypatch, capsys):
    started = []
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", [])
    monkeypatch.setattr("tensorboard.main.run_main",
                        lambda: started.append(list(sys.argv)))
    wish = serve_graphs.free_port(0)
    assert serve_graphs.main([f"--port={wish}", "--reload_interval=5"]) == 0
    assert f"127.0.0.1:{wish}/" in capsys.readouterr().out
    assert started[0].count(f"--port={wish}") == 1
    assert "--reload_interval=5" in started[0]
