"""Damaged and hostile files that somebody left: one line, and nothing of them runs."""

import contextlib
import io
import json
import shutil

import numpy as np
import pytest
import tensorflow.compat.v1 as tf1
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.errors import DataError
from helpers.files import ROOT
from helpers.inherited import describe, open_model, read_weights

MUSEUM = ROOT / "data" / "museum"

# Each file of a piece, and the piece that it belongs to.
CATALOGUE = json.loads((MUSEUM / "manifest.json").read_text("utf-8"))["files"]
FILES = sorted(name for name in CATALOGUE
               if not name.startswith(("golden/", "estimator/events"))
               and not name.endswith(("checkpoint", "graph.pbtxt")))


def piece_of(name, folder):
    """Returns the path by which a user would open the piece with this file."""
    path = folder / name
    for parent in path.parents:
        if (parent / "saved_model.pb").exists():
            return parent
    if ".data-" in path.name or path.suffix == ".index":
        return path.with_name(path.name.split(".data-")[0].removesuffix(".index"))
    return path


@contextlib.contextmanager
def refused(path, words=None):
    """The block must raise a `DataError` of one line that names the file or piece."""
    with pytest.raises(DataError, match=words) as caught:
        yield
    message = str(caught.value)
    assert "\n" not in message and path.name.split(".")[0] in message, message


@pytest.fixture(scope="module")
def museum(tmp_path_factory):
    """A copy, to be damaged and put right."""
    return shutil.copytree(MUSEUM, tmp_path_factory.mktemp("copy") / "museum")


@pytest.mark.parametrize("name", FILES)
def test_a_deleted_range_of_any_file_is_one_line(name, museum, tried):
    """The catalogue's SHA-256 finds every cut, in every kind of file."""
    file = museum / name
    whole = file.read_bytes()
    start, end = sorted(np.random.default_rng(len(whole)).integers(0, len(whole), 2))
    cuts = [(0, len(whole)), (0, 1), (len(whole) - 1, len(whole)), (start, end + 1)]
    tried(2 * len(cuts))
    for start, end in cuts:
        file.write_bytes(whole[:start] + whole[end:])
        for look in (describe, read_weights):
            with refused(file):
                look(piece_of(name, museum))
    file.write_bytes(whole)


CHECKSUMMED = ("slim/model.ckpt-30.index", "recurrent/model.ckpt.index",
               "slim/model.ckpt-30.data-00000-of-00001",
               "recurrent/model.ckpt.data-00000-of-00001",
               "records/rows.tfrecord.gzip", "records/rows.tfrecord.zlib")


@pytest.mark.parametrize("name", CHECKSUMMED)
def test_formats_with_checksums_need_no_catalogue(name, tmp_path, tried):
    """A cut is refused, or nothing that is read is another."""
    folder = tmp_path / "copy"
    shutil.copytree((MUSEUM / name).parent, folder)
    file = folder / name.split("/")[1]
    piece = piece_of(file.name, folder)
    look = (lambda path: describe(path).records) if "records" in name else read_weights
    before, whole = look(piece), file.read_bytes()
    cuts = np.linspace(0, len(whole) - 1, 15).astype(int)
    tried(len(cuts))
    for start in cuts:
        file.write_bytes(whole[:start] + whole[start + 3 :])
        with contextlib.suppress(DataError):
            found = look(piece)
            if isinstance(found, dict):
                assert found.keys() == before.keys()
                assert all(np.array_equal(found[k], before[k]) for k in found)
            else:
                assert found == before


@settings(derandomize=True, deadline=None, max_examples=60,
          suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_random_damage_without_a_catalogue_is_a_line_or_an_answer(data, tmp_path):
    """No traceback of another kind, whatever bytes a graph file holds."""
    whole = (MUSEUM / "slim_frozen.pb").read_bytes()
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, len(whole)))
    middle = data.draw(st.binary(max_size=20))
    (tmp_path / "damaged.pb").write_bytes(whole[:start] + middle + whole[end:])
    images = np.zeros([1, 16, 16, 3], np.float32)
    try:
        describe(tmp_path / "damaged.pb")
        with open_model(tmp_path / "damaged.pb", outputs=["probabilities"]) as model:
            if list(model.inputs) == ["images"]:
                model(images=images)
    except DataError as error:
        assert "\n" not in str(error) and "damaged.pb" in str(error)
    except ValueError as error:
        assert str(error).startswith("The value for")  # the placeholder's shape was hit


def graph_of(path, *nodes):
    """Writes a graph of these ops, each of which reads `x`."""
    graph = tf1.GraphDef()
    graph.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
    for name, op in nodes:
        graph.node.add(name=name, op=op, input=["x"])
        if op == "Identity":
            graph.node[-1].attr["T"].type = 1
    path.write_bytes(graph.SerializeToString())
    return path


@pytest.mark.parametrize(("op", "words"), [
    ("MyCompanysSecretOp", "not provide: MyCompanysSecretOp"),
    ("GatherTree", "contrib's beam search")])
def test_an_op_of_another_library_is_named(op, words, tmp_path):
    path = graph_of(tmp_path / "custom.pb", ("y", op))
    assert describe(path).missing == [op]
    with pytest.raises(DataError, match=words) as caught:
        open_model(path, outputs=["y"])
    assert "\n" not in str(caught.value)


def test_a_missing_op_elsewhere_does_no_harm(tmp_path):
    path = graph_of(tmp_path / "custom.pb", ("y", "Identity"),
                    ("other", "MyCompanysSecretOp"))
    with open_model(path, outputs=["y"]) as model:
        assert model(x=np.float32(3)) == 3


def saved_array(array):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


@pytest.mark.parametrize(("content", "words"), [
    (b"", "is empty"), (b"\0" * 100, "of an unknown kind"),
    (b"<html></html>", "of an unknown kind"), (b"PK\x03\x04x", "cut short"),
    (b"\x80\x04\x95pickle", "of an unknown kind"),
    (b"\x89HDF\r\n\x1a\nxx", "cannot be|Keras"), (b"\x1c\0\0\0TFL3\0\0", "TFLite"),
    (b'{"class_name": "Model"}', "to_json"),
    (saved_array(np.ones(3)), "np.load reads it"),
    (saved_array(np.array([{}])), "allow_pickle=True.* runs whatever the file says")])
def test_a_file_of_another_kind_is_one_line(content, words, tmp_path):
    path = tmp_path / "thing.pb"
    path.write_bytes(content)
    for look in (describe, open_model, read_weights):
        with refused(path, words):
            look(path)
