"""What the tests of captions share: a tiny model and one batch for it."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import captions as cap

WORDS, TIME, BATCH = 13, 7, 5
TINY = cap.Sizes(
    words=WORDS, image_size=32, base_width=2, embedding=11, units=17, cell="gru"
)


def fill(session, scale=0.5, seed=3):
    """Gives every trainable variable values large enough that words differ."""
    rng = np.random.default_rng(seed)
    for variable in tf1.trainable_variables():
        shape = variable.shape.as_list()
        variable.load(rng.normal(0, scale, shape).astype(np.float32), session)


def built(sizes=TINY, keep_prob=1.0):
    """Images and inputs to logits, in the graph that is open."""
    model = cap.ShowAndTell(sizes)
    size = sizes.image_size
    images = tf1.placeholder(tf.float32, [None, size, size, 3], "images")
    inputs = tf1.placeholder(tf.int32, [None, None], "inputs")
    features = model.encode(images)
    return model, images, inputs, features, model.teach(features, inputs, keep_prob)


def example(sizes=TINY, batch=BATCH, seed=0):
    """Pictures, inputs and targets at random."""
    rng = np.random.default_rng(seed)
    size = sizes.image_size
    images = rng.uniform(-1, 1, [batch, size, size, 3]).astype(np.float32)
    ids = rng.integers(0, sizes.words, [batch, TIME + 1])
    return images, ids[:, :-1], ids[:, 1:]
