"""Thousands of hostile graphs and Keras files: one line each, nothing touched."""

import json
import os
import shutil
import sys

import h5py
import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from tensorflow.core.protobuf import saved_model_pb2

from helpers.errors import DataError
from helpers.files import ROOT
from helpers.inherited import describe, open_model
from helpers.inherited.allowed import ALLOWED, DEEPEST, READS
from tests.faults.op_by_op import Watch, registered, touched

MUSEUM = ROOT / "data" / "museum"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="watches by inotify")
OTHERS = sorted(set(registered()) - ALLOWED - {"Print"})  # becomes an identity
FLOAT = tf.float32.as_datatype_enum

# With arguments that make no sense these end the process, in TensorFlow 2.21: bugs of
# its own, and the reason why a stranger's model belongs in a container. The pools and
# convolutions do so where oneDNN runs them, which depends on the processor.
BUGS = {"CombinedNonMaxSuppression", "Conv2DBackpropFilter", "Conv2DBackpropInput",
        "Conv3DBackpropFilterV2", "DepthwiseConv2dNativeBackpropFilter",
        "DepthwiseConv2dNativeBackpropInput", "LSTMBlockCell", "LSTMBlockCellGrad",
        "ParseExample", "QuantizedAvgPool", "QuantizedConcatV2", "QuantizedMaxPool",
        "ResourceGather", "TensorListGetItem"}


# What the watch must see, or it proves nothing.
SEEN = ["ReadFile", "WriteFile", "ImmutableConst", "RecordInput"]


def test_an_op_of_the_list_touches_no_file(tmp_path, tried):
    names = sorted(ALLOWED - set(READS) - BUGS)
    tried(len(names))
    found, ended, ran = touched([*SEEN, *names], tmp_path)
    assert sorted(found) == sorted(SEEN) and not ended
    assert ran > 250  # the others refuse the arguments, and have touched nothing


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """A folder with baits; what happens in it must be nothing."""
    folder = tmp_path / "watched"
    folder.mkdir()
    (folder / "bait").write_text("one\ntwo\n")
    monkeypatch.chdir(folder)
    watch = Watch(str(folder))
    yield folder
    assert not watch.events() and os.listdir(folder) == ["bait"]


def hostile(nodes, op, bait, name="bad\x1b[2J"):
    """Adds an op with a file's name for every input and every string."""
    text = nodes.add(name="text", op="Const")
    text.attr["dtype"].type = tf.string.as_datatype_enum
    text.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(str(bait)))
    node = nodes.add(name=name, op=op.name, input=["text"] * max(1, len(op.input_arg)))
    for attribute in op.attr:
        node.attr[attribute.name].CopyFrom(attribute.default_value)
    return node


def graph_with(op, bait, way):
    """Returns a graph whose `y` needs the op, in one of several ways."""
    graph = tf1.GraphDef()
    graph.node.add(name="x", op="Placeholder").attr["dtype"].type = FLOAT
    y = graph.node.add(name="y", op="Identity", input=["x"])
    y.attr["T"].type = FLOAT
    if way in ("data", "control"):
        bad = hostile(graph.node, op, bait).name
        y.input[:] = [bad] if way == "data" else ["x", f"^{bad}"]
        return graph
    for depth in range(3):
        function = graph.library.function.add()
        function.signature.name = f"f{depth}"
        if depth < 2:
            call(function.node_def, f"f{depth + 1}", (depth, way))
        else:
            hostile(function.node_def, op, bait)
    call(graph.node, "f0", (2, way))
    y.input.append("^call")
    return graph


def call(nodes, name, kind):
    """Adds a call of a function, in one of the forms that a graph has for it."""
    form = {"direct": "PartitionedCall", "loop": "While", "branch": "StatelessCase",
            "hidden": "MapDefun"}[kind[1]]
    node = nodes.add(name="call", op=name if kind == (0, "direct") else form)
    if form == "StatelessCase":
        node.attr["branches"].list.func.add().name = name
    elif form == "MapDefun":  # a function given to a function
        node.attr["f"].func.attr["inner"].func.name = name
    elif form == "While":
        node.attr["cond"].func.name = node.attr["body"].func.name = name
    else:
        node.attr["f"].func.name = name


def meta_with(op, bait, way):
    """Returns a MetaGraphDef that runs the op when it is opened."""
    meta = tf1.MetaGraphDef()
    meta.meta_info_def.tensorflow_version = "1.15.5"
    meta.graph_def.CopyFrom(graph_with(op, bait, "control"))
    x, y, bad = meta.graph_def.node[:2][0], meta.graph_def.node[1], "bad\x1b[2J"
    y.input[:] = [x.name, "^table"]
    table = meta.graph_def.node.add(name="table", op="HashTableV2")
    for key in ("key_dtype", "value_dtype"):
        table.attr[key].type = tf.int64.as_datatype_enum
    if way == "restore":
        meta.saver_def.restore_op_name = bad
        meta.saver_def.filename_tensor_name = "name:0"
    elif way == "signature":
        meta.signature_def["__saved_model_init_op"].outputs["it"].name = bad
        meta.collection_def["saved_model_main_op"].node_list.value.append("x")
    else:
        meta.collection_def[way].node_list.value.append(bad)
    return meta


def refused(path, *words, **options):
    """Opening must fail in one line that names the file and what it refuses."""
    with pytest.raises(DataError) as caught:
        open_model(path, **options)
    text = str(caught.value)
    assert text.isprintable() and path.name in text, text
    assert all(word in text for word in words), text


GRAPHS = ["data", "control", "direct", "loop", "branch", "hidden"]


@pytest.mark.parametrize("way", GRAPHS)
def test_no_graph_opens_that_needs_another_op(way, watched, tried):
    ops, path = registered(), watched.parent / "graph.pb"
    names = OTHERS if way == "data" else OTHERS[GRAPHS.index(way)::20]
    tried(len(names))
    for name in names:
        graph = graph_with(ops[name], watched / "bait", way)
        path.write_bytes(graph.SerializeToString())
        refused(path, f"({name})" if hasattr(tf.raw_ops, name) or name[0] == "_"
                else name, outputs=["y"], inputs=["x"])


@pytest.mark.parametrize("way", ["table_initializer", "saved_model_main_op",
                                 "legacy_init_op", "signature", "restore"])
def test_nothing_runs_on_opening_that_is_not_listed(way, watched, tried):
    ops, folder, names = registered(), watched.parent / "model", OTHERS[::30]
    tried(len(names))
    folder.mkdir()
    shutil.copytree(MUSEUM / "saved_model" / "variables", folder / "variables")
    for name in names:
        meta = meta_with(ops[name], watched / "bait", way)
        if way == "table_initializer":
            path = folder / "graph.meta"
            path.write_bytes(meta.SerializeToString())
        else:
            path = folder / "saved_model.pb"
            saved = saved_model_pb2.SavedModel(meta_graphs=[meta])
            path.write_bytes(saved.SerializeToString())
            path = folder
        refused(path, name, outputs=["y"], inputs=["x"])
        assert name in str(describe(path))


def test_only_the_own_checkpoint_is_restored(watched):
    """A restore op that names a file, or gets the name from a function's argument."""
    path = watched.parent / "graph.pb"
    for name in READS:
        for way in ("data", "direct", "hidden"):
            graph = graph_with(registered()[name], watched / "bait", way)
            path.write_bytes(graph.SerializeToString())
            refused(path, "not the model's own", outputs=["y"], inputs=["x"])


@pytest.mark.parametrize("kind", ["itself", "deep", "wide", "absent", "named", "handle",
                                  "loop"])
def test_functions_that_never_end_or_are_not_there(kind, watched):
    graph = graph_with(registered()["Abs"], watched / "bait", "direct")
    del graph.library.function[:]
    many = {"deep": DEEPEST + 9, "wide": 30}.get(kind, 1)
    for number in range(many):
        function = graph.library.function.add()
        function.signature.name = "Abs" if kind == "named" else f"f{number}"
        for twice in range(1 + (kind == "wide")):
            following = {"absent": "WriteFile", "itself": "f0"}.get(
                kind, f"f{number + 1}" if number + 1 < many else None)
            if following:
                call(function.node_def, following, (1, "direct"))
                function.node_def[-1].name += str(twice)
    if kind == "named":
        graph.node[-1].attr["f"].func.name = "Abs"
    if kind == "handle":
        made = graph.node.add(name="made", op="Const")
        made.attr["dtype"].type = tf.resource.as_datatype_enum
        graph.node[1].input.append("^made")
    if kind == "loop":
        graph.node.add(name="enter", op="Enter", input=["x"]).attr["T"].type = FLOAT
    path = watched.parent / "graph.pb"
    path.write_bytes(graph.SerializeToString())
    words = {"itself": "call itself", "deep": "nests more than", "wide": "1,000,000",
             "absent": "not in the file", "named": "name of an op",
             "handle": "handle out of bytes", "loop": "without a body"}
    refused(path, words[kind], outputs=["enter" if kind == "loop" else "y"])


CODE = ["Lambda", "TFOpLambda", "SlicingOpLambda", "ClassMethod", "InstanceProperty",
        "TensorFlowOpLayer", "ResidualWrapper", "DropoutWrapper", "DeviceWrapper",
        "Custom>Thing", "function", "__lambda__", "__tensor__", "StringLookup",
        "TextVectorization", "IntegerLookup", "Wrapper", "Layer", "DenseFeatures",
        "deserialize", "Merge", "", None, 7, ["Dense"], {"class_name": "Lambda"}]


def hostile_layer(draw):
    """Returns something that a layer's configuration must not hold."""
    kind = CODE[draw.integers(len(CODE))]
    return [
        {"class_name": kind, "config": {"name": "bad", "function": "io.write_file",
                                        "arguments": ["bait", "x"]}},
        {"class_name": "Dense", "config": {"name": "bad", "units": 1,
                                           "activation": "serialize"}},
        {"class_name": "Dense", "config": {"name": "bad", "kernel_initializer": "get"}},
        {"class_name": "Dense", "module": "os", "config": {"name": "bad"}},
        {"class_name": "Dense", "registered_name": "mine>Dense",
         "config": {"name": "bad"}},
    ][draw.integers(5) if draw.random() < 0.4 else 0]


def wrapped(draw, layer):
    """Returns an allowed layer that holds another one somewhere."""
    name = f"outer\x1b[2J{draw.integers(9)}"
    key, kind = [
        ("layer", "Bidirectional"), ("backward_layer", "Bidirectional"),
        ("layer", "TimeDistributed"), ("cell", "RNN"), ("cells", "StackedRNNCells"),
        ("layers", "Sequential"), ("kernel_initializer", "Dense"),
        ("activation", "Activation"), ("dtype", "Dense"),
        ("anything", "Flatten"), ("inbound_nodes", "Add"),
    ][draw.integers(11)]
    if key in ("cells", "layers"):
        layer = [layer]
    if key == "inbound_nodes":
        layer = [[["x", 0, 0, {"mask": layer}]]]
    return {"class_name": kind, "config": {"name": name, key: layer}}


def test_no_keras_file_opens_that_names_another_class(watched, tried):
    draw, path = np.random.default_rng(24), watched.parent / "model.h5"
    tried(200)
    for _ in range(200):
        layer = hostile_layer(draw)
        for _ in range(draw.integers(4)):
            layer = wrapped(draw, layer)
        config = {"class_name": "Sequential", "config": {"layers": [layer]}}
        with h5py.File(path, "w") as file:
            file.attrs["model_config"] = json.dumps(config)
        refused(path)
        assert describe(path).refused and str(describe(path)).count("\x1b") == 0
