"""ImageNet's pixels and words, held to the installed Keras."""

import dataclasses
import hashlib
import json

import keras
import matplotlib.pyplot as plt
import numpy as np
import pytest
import tensorflow as tf
from keras.src.applications import imagenet_utils
from keras_downloads import keras_downloads

from helpers import files, imagenet, pictures
from helpers.imagenet import grab_imagenet_words, imagenet_input, top_k

INDEX = {str(k): [f"n{k:08d}", f"word {k}, another"] for k in range(1000)}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a class index in Keras's format, whose hash we know."""
    content = json.dumps(INDEX).encode()
    (tmp_path / imagenet.WORDS.name).write_bytes(content)
    digest = f"md5:{hashlib.md5(content).hexdigest()}"
    known = dataclasses.replace(imagenet.WORDS, digest=digest, size=len(content))
    monkeypatch.setattr(imagenet, "WORDS", known)
    return tmp_path


@pytest.mark.parametrize("net", ["vgg16", "vgg19"])
def test_a_photograph_becomes_what_keras_makes_of_it(net):
    photographs = sorted((files.ROOT / "data" / "bundled").glob("*.jpg"))
    assert len(photographs) == 2
    for photograph in map(plt.imread, photographs):
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            ours = session.run(imagenet_input(pictures.from_bytes(photograph)))
        module = getattr(keras.applications, net)
        expected = module.preprocess_input(photograph.astype(np.float32))
        np.testing.assert_allclose(ours, expected, atol=1e-4)
        assert np.ptp(ours) > 200


def test_address_and_hash_are_those_of_the_installed_keras():
    known = imagenet.WORDS
    assert keras_downloads(imagenet_utils) == {
        (known.name, known.urls[0], known.digest.removeprefix("md5:"))}


def test_top_k_is_what_keras_decodes(folder, monkeypatch):
    logits = np.random.default_rng(1).normal(0, 3, [4, 1000]).astype(np.float32)
    monkeypatch.setattr(imagenet_utils, "CLASS_INDEX", INDEX)
    shares = tf.nn.softmax(logits).numpy()
    expected = keras.applications.vgg16.decode_predictions(shares, top=7)
    ours = top_k(logits, grab_imagenet_words(folder), 7)
    for row, decoded in zip(ours, expected, strict=True):
        assert [word for word, _ in row] == [word for _, word, _ in decoded]
        np.testing.assert_allclose(
            [share for _, share in row], [share for *_, share in decoded], rtol=1e-4)
