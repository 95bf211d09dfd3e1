"""Trains the captioner of this folder, as lesson 08b does, with more steps.

    .venv/bin/python -m prebuilt.captioner [FOLDER]

Lessons 08a, 08c and 12b begin from it, so that none of them needs a file that another
lesson made.
"""

import sys
from pathlib import Path

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from PIL import Image
from tqdm import tqdm

from helpers import captions
from helpers.captions import variables_of
from helpers.datasets import CaptionedPicture, grab_captions
from helpers.layers import fully_connected_layer

FOLDER = Path(__file__).resolve().parent / "captioner"
BATCH, SHIFT, COLOURS, SHAPES = 64, 6, 6, 3
SEE, SPEAK, TUNE = 1400, 400, 700


def load(pictures: list[CaptionedPicture]) -> np.ndarray:
    """Returns the pictures as uint8 `[picture, 64, 64, 3]`."""
    return np.stack([
        np.asarray(Image.open(picture.path).convert("RGB")) for picture in pictures
    ])


def look_loss(features: tf.Tensor, objects: tf.Tensor) -> tf.Tensor:
    """Returns the loss of naming colour and shape of both objects, in reading order.

    Args:
      features: float32 `[batch, values]`.
      objects: int32 `[batch, 2]`, categories from 1, numbered colour by colour.
    """
    losses = []
    for name, answers, labels in (
        ("colour", COLOURS, (objects - 1) // SHAPES),
        ("shape", SHAPES, (objects - 1) % SHAPES),
    ):
        logits = fully_connected_layer(features, 2 * answers, name=f"look/{name}")
        losses.append(tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=tf.reshape(logits, [-1, 2, answers])
        ))
    return tf.reduce_mean(tf.add_n(losses))


def train(folder: Path = FOLDER):
    """Trains eyes, then words, then both, and saves them with vocabulary and sizes."""
    pictures = grab_captions("drawn")["train"]
    vocabulary = captions.Vocabulary.build(
        text for picture in pictures for text in picture.captions
    )
    sizes = captions.Sizes(words=len(vocabulary), cell="gru")
    model = captions.ShowAndTell(sizes)
    images = np.pad(load(pictures), ((0, 0), (SHIFT,) * 2, (SHIFT,) * 2, (0, 0)),
                    mode="edge")
    objects = [[one.category for one in picture.objects] for picture in pictures]
    told = tf.keras.utils.pad_sequences(
        [vocabulary.encode(picture.captions[0]) for picture in pictures],
        padding="post", value=-1,
    )
    with tf.Graph().as_default() as graph:
        tf1.set_random_seed(7)
        seen = tf1.placeholder(tf.uint8, [None, 64, 64, 3])
        named = tf1.placeholder(tf.int32, [None, 2])
        ids = tf1.placeholder(tf.int32, [None, told.shape[1]])
        features = model.encode(tf.cast(seen, tf.float32) / 127.5 - 1.0)
        logits = model.teach(features, tf.maximum(ids[:, :-1], 0), 0.9)
        loss_sum, words = captions.masked_loss(
            logits, ids[:, 1:], tf.cast(ids[:, 1:] >= 0, tf.float32)
        )
        look = look_loss(features, named)
        encoder, decoder = variables_of("encoder"), variables_of("decoder")
        phases = []
        for loss, variables, rate, count in (
            (look, encoder + variables_of("look"), 2e-3, SEE),
            (loss_sum / words, decoder, 5e-3, SPEAK),
            (loss_sum / words, encoder + decoder, 1e-3, TUNE),
        ):
            step = tf1.Variable(0, trainable=False, dtype=tf.int64)
            rate = tf1.train.cosine_decay(rate, step, count, alpha=0.01)
            rate *= tf.minimum(1.0, tf.cast(step + 1, tf.float32) / 50)
            update = captions.train_op(
                loss, variables, tf1.train.AdamOptimizer(rate), global_step=step)
            phases.append((update, loss, count))
        saver = tf1.train.Saver(encoder + decoder, save_relative_paths=True)
        init = tf1.global_variables_initializer()
    rng = np.random.default_rng(7)
    with tf1.Session(graph=graph) as session:
        session.run(init)
        for update, loss, count in phases:
            for _ in (bar := tqdm(range(count))):
                rows = rng.integers(0, len(images), BATCH)
                y, x = rng.integers(0, 2 * SHIFT + 1, 2)
                now, _ = session.run([loss, update], {
                    seen: images[rows, y : y + 64, x : x + 64],
                    named: np.array(objects)[rows], ids: told[rows],
                })
                bar.set_postfix(loss=f"{now:.3f}")
        captions.save_captioner(saver, session, folder, SEE + SPEAK + TUNE,
                                vocabulary=vocabulary, sizes=sizes)


if __name__ == "__main__":
    train(*map(Path, sys.argv[1:]))
