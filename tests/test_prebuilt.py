"""The graphs of prebuilt/ are those that build.py makes today, to the attribute."""

import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.errors import DataError
from prebuilt import build

MAX_KIB = 1024
SMALL_CONST = 512  # bytes; a weight would be larger

each_graph = pytest.mark.parametrize("name", build.BUILDERS)


def event_file(name):
    return build.FOLDER / name / build.EVENT_FILE


@each_graph
def test_stored_graph_is_the_one_built_today(name):
    stored = build.read(event_file(name))
    lines = build.differences(stored, build.build(name))
    assert not lines, f"{lines[:5]}: run: python -m prebuilt.build {name}"


@each_graph
def test_writing_again_gives_the_same_bytes(name, tmp_path):
    first, second = (build.write(name, tmp_path / n) for n in "ab")
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.slow
def test_the_bodies_of_loops_come_in_one_order():
    """TensorFlow lists them by a hash of names that count up from graph to graph."""
    first = build.build("show_and_tell").SerializeToString(deterministic=True)
    for _ in range(9):
        again = build.build("show_and_tell").SerializeToString(deterministic=True)
        assert again == first


def changes(graph):
    """Yields the graph with one thing changed, and what that is."""
    middle = len(graph.node) // 2
    for what in ("name", "op", "device", "input", "attribute", "absent", "new"):
        other = tf1.GraphDef.FromString(graph.SerializeToString())
        node = other.node[middle]
        if what in ("name", "op", "device"):
            setattr(node, what, getattr(node, what) + "x")
        elif what == "input":
            node.input.append("^" + graph.node[0].name)
        elif what == "attribute":
            node.attr["_output_shapes"].list.shape.add().dim.add().size = 7
        elif what == "absent":
            del other.node[middle]
        else:
            other.node.add(name="one_more", op="NoOp")
        yield what, other


@each_graph
def test_a_change_anywhere_is_found(name):
    fresh = build.build(name)
    assert build.differences(fresh, fresh) == []
    for what, changed in changes(fresh):
        assert build.differences(changed, fresh), what


@each_graph
def test_file_is_small_and_holds_only_the_graph(name):
    folder = event_file(name).parent
    assert [path.name for path in folder.iterdir()] == [build.EVENT_FILE]
    assert event_file(name).stat().st_size < MAX_KIB * 1024
    for node in build.read(event_file(name)).node:
        if node.op == "Const":
            assert node.attr["value"].tensor.ByteSize() < SMALL_CONST, node.name


@each_graph
def test_tensorflow_reads_the_file(name):
    events = list(tf1.train.summary_iterator(str(event_file(name))))
    assert [event.wall_time for event in events] == [0.0, 0.0]
    with tf.Graph().as_default() as graph:
        tf1.import_graph_def(build.read(event_file(name)), name="")
    assert len(graph.get_operations()) == len(build.read(event_file(name)).node)


def test_towers_lie_on_four_devices():
    devices = {}
    for node in build.read(event_file("multi_tower_vgg")).node:
        scope = node.name.split("/")[0]
        if scope.startswith("tower_") and node.op in ("Conv2D", "MatMul"):
            devices.setdefault(scope, set()).add(node.device)
    assert devices == {f"tower_{k}": {f"/device:CPU:{k}"} for k in range(4)}


def test_readme_has_a_row_for_every_graph():
    text = (build.FOLDER / "README.md").read_text("utf-8")
    for name in build.BUILDERS:
        assert f"| `{name}/` |" in text
    folders = {path.name for path in build.FOLDER.iterdir()
               if path.is_dir() and path.name != "__pycache__"}
    assert folders == set(build.BUILDERS)


def test_damage_is_named(tmp_path):
    path = tmp_path / build.EVENT_FILE
    data = bytearray(event_file("queue_regression").read_bytes())
    data[100] ^= 1
    path.write_bytes(data)
    with pytest.raises(DataError, match="damaged"):
        build.read(path)
    with tf.io.TFRecordWriter(str(path)) as file:
        file.write(b"no event")
    with pytest.raises(DataError, match="damaged"):
        build.read(path)
    path.write_bytes(b"")
    with pytest.raises(DataError, match="holds no graph"):
        build.read(path)
