"""Weights that are damaged, of another net or not Keras's: one line, nothing loaded."""

import contextlib
import dataclasses
import hashlib
import http.server
import random
import re
import threading

import h5py
import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1
import tf_keras

from helpers import imagenet, vgg_weights
from helpers.errors import DataError
from helpers.imagenet import grab_imagenet_words
from helpers.vgg import vgg_features, vgg_net
from helpers.vgg_weights import (
    grab_vgg_weights,
    load_vgg_weights,
    save_vgg_weights,
    vgg_sizes,
)

SMALL = {"configuration": "D", "base_width": 1, "num_classes": 5}
NAME = vgg_weights.WEIGHTS["D", False].name
CONTENTS = random.Random(3).randbytes(70_001)


@contextlib.contextmanager
def net(build=vgg_net, size=32, **options):
    """A session of a graph with one net, its variables initialized."""
    options = SMALL | options
    if build is vgg_features:
        options.pop("num_classes")
    with tf.Graph().as_default(), tf1.Session() as session:
        build(tf1.placeholder(tf.float32, [None, size, size, 3]), **options)
        session.run(tf1.global_variables_initializer())
        yield session


@pytest.fixture
def path(tmp_path):
    """A whole file of a small VGG-16."""
    with net() as session:
        save_vgg_weights(session, tmp_path / "weights.h5")
    return tmp_path / "weights.h5"


def refused(path, **options):
    """Loads into a net and expects one line that names the file; nothing may move."""
    with net(**options) as session:
        variables = tf1.trainable_variables()
        before = session.run(variables)
        with pytest.raises(DataError) as caught:
            load_vgg_weights(session, path)
        for was, now in zip(before, session.run(variables), strict=True):
            np.testing.assert_array_equal(was, now)
    message = str(caught.value)
    assert message.startswith(f"{path}: ") and "\n" not in message
    return message


def test_a_file_cut_anywhere(path, tried):
    whole = path.read_bytes()
    lengths = sorted({0, 1, 7, 100, len(whole) - 1,
                      *random.Random(7).sample(range(len(whole)), 25)})
    tried(len(lengths))
    with net() as session:
        variables = tf1.trainable_variables()
        before = session.run(variables)
        for length in lengths:
            path.write_bytes(whole[:length])
            for read in (vgg_sizes, lambda path: load_vgg_weights(session, path)):
                with pytest.raises(DataError, match="not a whole file of weights"):
                    read(path)
        for was, now in zip(before, session.run(variables), strict=True):
            np.testing.assert_array_equal(was, now)


@pytest.mark.parametrize("file, graph, words", [
    ("D", "E", 'configuration D, and block 3 differs .*configuration="D"'),
    ("E", "D", 'configuration E, and block 3 differs .*configuration="E"'),
    ("A", "D", "configuration A, and block 1 differs"),
    ("C", "D", "conv3_3/kernel has shape"),
])
def test_the_weights_of_another_net(file, graph, words, tmp_path):
    with net(configuration=file) as session:
        save_vgg_weights(session, tmp_path / "other.h5")
    message = refused(tmp_path / "other.h5", configuration=graph)
    assert re.search(words, message), message


def test_no_top_into_a_net_with_one(tmp_path):
    with net(vgg_features) as session:
        save_vgg_weights(session, tmp_path / "notop.h5")
    message = refused(tmp_path / "notop.h5")
    assert "published without the top" in message and "top=True" in message


@pytest.mark.parametrize("options, name", [
    ({"num_classes": 6}, "fc8/kernel"), ({"base_width": 2}, "conv1_1/kernel"),
    ({"size": 64}, "fc6/kernel"),
])
def test_another_size(path, options, name):
    message = refused(path, **options)
    assert f"{name} has shape" in message and "vgg_sizes" in message


def damaged(path, how):
    """Changes one thing inside a whole HDF5 file."""
    with h5py.File(path, "r+") as file:
        group = file["block2_conv1"]
        kernel, bias = group.attrs["weight_names"]
        how(file, group, kernel, bias)


def without_names(file, group, kernel, bias):
    del file.attrs["layer_names"]


def without_group(file, group, kernel, bias):
    del file["block2_conv1"]


def without_bias(file, group, kernel, bias):
    del group[bias]


def without_layer(file, group, kernel, bias):
    names = [n for n in file.attrs["layer_names"] if n != "block2_conv1"]
    file.attrs["layer_names"] = names


def swapped(file, group, kernel, bias):
    group.attrs["weight_names"] = [bias, kernel]


def a_number(file, group, kernel, bias):
    file.attrs["layer_names"] = 7


def a_group(file, group, kernel, bias):
    del group[kernel]
    group.create_group(kernel)


def in_double(file, group, kernel, bias):
    values = group[kernel][()].astype(np.float64)
    del group[kernel]
    group[kernel] = values


@pytest.mark.parametrize("how", [without_names, without_group, without_bias,
                                 without_layer, swapped, a_number, a_group, in_double])
def test_damage_inside_a_file(path, how):
    damaged(path, how)
    assert "Get it again" in refused(path)


def test_bytes_that_changed_end_in_a_line_or_in_whole_arrays(path, tried):
    """The format has no checksum of the values: only a hash finds what is in them."""
    whole, rng = path.read_bytes(), random.Random(5)
    tried(60)
    with net() as session:
        for _ in range(60):
            changed = bytearray(whole)
            for _ in range(4):
                changed[rng.randrange(6000)] = rng.randrange(256)
            path.write_bytes(changed)
            with contextlib.suppress(DataError):
                assert len(load_vgg_weights(session, path)) == 32


@pytest.mark.parametrize("content", [b"", b"<html>Log in</html>", b"\x89HDF\r\n\x1a\n"])
def test_what_is_no_hdf5(tmp_path, content):
    (tmp_path / "w.h5").write_bytes(content)
    refused(tmp_path / "w.h5")


def test_a_file_that_is_not_there(tmp_path):
    assert "there is no such file" in refused(tmp_path / "w.h5")
    assert "there is no such file" in refused(tmp_path)


def test_another_format_of_keras(tmp_path):
    """What Keras 3 writes has no list of layers; it is another format."""
    path = tmp_path / "net.weights.h5"
    tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(1)]).save_weights(
        path)
    assert "Keras's format" in refused(path)


def test_a_file_of_another_kind_of_net(tmp_path):
    path = tmp_path / "net.h5"
    tf_keras.Sequential([tf_keras.Input([2]), tf_keras.layers.Dense(1)]).save_weights(
        path)
    assert "no VGG" in refused(path)


def test_names_of_another_scope_are_asked_for():
    with tf.Graph().as_default(), tf1.Session() as session:
        with tf1.variable_scope("encoder"):
            vgg_features(tf.zeros([1, 32, 32, 3]), configuration="D", base_width=1)
        with pytest.raises(ValueError, match="give a dictionary"):
            load_vgg_weights(session, "unread.h5")
        with pytest.raises(ValueError, match="no variables"):
            load_vgg_weights(session, "unread.h5", [])


@pytest.fixture
def server():
    """Serves one content under every name."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(CONTENTS)))
            self.end_headers()
            self.wfile.write(CONTENTS[:self.server.sent])

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.sent = None
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def known(server, tmp_path, monkeypatch):
    """Has both downloads come from the server, with the hash of its content."""
    monkeypatch.setenv("HELPERS_DATA", str(tmp_path))
    monkeypatch.setattr("helpers.datasets.downloads.PAUSE_SECONDS", 0.05)
    digest = hashlib.md5(CONTENTS).hexdigest()
    facts = {"urls": (f"http://127.0.0.1:{server.server_port}/file",),
             "size": len(CONTENTS), "digest": f"md5:{digest}"}
    files = {key: dataclasses.replace(one, **facts)
             for key, one in vgg_weights.WEIGHTS.items()}
    monkeypatch.setattr(vgg_weights, "WEIGHTS", files)
    monkeypatch.setattr(imagenet, "WORDS",
                        dataclasses.replace(imagenet.WORDS, **facts))
    return tmp_path


def test_a_download_of_the_right_hash_is_kept(known, server):
    path = grab_vgg_weights("download", top=False)
    assert path == known / "downloads" / NAME and path.read_bytes() == CONTENTS
    server.sent = 10
    assert grab_vgg_weights("download", top=False) == path  # nothing is fetched again


def forged(monkeypatch):
    """The server's file gets another hash than the one that we know."""
    wrong = {"digest": "md5:" + 32 * "0"}
    files = {key: dataclasses.replace(one, **wrong)
             for key, one in vgg_weights.WEIGHTS.items()}
    monkeypatch.setattr(vgg_weights, "WEIGHTS", files)
    monkeypatch.setattr(imagenet, "WORDS", dataclasses.replace(imagenet.WORDS, **wrong))


GRABS = [
    (lambda source: grab_vgg_weights(source, top=False), NAME, "grab_vgg_weights"),
    (grab_imagenet_words, imagenet.WORDS.name, "grab_imagenet_words"),
]


@pytest.mark.parametrize("grab, name, offline", GRABS)
def test_a_download_of_another_hash(grab, name, offline, known, monkeypatch):
    forged(monkeypatch)
    with pytest.raises(DataError) as caught:
        grab("download")
    message = str(caught.value)
    assert message.startswith(f"{name}: ") and "\n" not in message
    assert "its hash is not the one we know" in message
    assert f'{offline}("random") needs no network' in message
    assert list((known / "downloads").iterdir()) == []


@pytest.mark.parametrize("grab, name, offline", GRABS)
def test_a_download_that_ends_early(grab, name, offline, known, server):
    server.sent = 30_000
    with pytest.raises(DataError, match=f"^{name}: .*connection was dropped"):
        grab("download")
    assert list((known / "downloads").iterdir()) == []


@pytest.mark.parametrize("grab, name, offline", GRABS)
def test_a_file_of_another_hash_in_a_folder(grab, name, offline, tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        grab(tmp_path)
    (tmp_path / name).write_bytes(b"half of it")
    with pytest.raises(DataError) as caught:
        grab(tmp_path)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / name}: its hash is not")
    assert "\n" not in message
    assert (tmp_path / name).read_bytes() == b"half of it"
