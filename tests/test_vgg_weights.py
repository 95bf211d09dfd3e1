"""Keras's files of weights in our VGG, held to the installed Keras and to tf_keras."""

import contextlib
import math

import h5py
import keras
import matplotlib.pyplot as plt
import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1
import tf_keras
from keras.src.applications import vgg16, vgg19
from keras_downloads import keras_downloads

from helpers import vgg_weights
from helpers.files import ROOT
from helpers.imagenet import imagenet_input
from helpers.vgg import vgg_features, vgg_net
from helpers.vgg_weights import (
    grab_vgg_weights,
    load_vgg_weights,
    save_vgg_weights,
    vgg_sizes,
)

BUNDLED = ROOT / "data" / "bundled"
NETS = {"D": "VGG16", "E": "VGG19"}


@contextlib.contextmanager
def built(build, size=32, **options):
    """A session of a graph with one net: yields it, the pictures and what comes out."""
    with tf.Graph().as_default(), tf1.Session() as session:
        tf1.set_random_seed(3)
        images = tf1.placeholder(tf.float32, [None, size, size, 3])
        outgoing = build(images, **options)
        session.run(tf1.global_variables_initializer())
        yield session, images, outgoing


def saved_by_keras(path, configuration, size, top=True):
    """Writes random weights of Keras's net in the format that it publishes."""
    net = getattr(tf_keras.applications, NETS[configuration])(
        weights=None, include_top=top, input_shape=(size, size, 3))
    rng = np.random.default_rng(5)
    for variable in net.weights:
        kernel = len(variable.shape) > 1
        scale = math.sqrt(2.0 / math.prod(variable.shape[:-1])) if kernel else 0.1
        values = rng.standard_normal(variable.shape, np.float32)
        variable.assign(values * np.float32(scale))
    net.save_weights(path)


def as_published(path):
    """Spells the arrays as the published files do, which an older Keras wrote."""
    with h5py.File(path, "r+") as file:
        layers = list(file.attrs["layer_names"])
        file.attrs["layer_names"] = np.array(layers, "S")
        for layer in layers:
            group = file[layer]
            old = list(group.attrs["weight_names"])
            new = [f"{layer}_{part}_1:0" for part, _ in zip("Wb", old, strict=False)]
            for a, b in zip(old, new, strict=True):
                group.move(a, b)
            group.attrs["weight_names"] = np.array(new, "S")


def photographs(size):
    """The two of `data/bundled`, float32 [2, size, size, 3] in [-1, 1]."""
    pictures = [tf.image.resize(plt.imread(path), [size, size]) / 127.5 - 1
                for path in sorted(BUNDLED.glob("*.jpg"))]
    return np.stack(pictures).astype(np.float32)


def test_files_and_hashes_are_those_of_the_installed_keras():
    known = {(one.name, one.urls[0], one.digest.removeprefix("md5:"))
             for one in vgg_weights.WEIGHTS.values()}
    assert known == keras_downloads(vgg16) | keras_downloads(vgg19)
    for (configuration, top), one in vgg_weights.WEIGHTS.items():
        assert NETS[configuration].lower() in one.name
        assert top == ("notop" not in one.name)


def test_logits_are_those_of_keras(tmp_path):
    path = tmp_path / "weights.h5"
    saved_by_keras(path, "E", 32)
    pictures = photographs(32)
    theirs = (255 * (pictures + 1) / 2).astype(np.float32)
    theirs = keras.applications.vgg19.preprocess_input(theirs)
    net = keras.applications.VGG19(
        weights=str(path), input_shape=(32, 32, 3), classifier_activation=None)
    expected = net(theirs).numpy()
    sizes = vgg_sizes(path)
    assert sizes == {"configuration": "E", "base_width": 64, "num_classes": 1000}
    with tf.Graph().as_default(), tf1.Session() as session:
        images = tf1.placeholder(tf.float32, [None, 32, 32, 3])
        logits = vgg_net(imagenet_input(images), **sizes)
        loaded = load_vgg_weights(session, path)  # no initializer ran
        ours = session.run(logits, {images: pictures})
    assert len(loaded) == 2 * 19
    assert np.abs(expected).max() > 1 and np.ptp(expected[0] - expected[1]) > 1
    assert np.abs(ours - expected).max() <= 1e-5 * np.abs(expected).max()


def test_features_without_the_top_are_those_of_keras(tmp_path):
    path = tmp_path / "notop.h5"
    saved_by_keras(path, "D", 64, top=False)
    pictures = photographs(64)
    net = keras.applications.VGG16(
        weights=str(path), include_top=False, input_shape=(64, 64, 3))
    expected = net(pictures).numpy()
    assert np.ptp(expected) > 0.1
    sizes = vgg_sizes(path)
    assert sizes == {"configuration": "D", "base_width": 64}
    with built(vgg_features, 64, **sizes) as (session, images, features):
        for published in (False, True):
            if published:
                as_published(path)
                session.run(tf1.global_variables_initializer())
            load_vgg_weights(session, path)
            ours = session.run(features, {images: pictures})
            assert np.abs(ours - expected).max() <= 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize("configuration, top", [("D", True), ("E", False)])
def test_random_weights_are_whole_and_small(configuration, top, data):
    path = grab_vgg_weights(configuration=configuration, top=top)
    assert path.name == vgg_weights.WEIGHTS[configuration, top].name
    assert path.is_relative_to(data) and path.stat().st_size < 12e6
    expected = {"configuration": configuration, "base_width": vgg_weights.RANDOM_WIDTH}
    assert vgg_sizes(path) == expected | ({"num_classes": 1000} if top else {})


def test_keras_reads_what_we_write(tmp_path):
    path = tmp_path / "ours.h5"
    pictures = photographs(32)
    with built(vgg_features, configuration="E") as (session, images, features):
        save_vgg_weights(session, path)
        ours = session.run(features, {images: pictures})
    net = keras.applications.VGG19(weights=None, include_top=False,
                                   input_shape=(32, 32, 3))
    net.load_weights(path)
    expected = net(pictures).numpy()
    assert np.ptp(ours) > 0
    assert np.abs(ours - expected).max() <= 1e-5 * np.abs(expected).max()


def small(path):
    """Saves a net of base width 1, and returns its values by name."""
    with built(vgg_net, configuration="D", base_width=1, num_classes=5) as (
            session, _, _):
        variables = tf1.trainable_variables()
        rng = np.random.default_rng(1)
        for variable in variables:
            variable.load(rng.normal(size=variable.shape), session)
        save_vgg_weights(session, path)
        values = session.run(variables)
    return {v.op.name: value for v, value in zip(variables, values, strict=True)}


def test_all_but_the_last_layer(tmp_path):
    """The way of transfer: another number of classes, another `fc8`."""
    values = small(tmp_path / "w.h5")
    with built(vgg_net, configuration="D", base_width=1, num_classes=9) as (
            session, _, _):
        rest = [v for v in tf1.trainable_variables() if "fc8" not in v.op.name]
        head = tf1.trainable_variables("fc8/")
        untouched = session.run(head)
        names = load_vgg_weights(session, tmp_path / "w.h5", rest)
        for variable in rest:
            np.testing.assert_array_equal(
                session.run(variable), values[variable.op.name])
        for before, after in zip(untouched, session.run(head), strict=True):
            np.testing.assert_array_equal(after, before)
    assert names == [v.op.name for v in rest]
