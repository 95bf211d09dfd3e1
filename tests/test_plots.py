"""Graph pictures: what is a box, what is an arrow, and that it can be read."""

import io
import itertools
import re

import matplotlib.pyplot as plt
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from matplotlib.colors import to_hex
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from PIL import Image

from helpers import language, layers, plots


def siamese(share):
    with tf.Graph().as_default() as graph:
        left = tf1.placeholder(tf.float32, [None, 5], name="left")
        right = tf1.placeholder(tf.float32, [None, 5], name="right")
        a = layers.fully_connected_layer(left, 3, name="embed")
        with tf1.variable_scope(tf1.get_variable_scope(), reuse=share):
            b = layers.fully_connected_layer(
                right, 3, name="embed" if share else "other")
        tf.subtract(a, b, name="difference")
        tf1.global_variables_initializer()
        tf1.train.Saver()
    return graph


def towers(num):
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [None, 5], name="x")
        with tf.device("/cpu:0"):
            w = tf1.get_variable("w", [5, 3])
        parts = []
        for i in range(num):
            with tf.device(f"/cpu:{i}"), tf.name_scope(f"tower_{i}"):
                parts.append(tf.nn.relu(tf.matmul(x, w)))
        with tf.device("/cpu:0"):
            tf.add_n(parts, name="sum")
    return graph


def drawn(graph, **options):
    """Returns the texts, the boxes and the arrows of a picture."""
    fig = plots.draw_graph(graph, **options)
    ax = fig.axes[0]
    texts = [text.get_text() for text in ax.texts]
    boxes = [p for p in ax.patches if isinstance(p, FancyBboxPatch)]
    arrows = [p for p in ax.patches if isinstance(p, FancyArrowPatch)]
    plt.close(fig)
    return texts, boxes, arrows


def test_shared_variables_stand_by_themselves_and_own_ones_inside():
    texts, boxes, arrows = drawn(siamese(True))
    assert (len(boxes), len(arrows)) == (6, 6)
    assert texts.count("2 variables") == 1
    assert sum(box.get_linewidth() > 1.5 for box in boxes) == 1
    texts, boxes, arrows = drawn(siamese(False))
    assert (len(boxes), len(arrows)) == (5, 4)
    assert texts.count("2 variables") == 2
    assert not any(box.get_linewidth() > 1.5 for box in boxes)


def test_a_deeper_look_shows_more_and_a_function_names_the_boxes():
    graph = towers(3)
    assert len(drawn(graph, depth=2)[1]) > len(drawn(graph)[1]) == 6
    texts, boxes, arrows = drawn(
        graph, depth=lambda name: "all towers" if "tower" in name else name)
    assert "all towers" in texts
    assert (len(boxes), len(arrows)) == (3, 2)
    _, boxes, _ = drawn(graph, depth=lambda name: "a" if "tower" in name else "")
    assert len(boxes) == 1


def test_devices_give_colours_and_a_legend():
    fig = plots.draw_graph(towers(3), colour_by="device")
    ax = fig.axes[0]
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    colours = {tuple(p.get_facecolor()) for p in ax.patches
               if isinstance(p, FancyBboxPatch)}
    plt.close(fig)
    assert sorted(legend) == ["CPU:0", "CPU:1", "CPU:2", "not pinned"]
    assert len(colours) == 4


def test_a_mark_has_its_words_and_an_arrow_its_label():
    marked = {"tower_1": ("lost", "NaN"), "sum": ("control", "")}
    texts, boxes, _ = drawn(towers(3), mark=marked,
                            edge_label={("tower_1", "sum"): "60 B"})
    assert {"NaN", "60 B"} <= set(texts)
    assert [bool(box.get_hatch()) for box in boxes].count(True) == 1
    assert len({tuple(box.get_facecolor()) for box in boxes}) == 3  # white: the others
    with pytest.raises(ValueError, match="box or arrow 'tower_7'. Choose one of"):
        plots.draw_graph(towers(3), mark={"tower_7": ("lost", "")})
    plt.close("all")


def test_a_tower_has_the_colour_of_its_number_and_no_other_box_has_it():
    fig = plots.draw_graph(towers(3))
    found = [to_hex(p.get_facecolor()) for p in fig.axes[0].patches
             if isinstance(p, FancyBboxPatch)]
    plt.close(fig)
    assert sorted(found) == sorted([*language.TINT[:3], *3 * [language.PALE]])


def test_control_edges_are_dashed_and_data_edges_are_not():
    with tf.Graph().as_default() as graph:
        first = tf1.placeholder(tf.float32, [], name="first")
        with tf.control_dependencies([first]):
            tf1.placeholder_with_default(tf.identity(first, name="second"), [], "third")
            tf.no_op(name="only_order")
    with tf.Graph().as_default() as plain:
        tf.identity(tf1.placeholder(tf.float32, [], name="a"), name="b")
    assert {arrow.get_linestyle() for arrow in drawn(plain)[2]} == {"-"}
    styles = [arrow.get_linestyle() for arrow in drawn(graph)[2]]
    assert "-" in styles and any(style != "-" for style in styles)


@pytest.mark.parametrize("graph", [siamese(True), towers(4), towers(7)])
@pytest.mark.parametrize("depth", [1, 2])
def test_boxes_do_not_overlap_and_text_stays_inside(graph, depth):
    fig = plots.draw_graph(graph, depth=depth)
    fig.canvas.draw()
    renderer = fig.canvas.get_renderer()
    ax = fig.axes[0]
    boxes = [p.get_window_extent(renderer) for p in ax.patches
             if isinstance(p, FancyBboxPatch)]
    texts = [t.get_window_extent(renderer) for t in ax.texts]
    whole = fig.bbox
    plt.close(fig)
    for a, b in itertools.combinations(boxes, 2):
        assert not a.overlaps(b)
    for text in texts:
        assert any(box.x0 <= text.x0 and text.x1 <= box.x1 for box in boxes)
    for box in boxes:
        assert whole.x0 <= box.x0 and box.x1 <= whole.x1
        assert whole.y0 <= box.y0 and box.y1 <= whole.y1


def test_names_at_the_ends_of_lines_do_not_meet():
    fig, ax = plt.subplots()
    for k in range(4):
        ax.plot([0, 1], [0, 1 + k / 1000], label=f"tower {k}")
    plots.end_labels(ax)
    fig.canvas.draw()
    places = [text.get_window_extent() for text in ax.texts]
    plt.close(fig)
    assert len(places) == 4
    for a, b in itertools.combinations(places, 2):
        assert not a.overlaps(b)


def test_a_tree_has_one_line_for_each_part_of_a_name():
    fig, ax = plt.subplots()
    plots.tree(ax, {"a/w": "[3]", "a/b": "[2]", "c": ""}, kinds={"a": 0})
    texts = [text.get_text() for text in ax.texts]
    grounds = len(ax.patches)
    plt.close(fig)
    assert [text for text in texts if text] == ["a/", "w", "[3]", "b", "[2]", "c"]
    assert grounds == 3


def test_lanes_weights_strips_and_tanks_say_what_they_hold():
    fig, axes = plt.subplots(4)
    plots.lanes(axes[0], {"ps": [(0, 2, "reference", "")], "chief": [
        (0, 1, "waits", "starts"), (1, 2, 0, "")]}, kills=[("chief", 2)])
    plots.weights(axes[1], [[1.0, -2.0, 0.5]], columns={"reset": 2, "update": 1},
                  digits=1)
    plots.strip(axes[2], [(0, "12"), ("lost", "7")], name="first life")
    plots.tank(axes[3], 0, 0, 0, 10, "images", "starves")
    said = [{text.get_text() for text in ax.texts} for ax in axes]
    ticks = [label.get_text() for label in axes[0].get_yticklabels()]
    kills = [line for line in axes[0].lines if line.get_marker() == "X"]
    plt.close(fig)
    assert ticks == ["ps", "chief"] and len(kills) == 1
    assert {"reset", "update", "-2.0"} <= said[1]
    assert said[2] == {"12", "7", "first life"}
    assert said[3] == {"images", "0 of 10", "starves"}


def test_a_figure_is_stored_sharp_small_and_with_its_width(monkeypatch):
    sent = {}
    monkeypatch.setattr(plots, "display", lambda data, **more: sent.update(
        data, **more) if "image/png" in data else None)
    fig, ax = plt.subplots(figsize=(4, 2))
    ax.bar(range(4), range(1, 5), color=language.TINT)
    plots.show(fig, "Four bars.", "Four of a kind")
    image = Image.open(io.BytesIO(sent["image/png"]))
    kept = sent["metadata"]["image/png"]
    assert image.mode == "P" and abs(image.width - 2 * kept["width"]) <= 1
    assert 600 < image.width < 800 and len(sent["image/png"]) < 20_000
    colours = {to_hex([part / 255 for part in colour])
               for _, colour in image.convert("RGB").getcolors()}
    assert set(language.TINT) <= colours


def test_show_adds_the_caption_and_closes_the_figure(monkeypatch, capsys):
    shown = []
    monkeypatch.setattr(plots, "display", lambda data, **_: shown.append(data))
    fig, _ = plt.subplots()
    plots.show(fig, "1 < 2 & 3.", "A box has four sides")
    _, caption = shown
    assert caption["text/plain"] == "Figure: 1 < 2 & 3."
    assert re.sub("<[^>]*>", "", caption["text/html"]) == "1 &lt; 2 &amp; 3."
    assert capsys.readouterr().out == ""
    assert not plt.fignum_exists(fig.number)
    with pytest.raises(ValueError, match="sentence"):
        plots.show(fig, " ")


def test_a_figure_says_its_finding_in_type_that_can_be_read():
    fig, ax = plt.subplots()
    with pytest.raises(ValueError, match="title"):
        plots.show(fig, "A box.")
    ax.text(0, 0, "fine print", fontsize=7)
    with pytest.raises(ValueError, match="font size of 'fine print' must be at least"):
        plots.show(fig, "A box.", "A box has four sides")
    plt.close(fig)


def test_a_name_at_a_line_has_no_tick_under_it():
    fig, ax = plt.subplots()
    ax.plot([0, 60], [1, 2], label="a name")
    right = ax.get_xlim()[1]
    plots.end_labels(ax)
    assert max(ax.get_xticks()) <= right < ax.get_xlim()[1]
    plt.close(fig)
