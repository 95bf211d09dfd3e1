"""The graphs and runs of prebuilt/ are those that build.py makes today."""

import functools

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import captions
from helpers.checkpoints import restore_latest
from helpers.datasets import grab_captions, grab_tin_records
from helpers.records import image_label_dataset
from helpers.shapes import write_scenes
from helpers.vgg import vgg_net
from prebuilt import build, captioner, runs, tasks
from tools import serve_graphs

MAX_KIB = 1024
SMALL_CONST = 512  # bytes; a weight would be larger

TRACED = ("queue_run", "rate_0.002")  # those that hold their graph
each_graph = pytest.mark.parametrize("name", build.BUILDERS)


def event_file(name):
    return build.FOLDER / name / build.EVENT_FILE


def stored_graph(name):
    _, event = tf1.train.summary_iterator(str(event_file(name)))
    return tf1.GraphDef.FromString(event.graph_def)


@each_graph
def test_stored_graph_is_the_one_built_today_the_same_bytes(name, tmp_path):
    again = build.write(name, tmp_path)
    same = again.read_bytes() == event_file(name).read_bytes()
    assert same, f"run: python -m prebuilt.build {name}"


@each_graph
def test_file_is_small_and_holds_only_the_graph(name):
    folder = event_file(name).parent
    assert [path.name for path in folder.iterdir()] == [build.EVENT_FILE]
    assert event_file(name).stat().st_size < MAX_KIB * 1024
    for node in stored_graph(name).node:
        if node.op == "Const":
            assert node.attr["value"].tensor.ByteSize() < SMALL_CONST, node.name


def test_readme_has_a_row_for_every_graph():
    text = (build.FOLDER / "README.md").read_text("utf-8")
    for name in [*build.BUILDERS, *runs.RUNS, "tasks"]:
        assert f"| `{name}/` |" in text
    folders = {path.name for path in build.FOLDER.iterdir()
               if path.is_dir() and path.name != "__pycache__"}
    assert folders == {*build.BUILDERS, *runs.RUNS, "captioner", "narrow_vgg", "tasks"}


ANSWERS = ["keep_prob", "16", "4", "tower_0", "feed", "0.002", "300",
           "tower_1", "tower_2", "tower_0"]


def test_questions_have_the_answers_that_one_sees():
    said = [f"{k}={answer}" for k, answer in enumerate(ANSWERS, 1)]
    assert all("✓" in line for line in tasks.check(said))


def test_the_command_that_shows_the_graphs_checks_answers(capsys):
    assert serve_graphs.main([f"2={ANSWERS[1]}", "10=tower_2"]) == 0
    right, wrong, *again = capsys.readouterr().out.splitlines()
    assert "✓" in right and "✗" in wrong
    assert " ".join(map(str.strip, again)) == f"Look again. {tasks.TASKS[9].again}"
    assert serve_graphs.main(["11=4"]) == 2
    assert "'11=4' must have the form NUMBER=ANSWER" in capsys.readouterr().err


def test_the_stored_questions_are_those_of_today(tmp_path):
    tasks.write(tmp_path)
    for path in (tmp_path / "tasks").iterdir():
        stored = build.FOLDER / "tasks" / path.name
        assert path.read_bytes() == stored.read_bytes()


def test_no_graph_brings_a_list_of_functions():
    assert not [n for n in build.BUILDERS if stored_graph(n).library.function]


def run_file(name):
    return build.FOLDER / name / runs.RUN_FILE


@functools.cache
def stored_run(name):
    return [tf1.Event.FromString(record)
            for record in tf1.io.tf_record_iterator(str(run_file(name)))]


def logged(events):
    """Returns {(step, tag): value} of what was logged."""
    return {(event.step, value.tag): value
            for event in events for value in event.summary.value}


# The third is the second at a rate at which no two processors go the same way.
@pytest.mark.slow
@pytest.mark.weekly
@pytest.mark.parametrize("name", TRACED)
def test_stored_run_is_the_one_trained_today(name):
    """Up to rounding, which another processor may do otherwise."""
    stored, fresh = stored_run(name), runs.RUNS[name]()
    left, right = logged(stored), logged(fresh)
    assert left.keys() == right.keys(), f"run: python -m prebuilt.build {name}"
    for key, value in left.items():
        assert value.WhichOneof("value") == right[key].WhichOneof("value")
        if value.HasField("histo"):
            assert value.histo.num == right[key].histo.num
        elif value.HasField("image"):
            assert np.abs(pixels(value) - pixels(right[key])).max() <= 8
    both = [[v.simple_value for (_, tag), v in side.items() if tag == "train/loss"]
            for side in (left, right)]
    np.testing.assert_allclose(*both, rtol=0.05, atol=0.05)
    assert graph_of(stored) == graph_of(fresh)
    assert traced_ops(stored) == traced_ops(fresh)


def pixels(value):
    return tf.io.decode_png(value.image.encoded_image_string).numpy().astype(int)


def graph_of(events):
    [graph] = [event.graph_def for event in events if event.HasField("graph_def")]
    return build.steady_functions(tf1.GraphDef.FromString(graph))


def traced_ops(events):
    """Returns {device: ops}, but for products: some processors fuse them with a sum."""
    [event] = [e for e in events if e.HasField("tagged_run_metadata")]
    metadata = tf1.RunMetadata.FromString(event.tagged_run_metadata.run_metadata)
    return {device.device: {node.node_name for node in device.node_stats
                            if not node.node_name.endswith("/matmul")}
            for device in metadata.step_stats.dev_stats}


def test_what_the_lessons_say_of_the_runs():
    def values(name, tag, field):
        return [getattr(value.histo, field)
                for (_, found), value in logged(stored_run(name)).items()
                if found == tag]

    def widths(name, tag):
        both = zip(values(name, tag, "max"), values(name, tag, "min"), strict=True)
        return [high - low for high, low in both]

    lows = values("queue_run", "gradient/w", "min")
    assert max(values("queue_run", "gradient/w", "max")[:2]) < -5 < min(lows[9:])
    rows = [value.simple_value for (_, tag), value
            in logged(stored_run("queue_run")).items() if tag == "queue/rows"]
    assert rows == [300, 200, 100, 0] * 15
    biases = widths("rate_0.002", "weight/vgg/fc8/bias")
    assert biases[-1] > 2 * biases[0]


@pytest.mark.slow
def test_the_captioner_says_what_is_there(tmp_path):
    """What `python -m prebuilt.captioner` made; making it again takes minutes."""
    folder = build.FOLDER / "captioner"
    words = captions.Vocabulary.load(folder / "vocabulary.txt")
    sizes = captions.Sizes(words=len(words), cell="gru")
    model = captions.ShowAndTell(sizes)
    pictures = grab_captions(write_scenes(tmp_path / "scenes", train=1, val=40))["val"]
    shown = captioner.load(pictures).astype(np.float32) / 127.5 - 1
    with tf.Graph().as_default(), tf1.Session() as session:
        said = captions.greedy_search(
            model.step, model.start(model.encode(tf.constant(shown))), max_length=12,
            start=words.start, end=words.end)
        captions.restore_captioner(tf1.train.Saver(), session, folder,
                                   vocabulary=words, sizes=sizes)
        said = [words.decode(row) for row in session.run(said)]
    exact = captions.exact_share([one.captions for one in pictures], said)
    assert exact > 0.9
    assert sum(path.stat().st_size for path in folder.iterdir()) < MAX_KIB * 1024


def test_the_narrow_vgg_tells_the_drawn_classes_apart():
    """What `python -m prebuilt.narrow_vgg` made; making it again takes minutes."""
    pictures, labels = next(image_label_dataset(
        grab_tin_records() / "val", 500, image_size=64, num_epochs=1, shuffle_buffer=0
    ).as_numpy_iterator())
    with tf.Graph().as_default(), tf1.Session() as session:
        logits = vgg_net(tf.constant(pictures), configuration="A", num_classes=20,
                         base_width=8)
        restore_latest(tf1.train.Saver(), session, build.FOLDER / "narrow_vgg")
        assert (session.run(logits).argmax(1) == labels).mean() > 0.8
