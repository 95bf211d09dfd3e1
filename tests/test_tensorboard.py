"""`course.py tensorboard` in a real browser: the named blocks, colours by device.

To make the picture that the README shows anew:

    UPDATE_SCREENSHOT=1 pytest tests/test_tensorboard.py
"""

import os
from pathlib import Path

import pytest

from helpers.vgg import layer_table

ROOT = Path(__file__).resolve().parents[1]
SCREENSHOT = ROOT / "docs" / "tensorboard.png"
UPDATE = os.environ.get("UPDATE_SCREENSHOT") == "1"
SHOWN = {"x": 0, "y": 0, "width": 1100, "height": 720}  # pixels of the page
TOWERS = {f"tower_{k}" for k in range(4)}
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def tensorboard(serve):
    """The address of a running `course.py tensorboard`."""
    with serve("tensorboard") as address:
        yield address + "/"


@pytest.fixture
def graphs(page, tensorboard):
    """The Graphs page; afterwards, nothing has been asked of another machine."""
    outside = []
    page.on("request", lambda r: outside.append(r.url)
            if not r.url.startswith((tensorboard, "data:", "blob:")) else None)
    page.set_viewport_size({"width": 1400, "height": 900})
    page.goto(f"{tensorboard}#graphs")
    yield page
    assert outside == []


def choose(page, run, one_of_its_blocks):
    """Picks a run from the list, as a reader does, and waits for its drawing."""
    menu = page.locator("paper-dropdown-menu.run-dropdown").first
    menu.wait_for(timeout=60_000)
    menu.click()
    page.locator("paper-item").get_by_text(run, exact=True).click()
    page.locator(f'g.node[data-name="{one_of_its_blocks}"]').first.wait_for(
        state="attached", timeout=60_000
    )


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
    choose(graphs, "prebuilt/multi_tower_vgg", "tower_0")
    assert not (TOWERS | {"input_queue", "vgg", "average", "update"}) - names(graphs)
    graphs.locator("paper-radio-button").get_by_text("Device", exact=True).click()
    graphs.locator('linearGradient[id="device-tower_0"] stop').first.wait_for(
        state="attached", timeout=60_000
    )
    of_towers = at_rest(
        graphs, lambda: {name: colours(graphs, name) for name in TOWERS}
    )
    assert all(len(found) == 1 for found in of_towers.values()), of_towers
    assert len(set.union(*of_towers.values())) == len(TOWERS)
    assert colours(graphs, "vgg") == of_towers["tower_0"]  # the weights live there
    assert colours(graphs, "average") == of_towers["tower_0"]  # so are the sums
    if UPDATE:
        SCREENSHOT.parent.mkdir(exist_ok=True)
        graphs.screenshot(path=SCREENSHOT, clip=SHOWN)


def test_queue_regression_shows_its_parts(graphs):
    choose(graphs, "prebuilt/queue_regression", "examples")
    assert {"examples", "batch", "feed", "model", "loss", "train"} <= names(graphs)


def test_readme_shows_the_picture():
    assert SCREENSHOT.read_bytes().startswith(b"\x89PNG")
    assert SCREENSHOT.stat().st_size < 300_000
    assert 'src="docs/tensorboard.png"' in (ROOT / "README.md").read_text("utf-8")
