"""The programs of lesson 15a give what the helpers of the other lessons give."""

import itertools
import threading
from collections import Counter

import lookalikes
import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import datasets, queues, records
from helpers.files import ROOT
from tools import exercises as ex
from tools import notebook as nb
from tools.cells import Lesson

[PATH] = nb.lessons(ROOT, ["15a"])
pytestmark = pytest.mark.usefixtures("no_thread_left")


@pytest.fixture(scope="module")
def programs():
    """The definitions of the lesson by their names, without any run of a cell."""
    place = {}
    for statement in ex.taught(Lesson(PATH)):
        exec(statement, place)
    place |= {"target": np.zeros(1000, int), "CAPACITY": 115}
    return place


@pytest.fixture(scope="module")
def tin(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tin")
    lookalikes.tiny_imagenet(folder, classes=5, train=6, val=3)
    return str(folder)


def delivered(batch, steps=None):
    """Returns the values of all steps of a pipeline in the default graph."""
    with tf1.Session() as session:
        session.run(tf1.local_variables_initializer())
        with queues.running_queues(session, stall=30) as runner:
            return list(runner.steps(batch, steps))


@pytest.mark.parametrize("threads", [1, 4])
def test_rows_of_a_table_come_once_in_each_epoch(programs, threads):
    table = np.repeat(np.arange(1000)[:, None], 4, axis=1)
    batches = programs["rows_of"](
        table, threads, lambda queue: queue.dequeue_many(10), 300)
    rows = [int(n) for data, _ in batches for n in data[:, 0]]
    for k in range(3):
        assert sorted(rows[1000 * k : 1000 * k + 1000]) == list(range(1000))


def test_workers_and_loops_stop_together(programs):
    coord, programs["stopped"] = tf1.train.Coordinator(), []
    threads = [threading.Thread(target=programs["worker"], name=str(k),
                                args=(coord, lambda _: coord.wait_for_stop(0.01)))
               for k in range(3)]
    for thread in threads:
        thread.start()
    coord.join(threads)
    assert sorted(programs["stopped"]) == ["0", "1", "2"]
    coord, programs["counted"] = tf1.train.Coordinator(), []
    threads = [threading.Thread(target=programs["my_loop"], args=(coord,))
               for _ in range(10)]
    for thread in threads:
        thread.start()
    coord.join(threads)
    assert len(programs["counted"]) >= 100 and not any(t.is_alive() for t in threads)


@pytest.mark.parametrize("inside", [True, False])
def test_an_error_arrives_only_from_inside_its_block(programs, inside):
    coord = tf1.train.Coordinator()
    thread = threading.Thread(target=programs["read_row"], args=(coord, inside))
    thread.start()
    kind, words = (ValueError, "7;5") if inside else (TypeError, "derive")
    with pytest.raises(kind, match=words):
        coord.join([thread])


@pytest.mark.parametrize("count", [1, 10, 99, 100])
def test_the_shuffle_batch_loses_nothing(programs, count):
    for up_to, due in ((True, count), (False, count // 10 * 10)):
        with tf.Graph().as_default():
            source = tf1.data.make_one_shot_iterator(
                tf.data.Dataset.range(count)).get_next()
            batch = programs["simple_shuffle_batch"](source, 20, up_to=up_to)
            got = programs["until_empty"](batch)
        assert len(got) == len(set(got)) == due
        assert set(got) <= set(range(count))


def test_digits_come_back_as_they_were_written(programs, tmp_path):
    rng = np.random.default_rng(7)
    images = rng.integers(0, 256, [23, 4, 5], np.uint8)
    labels = rng.integers(0, 10, 23)
    path = str(tmp_path / "digits.tfrecords")
    programs["write_digits"](path, images, labels)
    with tf.Graph().as_default():
        got = delivered(programs["read_and_decode_single_example"](path, 2, 20))
    assert [int(label) for label, _ in got] == [*labels, *labels]
    np.testing.assert_array_equal([image for _, image in got],
                                  np.tile(images.reshape(23, 20), (2, 1)))
    with tf.Graph().as_default():
        label, image = programs["read_and_decode_single_example"](path, 1, 19)
        assert label.op.name.startswith("digit")
        with pytest.raises(tf.errors.InvalidArgumentError):
            delivered(image)


def test_the_net_trains_from_records_as_often_as_you_like(programs, tmp_path):
    folder = datasets.grab_mnist()
    for name in ("x_train", "y_train", "x_test", "y_test"):
        programs[name] = np.load(folder / f"{name}.npy")
    programs["mnist"] = str(tmp_path / "digits.tfrecords")
    programs["write_digits"](programs["mnist"], programs["x_train"],
                             programs["y_train"])
    for _ in range(2):
        losses, accuracy = programs["train"](128)
        assert np.isclose(losses[0], np.log(10), atol=1e-4)
        assert losses[-20:].mean() < 0.8 and accuracy[-50:].mean() > 0.8
    losses, _ = programs["train"](8, num_classes=1000)
    assert np.isclose(losses[0], np.log(1000), atol=1e-4)


def stored(path):
    """Returns picture and label of each record of a file, in order."""
    examples = [tf.train.Example.FromString(record).features.feature for record
                in tf.data.TFRecordDataset(str(path)).as_numpy_iterator()]
    return [(one["image"].bytes_list.value[0], one["label"].int64_list.value[0])
            for one in examples]


@pytest.mark.parametrize(("convert", "split"), [
    ("convert_tin_train_to_tfr", "train"), ("convert_tin_validation_to_tfr", "val")])
def test_the_converters_write_what_the_helper_writes(programs, tin, tmp_path, convert,
                                                     split):
    maps = programs["get_tin_id_maps"](tin)
    assert maps == datasets.get_tin_id_maps(tin)
    count = programs[convert](tin, str(tmp_path / "own.tfr"), maps[1])
    records.write_tiny_imagenet_shards(tin, split, tmp_path / "helper", 2, seed=1)
    helper = [row for shard in records.open_shards(tmp_path / "helper")
              for row in stored(shard)]
    own = stored(tmp_path / "own.tfr")
    assert len(own) == count == len(helper)
    assert Counter(own) == Counter(helper)
    programs[convert](tin, str(tmp_path / "again.tfr"), maps[1])
    assert stored(tmp_path / "again.tfr") == own
    programs[convert](tin, str(tmp_path / "sorted.tfr"), maps[1], None)
    if split == "train":  # six pictures of each class, one class after the other
        runs, mixed = ([len(list(run)) for _, run in itertools.groupby(
            label for _, label in rows)]
            for rows in (stored(tmp_path / "sorted.tfr"), own))
        assert runs == [6] * 5 and len(mixed) > 15


def test_the_pipeline_gives_the_batches_of_the_helper(programs, tin, tmp_path):
    maps, path = datasets.get_tin_id_maps(tin), str(tmp_path / "own.tfr")
    programs["convert_tin_train_to_tfr"](tin, path, maps[1])
    with tf.Graph().as_default():
        images, labels = programs["image_label_queue"]([path])
        assert images.shape == [5, 224, 224, 3] and labels.dtype == tf.int32
        own = delivered([images, labels], steps=60)
    with tf.Graph().as_default():
        images, labels = records.image_label_queue([path], 5, image_size=64,
                                                   num_epochs=1)
        large = tf.image.resize(images, [224, 224])
        helper = delivered([large, labels])

    def pairs(batches):
        return {(int(label), *np.round([image.mean(), image.std()], 3).tolist())
                for images, labels in batches
                for image, label in zip(images, labels, strict=True)}

    assert pairs(own) == pairs(helper)
    assert all(np.abs(images).max() <= 1 for images, _ in own)


def test_without_the_runners_a_step_waits_for_its_deadline(programs):
    """Follows the advice of the warning, with a limit."""
    with tf.Graph().as_default() as graph:
        batch = programs["build"]()
    limit = tf1.RunOptions(timeout_in_ms=300)
    with (tf1.Session(graph=graph) as session,
          pytest.raises(tf.errors.DeadlineExceededError)):
        session.run(batch, options=limit)
