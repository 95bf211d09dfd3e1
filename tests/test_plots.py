"""Graph pictures: what is a box, what is an arrow, and that it can be read."""

import itertools

import matplotlib.pyplot as plt
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from helpers import layers, plots


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


def test_show_prints_the_sentence_and_closes_the_figure(capsys):
    fig, _ = plt.subplots()
    plots.show(fig, "A box.")
    assert "Figure: A box." in capsys.readouterr().out
    assert not plt.fignum_exists(fig.number)
    with pytest.raises(ValueError, match="sentence"):
        plots.show(fig, " ")
