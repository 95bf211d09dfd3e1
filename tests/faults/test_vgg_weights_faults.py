"""Weights that are damaged, of another net or not Keras's: one line, nothing loaded."""

import contextlib
import random
import re

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

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
    assert str(path) in message and "\n" not in message
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
                with pytest.raises(DataError, match="not a complete file of weights"):
                    read(path)
        for was, now in zip(before, session.run(variables), strict=True):
            np.testing.assert_array_equal(was, now)


@pytest.mark.parametrize("file, graph, words", [
    ("D", "E", "conv3_4/kernel is missing in .*, but of shape"),
    ("E", "D", "conv3_4/bias is of shape .*, but missing in the graph"),
    ("A", "D", "conv1_2/kernel is missing in .*, but of shape"),
    ("C", "D", "conv3_3/.* is .* in .* in the graph"),
])
def test_the_weights_of_another_net(file, graph, words, tmp_path):
    with net(configuration=file) as session:
        save_vgg_weights(session, tmp_path / "other.h5")
    message = refused(tmp_path / "other.h5", configuration=graph)
    assert re.search(words, message), message


GRABS = [
    (lambda source: grab_vgg_weights(source, top=False), NAME, "grab_vgg_weights"),
    (grab_imagenet_words, imagenet.WORDS.name, "grab_imagenet_words"),
]


@pytest.mark.parametrize("grab, name, offline", GRABS)
def test_a_file_of_another_hash_in_a_folder(grab, name, offline, tmp_path):
    with pytest.raises(DataError, match="No such file"):
        grab(tmp_path)
    (tmp_path / name).write_bytes(b"half of it")
    with pytest.raises(DataError) as caught:
        grab(tmp_path)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / name} does not match the expected")
    assert "\n" not in message
    assert (tmp_path / name).read_bytes() == b"half of it"
