"""Files of a real TensorFlow 1.15: each opens, with the values that it had then."""

import contextlib
import functools
import itertools
import pickle
import shutil
import struct
import zipfile

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.errors import DataError
from helpers.files import ROOT
from helpers.inherited import describe, open_model, read_weights

MUSEUM = ROOT / "data" / "museum"
EXPORT = "estimator/export/1546300800"


def golden(name):
    with np.load(MUSEUM / "golden" / f"{name}.npz") as arrays:
        return dict(arrays)


# What opens: the piece, what goes in, what must come out, all from TensorFlow 1.15.
OPENED = [
    ("slim", "slim", ["images"], "raw", {}),
    ("slim/model.ckpt-30.meta", "slim", ["images"], "raw", {}),
    ("slim_frozen.pb", "slim_frozen", ["images"], "probabilities", {}),
    ("old_format", "old_format", ["x"], "y", {}),
    ("partitioned", "partitioned", ["ids"], "sums", {}),
    ("recurrent", "recurrent", ["x", "lengths"], "outputs", {}),
    (EXPORT, "estimator", ["x"], "y", {}),
    (EXPORT, "estimator", ["x"], "y", {"signature": "predict"}),
    ("queue_fed", "queue_fed", ["batch"], "probabilities", {}),
    ("queue_fed", "queue_fed", ["batch"], "probabilities",
     {"inputs": {"batch": "batch:0"}, "outputs": ["probabilities"]}),
]


@pytest.mark.parametrize(("piece", "name", "fed", "wanted", "options"), OPENED)
def test_a_piece_gives_the_values_of_2019(piece, name, fed, wanted, options):
    values = golden(name)
    with open_model(MUSEUM / piece, **options) as model:
        found = model({key: values[key] for key in fed})
        by_keyword = model(**{key: values[key] for key in fed})
    np.testing.assert_allclose(found, values[wanted], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(found, by_keyword)


def test_a_signature_whose_input_is_a_python_keyword():
    values = golden("saved_model")
    values["tokens"] = values["tokens"].astype(object)
    with pytest.raises(ValueError, match="'in' is not a valid parameter name"):
        tf.saved_model.load(str(MUSEUM / "saved_model"))
    with open_model(MUSEUM / "saved_model") as model:
        found = model({"in": values["tokens"], "weights": values["weights"]})
        plain = model({"in": values["tokens"]})  # the weights have a default
    np.testing.assert_allclose(found["score"], values["score"], rtol=1e-5)
    np.testing.assert_array_equal(found["ids"], values["ids"])
    assert not np.allclose(plain["score"], values["score"])


def test_weights_raw_averaged_and_joined():
    values, weights = golden("slim"), read_weights(MUSEUM / "slim")
    average = "conv1/weights/ExponentialMovingAverage"
    np.testing.assert_array_equal(weights["conv1/weights"], values["raw_kernel"])
    np.testing.assert_array_equal(weights[average], values["averaged_kernel"])
    frozen = read_weights(MUSEUM / "slim_frozen.pb")
    np.testing.assert_array_equal(frozen["conv1/weights"], values["averaged_kernel"])
    whole = golden("partitioned")["table"]
    np.testing.assert_array_equal(read_weights(MUSEUM / "partitioned")["table"], whole)
    old = read_weights(MUSEUM / "old_format" / "model.ckpt")
    np.testing.assert_array_equal(old["layer/weights"], golden("old_format")["weights"])
    for name, array in read_weights(MUSEUM / "recurrent").items():
        key = name.replace("/", "|")
        np.testing.assert_array_equal(array, golden("recurrent")[key])
    estimator = read_weights(MUSEUM / "estimator")
    np.testing.assert_array_equal(estimator["dense/kernel"],
                                  golden("estimator")["kernel"])
    assert read_weights(MUSEUM / "keras_model.h5")["dense/dense/bias:0"].shape == (3,)


@pytest.mark.parametrize("kind", ["gzip", "zlib"])
def test_records_are_counted_and_hold_what_was_written(kind):
    path = MUSEUM / "records" / f"rows.tfrecord.{kind}"
    found = describe(path)
    assert found.records == 30 and found.kind == f"TFRecord file, {kind.upper()}"
    fields = {"row": tf.io.FixedLenFeature([4], tf.float32)}
    data = tf.data.TFRecordDataset(str(path), compression_type=kind.upper())
    rows = [tf.io.parse_single_example(record, fields)["row"] for record in data]
    np.testing.assert_array_equal(np.stack(rows), golden("records")["rows"])


def test_events_hold_the_losses():
    [path] = (MUSEUM / "events").iterdir()
    assert describe(path).kind == "event file"
    losses = [value.simple_value for event in tf1.train.summary_iterator(str(path))
              for value in event.summary.value]
    np.testing.assert_array_equal(losses, golden("events")["losses"])


@pytest.mark.parametrize(
    ("piece", "words"),
    [("slim", ["meta graph, written by TensorFlow 1.15.5", "images (Placeholder)",
               "probabilities (Softmax)", "/device:GPU:0", "for training"]),
     ("slim_frozen.pb", ["graph, written by", "probabilities (Softmax)"]),
     ("old_format/model.ckpt", ["checkpoint of the first format", "layer/weights"]),
     ("old_format", ["meta graph", "y (Tanh)"]),
     ("partitioned/model.ckpt", ["checkpoint", "table float32 [10, 4]"]),
     ("recurrent", ["lengths (Placeholder)", "gru_cell/gates/kernel"]),
     ("saved_model", ["SavedModel", "signature score_words: in, weights to ids, score",
                      "tables: 1"]),
     (EXPORT, ["signature predict: x to y", "signature serving_default: x to y"]),
     ("estimator", ["IteratorGetNext", "dense/kernel/Adam"]),
     ("estimator/graph.pbtxt", ["graph, written by"]),
     ("keras_model.h5", ["Keras HDF5, written by Keras 2.2.4-tf"]),
     ("queue_fed", ["batch (QueueDequeueManyV2)", "queues: 2", "TFRecordReaderV2"])],
)
def test_a_description_says_what_one_needs(piece, words):
    text = str(describe(MUSEUM / piece))
    for word in words:
        assert word in text, text
    assert str(ROOT) not in text


def test_questions_that_need_an_answer():
    model = open_model(MUSEUM / "slim")
    with pytest.raises(ValueError, match="no input pictures. Its inputs are images"):
        model(pictures=golden("slim")["images"])
    with pytest.raises(ValueError, match="needs the input images"):
        model()
    with pytest.raises(ValueError, match=r"images of .* needs \(None, 16, 16"):
        model(images=np.zeros([2, 8, 8, 3]))
    with pytest.raises(DataError, match="Op nothing not found"):
        open_model(MUSEUM / "slim", outputs=["nothing"])
    with pytest.raises(DataError, match="contains no graph to run"):
        open_model(MUSEUM / "partitioned" / "model.ckpt")
    with pytest.raises(DataError, match="signatures: predict, serving_default"):
        open_model(MUSEUM / EXPORT, signature="other")
    with pytest.raises(DataError, match="variables but no weights"):
        open_model(MUSEUM / "estimator" / "graph.pbtxt", outputs=["dense/BiasAdd"])
    with pytest.raises(DataError, match="No such file"):
        describe(MUSEUM / "nowhere.pb")


def test_the_file_inside_a_saved_model_stands_for_its_folder():
    found = describe(MUSEUM / "saved_model" / "saved_model.pb")
    assert str(found) == str(describe(MUSEUM / "saved_model"))


@pytest.mark.parametrize("form", ["export", "sharded"])
def test_parts_of_a_checkpoint_of_the_first_format_are_found(form, tmp_path):
    """A SessionBundle of 2016 has one part, a large model several."""
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [None, 2], name="x")
        weights = []
        for task, name in enumerate("ab"):
            task *= form == "sharded"
            with tf.device(f"/job:ps/task:{task}/device:GPU:0"):
                weights.append(tf1.get_variable(
                    name, [2], initializer=tf1.ones_initializer(), use_resource=False))
        tf.add(x * weights[0], weights[1], name="y")
    with graph.as_default():
        saver = tf1.train.Saver(sharded=True, write_version=tf1.train.SaverDef.V1)
        found = graph.as_graph_def()
        assert any(node.device.startswith("/job:ps") for node in found.node)
        for op in graph.get_operations():
            op._set_device("")
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            saver.save(session, str(tmp_path / "export"))
    message = tf1.MetaGraphDef.FromString((tmp_path / "export.meta").read_bytes())
    message.graph_def.CopyFrom(found)
    (tmp_path / "export.meta").write_bytes(message.SerializeToString())
    parts = sorted(path.name for path in tmp_path.glob("export-*-of-*"))
    assert len(parts) == 1 + (form == "sharded")
    for path in (tmp_path / "export.meta", tmp_path):
        with open_model(path, outputs=["y"]) as model:
            np.testing.assert_array_equal(model(x=[[3, 4]]), [[4, 5]])
    np.testing.assert_array_equal(read_weights(tmp_path / "export.meta")["a"], [1, 1])


def test_a_graph_in_text_beside_a_checkpoint_is_its_graph(tmp_path):
    """What an Estimator leaves, its `.meta` lost: the values are those of 1.15."""
    values, folder = golden("estimator"), tmp_path / "training"
    shutil.copytree(MUSEUM / "estimator", folder)
    (folder / "model.ckpt-20.meta").unlink()
    with open_model(folder, outputs=["dense/BiasAdd"]) as model:
        [name] = model.inputs
        found = model({name: values["x"]})
    np.testing.assert_allclose(found.ravel(), values["y"].ravel(), rtol=1e-5)


def test_a_loss_is_not_taken_for_the_answer():
    losses = {"mean_squared_error/value": "Squeeze"}
    assert describe(MUSEUM / "estimator").losses == losses
    with pytest.raises(DataError, match="the loss of the prediction Squeeze"):
        open_model(MUSEUM / "estimator")
    found = describe(MUSEUM / "training")
    assert found.losses == {"loss": "scores/BiasAdd"}
    assert ": a loss, of the answer scores/BiasAdd" in str(found)
    for piece, ends in ("slim", ["probabilities"]), ("recurrent", ["outputs"]):
        described = describe(MUSEUM / piece)
        assert [node.name for node in described.outputs] == ends
        assert not described.losses


def test_ends_under_the_scope_train_and_no_zero_states(tmp_path):
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [None, 2], name="x")
        tf.zeros([tf.shape(x)[0], 3], name="state")
        tf.tanh(x, name="train/answer")
        tf.sin(x, name="beta_model/answer")
    tf.io.write_graph(graph, str(tmp_path), "train.pb", as_text=False)
    found = describe(tmp_path / "train.pb")
    assert [n.name for n in found.outputs] == ["train/answer", "beta_model/answer"]
    assert found.training == 0


class Counter(tf.Module):
    def __init__(self):
        super().__init__()
        self.count = tf.Variable(0)

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def add(self, by):
        return {"count": self.count.assign_add(by)}

    @tf.function(input_signature=[])
    def read(self):
        return {"count": self.count.read_value()}


def test_several_signatures_run_on_one_state(tmp_path):
    counter, path = Counter(), str(tmp_path / "counter")
    tf.saved_model.save(counter, path, {"add": counter.add, "read": counter.read})
    with open_model(path, signature=["add", "read"]) as model:
        assert model(by=2) == 2 and model.signatures["add"](by=3) == 5
        assert model.signatures["read"]() == 5
    with open_model(path, signature="read") as alone:
        assert alone() == 0 and not alone.signatures


def from_iterator():
    data = tf.data.Dataset.from_tensors({"a": [1.0], "b": [2], "c": [3.0]})
    return tf1.data.make_one_shot_iterator(data).get_next()


def from_queue():
    row = tf1.train.batch([tf.constant(1.0), tf.constant(2)], 1, name="batch")
    return dict(zip("ab", row, strict=True))


@pytest.mark.parametrize(("build", "name"), [(from_iterator, "IteratorGetNext"),
                                             (from_queue, "batch")])
def test_every_output_of_an_iterator_and_a_queue_is_fed(build, name, tmp_path):
    with tf.Graph().as_default() as graph:
        row = build()
        tf.add(row["a"], tf.cast(row["b"], tf.float32), name="y")
    tf.io.write_graph(graph, str(tmp_path), "fed.pbtxt")
    (tmp_path / "fed.pbtxt").rename(tmp_path / "fed.pb")  # text, whatever its name
    with open_model(tmp_path / "fed.pb") as model:
        assert list(model.inputs) == [name, f"{name}_1"]
        found = model({name: [5.0], f"{name}_1": [6]})
        np.testing.assert_array_equal(found, [11])


def test_what_is_no_variable_is_not_listed(tmp_path):
    prefix = tf.train.Checkpoint(v=tf.Variable([1.0])).write(str(tmp_path / "today"))
    assert list(read_weights(prefix)) == ["v/.ATTRIBUTES/VARIABLE_VALUE"]
    assert list(describe(prefix).variables) == ["v/.ATTRIBUTES/VARIABLE_VALUE"]


def test_a_copied_training_folder_is_read_where_it_lies(tmp_path):
    shutil.copytree(MUSEUM / "slim", tmp_path / "first")
    shutil.copytree(MUSEUM / "slim", tmp_path / "copy")
    (tmp_path / "copy" / "checkpoint").write_text(
        f'model_checkpoint_path: "{tmp_path / "first" / "model.ckpt-30"}"\n')
    shutil.rmtree(tmp_path / "first")
    assert describe(tmp_path / "copy").path == tmp_path / "copy" / "model.ckpt-30.meta"


def test_another_manifest_says_nothing(tmp_path):
    shutil.copy(MUSEUM / "slim_frozen.pb", tmp_path)
    for text in ('{"files": {"slim_frozen.pb": "abc"}}', "[]", "{", '{"files": 3}'):
        (tmp_path / "manifest.json").write_text(text)
        assert describe(tmp_path / "slim_frozen.pb").ops


def test_several_ends_are_listed(tmp_path):
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [None], name="x")
        tf.sqrt(x, name="root")
        tf.square(x, name="square")
    tf.io.write_graph(graph, str(tmp_path), "two.pb", as_text=False)
    with pytest.raises(DataError, match=r"2 possible outputs \(root, square\)"):
        open_model(tmp_path / "two.pb")
    both = open_model(tmp_path / "two.pb", outputs=["root", "square"])
    found = both(x=np.array([4.0, 9.0], np.float32))
    np.testing.assert_allclose(found["square"], [16, 81])
    np.testing.assert_allclose(found["root"], [2, 3])


def saved_twice(folder, first, second):
    """Returns a SavedModel of two graphs; the output is which one it is."""
    builder = tf1.saved_model.Builder(str(folder))
    for number, tags in enumerate((first, second)):
        with tf.Graph().as_default(), tf1.Session() as session:
            tf1.get_variable("w", [1])
            session.run(tf1.global_variables_initializer())
            spare = tf1.placeholder(tf.float32, [], name="keep")  # that no output reads
            ends = {"which": tf.constant(number, name="which")}
            signature = tf1.saved_model.predict_signature_def({"keep": spare}, ends)
            add = builder.add_meta_graph if number else functools.partial(
                builder.add_meta_graph_and_variables, session)
            add(list(tags), signature_def_map={"serving_default": signature})
    with contextlib.redirect_stderr(None):
        builder.save()
    return folder


# The nearer the front, the more it is for use; of the last kind none is opened unasked.
RANKS = {("serve",): 0, ("serve", "gpu"): 0, (): 1, ("eval",): 2, ("train",): 3,
         ("train", "gpu"): 3}
NEIGHBOURS = [pair for one in itertools.pairwise(RANKS) for pair in (one, one[::-1])]


@pytest.mark.parametrize(("first", "second"), NEIGHBOURS)
def test_the_graph_to_use_is_chosen_by_its_tags(first, second, tmp_path):
    path = saved_twice(tmp_path / "model", first, second)
    chosen = int(RANKS[second] < RANKS[first])
    best = (first, second)[chosen]
    assert f"tags: {' '.join(best) or 'none'}; another graph" in str(describe(path))
    if "train" in best:
        with pytest.raises(DataError, match="training graphs, in which dropout"):
            open_model(path)
        with open_model(path, outputs=["which"]) as model:
            assert model() in (0, 1)
    else:
        with open_model(path) as model:
            assert model(keep=1.0) == chosen


def test_a_meta_graph_of_2016_says_no_version(tmp_path):
    message = tf1.MetaGraphDef.FromString(
        (MUSEUM / "slim" / "model.ckpt-30.meta").read_bytes())
    message.meta_info_def.ClearField("tensorflow_version")
    shutil.copytree(MUSEUM / "slim", tmp_path / "slim")
    path = tmp_path / "slim" / "model.ckpt-30.meta"
    values = golden("slim")
    for content in (message.SerializeToString(), str(message).encode()):
        path.write_bytes(content)
        assert describe(path).kind == "meta graph"
        with open_model(path) as model:
            np.testing.assert_allclose(
                model(images=values["images"]), values["raw"], rtol=1e-5, atol=1e-6)


def written(folder, kind):
    """Returns a file of five records, or of a start and four losses."""
    if kind == "events":
        with tf.Graph().as_default(), tf1.summary.FileWriter(str(folder)) as writer:
            for step in range(4):
                loss = tf1.Summary.Value(tag="loss", simple_value=step)
                writer.add_summary(tf1.Summary(value=[loss]), step)
        return next(folder.glob("events*"))
    with tf.io.TFRecordWriter(str(folder / "five"), kind) as writer:
        for number in range(5):
            writer.write(b"abc" * number * 10)
    return folder / "five"


@pytest.mark.parametrize("kind", ["", "GZIP", "ZLIB", "events"])
def test_what_is_cut_at_its_end_is_read_up_to_there(kind, tmp_path):
    path = written(tmp_path, kind)
    whole, counts = path.read_bytes(), []
    for size in range(1, len(whole) + 1):
        path.write_bytes(whole[:size])
        try:
            found = describe(path)
        except DataError as error:  # not one record is whole
            assert "cut" in str(error) or "of an unknown kind" in str(error)
            counts.append(0)
            continue
        counts.append(found.records)
        assert bool(found.cut) == ("CUT SHORT in record" in str(found))
        assert found.cut or size == len(whole) or kind in ("", "events")  # no end mark
    assert counts == sorted(counts) and counts[-1] == 5 and not found.cut
    assert set(counts) >= ({0, 1, 2, 3, 4, 5} if kind in ("", "events") else {0, 5})


def test_what_lies_inside_a_loop_is_no_end(tmp_path):
    with tf.Graph().as_default() as graph:
        tf1.disable_control_flow_v2()
        x = tf1.placeholder(tf.float32, [], name="x")

        def body(step, value):
            tf.negative(value, name="nobody_reads_this")
            return step + 1, value * 2

        _, end = tf1.while_loop(lambda step, _: step < 3, body, [tf.constant(0), x])
        tf.identity(end, name="out")
    tf1.enable_control_flow_v2()
    tf.io.write_graph(graph, str(tmp_path), "loop.pb", as_text=False)
    assert [node.name for node in describe(tmp_path / "loop.pb").outputs] == ["out"]
    with open_model(tmp_path / "loop.pb") as model:
        assert model(x=3.0) == 24


def test_a_frozen_graph_with_references_is_opened_whatever_its_name(tmp_path):
    """Batch statistics of a `tf.cond` leave reference ops when a graph is frozen."""
    with tf1.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [None, 2], name="x")
        train = tf1.placeholder_with_default(False, [], name="train")
        mean = tf1.get_variable("mean", [2], use_resource=False)

        def update():
            batch = tf.reduce_mean(x, 0)
            with tf1.control_dependencies([tf1.assign_sub(mean, mean - batch)]):
                return tf.identity(batch)
        tf1.disable_control_flow_v2()
        used = tf1.cond(train, update, lambda: tf.identity(mean))
        tf1.enable_control_flow_v2()
        tf1.identity(x - used, name="out")
    frozen = tf1.GraphDef()
    for node in graph.as_graph_def().node:
        if node.op == "VariableV2":
            const = frozen.node.add(name=node.name, op="Const")
            const.attr["dtype"].type = 1
            const.attr["value"].tensor.CopyFrom(tf.make_tensor_proto([0.5, 0.5]))
        elif node.name != "mean/Assign":
            frozen.node.add().CopyFrom(node)
    for name in ("frozen.pb", "saved_model.pb"):
        (tmp_path / name).write_bytes(frozen.SerializeToString())
        with pytest.warns(UserWarning, match=r"values instead: .*RefSwitch"):
            model = open_model(tmp_path / name, outputs=["out"])
        assert model(x=[[1.0, 2.0]]).tolist() == [[0.5, 1.5]]
        told = describe(tmp_path / name)
        assert "turns ops on references into ops on values" in str(told)
        assert told.kind.startswith("frozen graph") == (name != "frozen.pb")


def write_array(path):
    with path.open("wb") as file:
        np.save(file, np.ones([2]))


def write_alexnet(path):
    with path.open("wb") as file:
        np.save(file, np.array({"conv1": [np.ones([2])]}, dtype=object))


def write_vgg(path):
    with path.open("wb") as file:
        np.savez(file, conv1_1_W=np.ones([3, 3]), conv1_1_b=np.ones([3]))


def write_darknet(path):
    path.write_bytes(struct.pack("<3iq", 0, 2, 0, 32013312) + bytes(4 * 7))


def write_events(path):
    (path / "train").mkdir(parents=True)
    with tf1.Graph().as_default() as graph:
        tf1.summary.FileWriter(str(path / "train"), graph).close()


def write_zip(path):
    with zipfile.ZipFile(path, "w") as file:  # the members that torch.save writes
        file.writestr("archive/data.pkl", b"")
        file.writestr("archive/data/0", b"\0")


def write_old_torch(path):
    path.write_bytes(b"".join(pickle.dumps(item, 2) for item in
                              (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})))


OTHERS = {
    "array": (write_array, "np.load reads it"),
    "AlexNet": (write_alexnet, 'encoding="latin1" and allow_pickle=True'),
    "VGG": (write_vgg, r"2 NumPy arrays \(conv1_1_W, conv1_1_b\)\. np\.load"),
    "half a VGG": (lambda path: (write_vgg(path), path.write_bytes(
        path.read_bytes()[:200])), "cut short"),
    "pickle": (lambda path: path.write_bytes(pickle.dumps([1], 2)), "pickle.load"),
    "pickle as text": (lambda path: path.write_bytes(pickle.dumps({"a": 1}, 0)),
                       "pickle.load"),
    "PyTorch": (write_zip, "torch.load"),
    "old PyTorch": (write_old_torch, "torch.load"),
    "label map": (lambda path: path.write_text(
        "# classes\nitem {\n  id: 1\n  name: 'cat'\n}\n"), "label map"),
    "pipeline": (lambda path: path.write_text(
        "model {\n  ssd {\n  }\n}\ntrain_config: {\n}\n"), "pipeline.config"),
    "layers of darknet": (lambda path: path.write_text("[net]\nwidth=1"), "darknet"),
    "darknet": (write_darknet, "weights of a darknet network"),
    "TFLite": (lambda path: path.write_bytes(b"\x1c\0\0\0TFL3...."), "tf.lite"),
    "events": (write_events, r"a folder of event files \(1 of them\)"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_a_file_of_another_program_is_told_for_what_it_is(kind, tmp_path):
    write, words = OTHERS[kind]
    write(tmp_path / "a")
    with pytest.raises(DataError, match=words):
        describe(tmp_path / "a")


def test_a_record_of_sequences_says_what_it_holds(tmp_path):
    sequence = tf.train.SequenceExample()
    sequence.context.feature["image/data"].bytes_list.value.append(b"jpeg")
    steps = sequence.feature_lists.feature_list["image/caption_ids"]
    for number in range(3):
        steps.feature.add().int64_list.value.append(number)
    example = tf.train.Example()
    example.features.feature["label"].float_list.value[:] = [1.0, 2.0]
    for message, words in (
            (sequence, ["a tf.train.SequenceExample", "context: image/data bytes [1]",
                        "list: image/caption_ids of 3, each int64 [1]"]),
            (example, ["a tf.train.Example: 1", "label float [2]"])):
        with tf.io.TFRecordWriter(str(tmp_path / "records")) as writer:
            writer.write(message.SerializeToString())
        said = str(describe(tmp_path / "records"))
        assert all(text in said for text in words), said


def test_half_a_data_file_is_named_and_its_path_leads_to_its_checkpoint(tmp_path):
    with tf1.Graph().as_default(), tf1.Session() as sess:
        tf1.get_variable("w", [50, 20])
        sess.run(tf1.global_variables_initializer())
        tf1.train.Saver().save(sess, str(tmp_path / "model.ckpt"))
    data = tmp_path / "model.ckpt.data-00000-of-00001"
    assert describe(data).lacks == [] and "w" in describe(data).variables
    data.write_bytes(data.read_bytes()[:2000])
    for name in ("model.ckpt", "model.ckpt.meta"):
        assert f"{data.name}: 2,000 of 4,000 bytes" in str(describe(tmp_path / name))


def test_a_signature_that_needs_no_table_opens_without_the_file_of_the_table(tmp_path):
    (tmp_path / "words.txt").write_text("a\nb\n")
    with tf1.Graph().as_default(), tf1.Session() as sess:
        x, word = tf1.placeholder(tf.float32, [2]), tf1.placeholder(tf.string, [1])
        asset = tf.constant(str(tmp_path / "words.txt"))
        tf1.add_to_collection(tf1.GraphKeys.ASSET_FILEPATHS, asset)
        table = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
            asset, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
            tf.lookup.TextFileIndex.LINE_NUMBER), -1)
        w = tf1.get_variable("w", [2], initializer=tf1.ones_initializer())
        sign = tf1.saved_model.predict_signature_def
        builder = tf1.saved_model.Builder(str(tmp_path / "model"))
        sess.run([w.initializer, tf1.tables_initializer()])
        builder.add_meta_graph_and_variables(
            sess, ["serve"],
            {"double": sign({"x": x}, {"y": x + w}),
             "number": sign({"word": word}, {"y": table.lookup(word)})},
            assets_collection=tf1.get_collection(tf1.GraphKeys.ASSET_FILEPATHS),
            main_op=tf1.tables_initializer())
        builder.save()
    with open_model(tmp_path / "model", signature="number") as model:
        assert model(word=["b"]).tolist() == [1]
    (tmp_path / "model" / "assets" / "words.txt").unlink()
    assert "assets/words.txt, which a table reads" in str(describe(tmp_path / "model"))
    with open_model(tmp_path / "model", signature="double") as model:
        assert model(x=[1.0, 2.0]).tolist() == [2, 3]
        with pytest.raises(ValueError, match=r"needs the name of its input, as in mod"):
            model(np.ones([2]))
    with pytest.raises(DataError, match=r"needs assets/words\.txt, which"):
        open_model(tmp_path / "model", signature="number")

