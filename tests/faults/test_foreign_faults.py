"""A model reads its own files and no others: every signature, every link, every name.

The cases are made here, from what can vary: where a list stands among a function's
arguments, which file of a piece is a link, and what a Keras file is called.
"""

import io
import itertools
import shutil
import zipfile

import h5py
import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from tensorflow.core.framework import function_pb2
from tensorflow.core.protobuf import saved_model_pb2

from helpers.errors import DataError
from helpers.files import ROOT
from helpers.inherited import describe, open_model, read_weights

MUSEUM = ROOT / "data" / "museum"
# An argument of a function: of one input, or of so many, by number or by types.
ARGUMENTS = ("plain", "number 0", "number 1", "number 2", "types 0", "types 2")
FORMS = ("direct", "PartitionedCall", "StatefulPartitionedCall")


def node(nodes, name, op, inputs=(), **attributes):
    made = nodes.add(name=name, op=op, input=inputs)
    for key, value in attributes.items():
        if isinstance(value, tf.DType):
            value = tf1.AttrValue(type=value.as_datatype_enum)
        elif isinstance(value, int):
            value = tf1.AttrValue(i=value)
        made.attr[key].CopyFrom(value)
    return made


def const(nodes, name, value, dtype):
    tensor = tf1.AttrValue(tensor=tf.make_tensor_proto(value, dtype))
    node(nodes, name, "Const", dtype=dtype, value=tensor)


def reading(arguments, place):
    """Returns a function of texts that gives the first line of the one at a place."""
    function = function_pb2.FunctionDef()
    function.signature.name = "reads"
    numbers = {}
    for k, argument in enumerate(arguments):
        kind, _, count = argument.partition(" ")
        added = function.signature.input_arg.add(name=f"a{k}")
        if kind == "types":
            added.type_list_attr = f"N{k}"
            numbers[f"N{k}"] = tf1.AttrValue(list=tf1.AttrValue.ListValue(
                type=[tf.string.as_datatype_enum] * int(count)))
        else:
            added.type = tf.string.as_datatype_enum
        if kind == "number":
            added.number_attr = f"N{k}"
            numbers[f"N{k}"] = tf1.AttrValue(i=int(count))
        if kind != "plain":
            function.signature.attr.add(
                name=f"N{k}", type="int" if kind == "number" else "list(type)")
    function.signature.output_arg.add(name="y", type=tf.string.as_datatype_enum)
    body = function.node_def
    name = f"a{place}" if arguments[place] == "plain" else f"a{place}:0"
    node(body, "t", "HashTableV2", key_dtype=tf.int64, value_dtype=tf.string)
    node(body, "init", "InitializeTableFromTextFileV2", ["t:table_handle:0", name],
         key_index=-1, value_index=-2, vocab_size=-1, delimiter=tf1.AttrValue(s=b"\t"))
    const(body, "k", np.int64(0), tf.int64)
    const(body, "d", b"?", tf.string)
    node(body, "find", "LookupTableFindV2",
         ["t:table_handle:0", "k:output:0", "d:output:0", "^init"],
         Tin=tf.int64, Tout=tf.string)
    function.ret["y"] = "find:values:0"
    return function, numbers


def model_that_reads(folder, secret, arguments, place, form, foreign):
    """Writes a SavedModel that reads through a function; all other inputs are its own.

    Args:
      folder: of the model.
      secret: a file outside.
      arguments: of the function.
      place: of the argument that is read.
      form: of the call.
      foreign: whether this argument is the secret, or the model's own file.
    """
    (folder / "assets").mkdir(parents=True, exist_ok=True)
    (folder / "assets" / "a.txt").write_text("own\n")
    function, numbers = reading(arguments, place)
    saved = saved_model_pb2.SavedModel(saved_model_schema_version=1)
    meta = saved.meta_graphs.add()
    meta.meta_info_def.tags.append("serve")
    graph = meta.graph_def
    graph.versions.producer = 134
    graph.library.function.append(function)
    const(graph.node, "asset", b"a.txt", tf.string)
    const(graph.node, "secret", str(secret), tf.string)
    inputs = []
    for k, argument in enumerate(arguments):
        count = int(argument.partition(" ")[2] or 1)
        name = "secret" if k == place and foreign else "asset"
        inputs += [name] * count
    call = node(graph.node, "y", "reads" if form == "direct" else form, inputs)
    if form == "direct":
        for key, value in numbers.items():
            call.attr[key].CopyFrom(value)
    else:
        text = [tf.string.as_datatype_enum]
        call.attr["Tin"].list.type.extend(text * len(inputs))
        call.attr["Tout"].list.type.extend(text)
        call.attr["f"].func.name = "reads"
        for key, value in numbers.items():
            call.attr["f"].func.attr[key].CopyFrom(value)
    meta.asset_file_def.add(filename="a.txt").tensor_info.name = "asset:0"
    signature = meta.signature_def["serving_default"]
    signature.outputs["y"].name = "y:0"
    signature.outputs["y"].dtype = tf.string.as_datatype_enum
    (folder / "saved_model.pb").write_bytes(saved.SerializeToString())


def test_no_signature_leads_a_function_to_a_file_of_another(tmp_path, tried):
    secret = tmp_path / "secret.txt"
    secret.write_text("secret\n")
    cases = [(arguments, place) for length in (1, 2, 3)
             for arguments in itertools.product(ARGUMENTS, repeat=length)
             for place in range(length) if not arguments[place].endswith("0")
             and (length < 3 or "plain" in arguments)]
    tried(len(cases))
    for number, (arguments, place) in enumerate(cases):
        folder, form = tmp_path / f"model{number}", FORMS[number % 3]
        model_that_reads(folder, secret, arguments, place, form, foreign=True)
        with pytest.raises(DataError, match="reads a file that is not the model's own"):
            open_model(folder)
        assert any("not the model's own" in line for line in describe(folder).refused)
        if set(arguments) == {"plain"}:  # and its own file it does read
            model_that_reads(folder, secret, arguments, place, form, foreign=False)
            with open_model(folder) as model:
                assert model() == b"own"


# A piece of several files, and the ways to name it.
PIECES = {"slim": ["", "model.ckpt-30", "model.ckpt-30.meta", "model.ckpt-30.index"],
          "old_format": ["", "model.ckpt.meta"],
          "saved_model": ["", "saved_model.pb"],
          "estimator/export/1546300800": ["", "saved_model.pb"]}


@pytest.mark.parametrize(("piece", "named"), [(piece, named) for piece in PIECES
                                              for named in PIECES[piece]])
def test_a_file_that_is_a_link_out_of_the_folder_is_never_read(
        piece, named, tmp_path, tried):
    """By one rule for every format; what was named itself may be a link."""
    (tmp_path / "elsewhere").mkdir()
    folder = tmp_path / "model"
    shutil.copytree(MUSEUM / piece, folder)
    links = [path for path in sorted(folder.rglob("*")) if path != folder / named
             and (not named or path.name != "checkpoint")]
    tried(len(links))
    for path in links:
        away = path.rename(tmp_path / "elsewhere" / path.name)
        path.symlink_to(away)
        for look in (describe, open_model, read_weights):
            with pytest.raises(DataError, match="outside its folder") as caught:
                look(folder / named)
            assert str(path) in str(caught.value)
        path.unlink()
        inside = away.rename(path.with_name(f"other {path.name}"))
        path.symlink_to(inside.name)  # a link that stays inside is fine
        describe(folder / named)
        path.unlink()
        inside.rename(path)
    (tmp_path / "link").symlink_to(folder)
    describe(tmp_path / "link" / named)


@pytest.mark.parametrize(
    "suffix", [".h5", ".keras", ".weights.h5", ".hdf5", ".bin", ""])
def test_what_a_keras_file_is_called_does_not_change_what_is_read(suffix, tmp_path):
    """Behind the HDF5 stands a zip, from which Keras would load, by a file's name."""
    behind = io.BytesIO()
    with zipfile.ZipFile(behind, "w") as file:
        file.writestr("model.weights.h5", b"others")
    path = tmp_path / f"model{suffix}"
    path.write_bytes((MUSEUM / "keras_model.h5").read_bytes() + behind.getvalue())
    with np.load(MUSEUM / "golden" / "keras_model.npz") as values:
        model = open_model(path)
        [name] = model.inputs
        np.testing.assert_allclose(model({name: values["images"]}),
                                   values["probabilities"], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("depth, size", [(101, 1), (1500, 1), (1, 10**10),
                                         (1, 2**40), (99, 3), (1, None)])
def test_hdf5_that_claims_what_cannot_be_is_one_line(depth, size, tmp_path):
    path = tmp_path / "model.h5"
    with h5py.File(path, "w") as file:
        group = file
        for _ in range(depth):
            group = group.create_group("d")
        group["real"] = np.ones(2, np.float32)
        if size is None:
            group["empty"] = h5py.Empty("f")
        else:
            group.create_dataset("kernel", (size,), "f4", chunks=(1000,),
                                 maxshape=(None,), compression="gzip")
    if depth > 100 or (size or 0) > 1000:
        for look in (describe, open_model, read_weights):
            with pytest.raises(DataError, match="levels deep|are stored"):
                look(path)
    else:
        assert "d/real" in str(describe(path))
        assert len(read_weights(path)) == 1 + (size is not None)


@pytest.mark.parametrize("kind", ["external", "virtual", "link", "soft"])
def test_hdf5_whose_data_lies_elsewhere_is_refused(kind, tmp_path):
    from helpers.vgg_weights import vgg_sizes

    path = tmp_path / "model.h5"
    (tmp_path / "bait").write_bytes(b"12")
    with h5py.File(path, "w") as file:
        group = file.create_group("model_weights/dense")
        if kind == "external":
            group.create_dataset("kernel", (2,), "u1",
                                 external=[(str(tmp_path / "bait"), 0, 2)])
        elif kind == "virtual":
            layout = h5py.VirtualLayout((2,), "u1")
            layout[:] = h5py.VirtualSource("bait", "x", (2,), "u1")
            group.create_virtual_dataset("kernel", layout)
        else:
            group["kernel"] = (h5py.ExternalLink("bait", "/x") if kind == "link"
                               else h5py.SoftLink("/nowhere"))
    for look in (describe, open_model, read_weights, vgg_sizes):
        with pytest.raises(DataError, match="another file|external link"):
            look(path)
