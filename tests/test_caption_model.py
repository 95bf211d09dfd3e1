"""Show and Tell against Keras and plain NumPy."""

import dataclasses

import keras
import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from caption_models import BATCH, TINY, WORDS, built, example, fill

from helpers import captions as cap


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_the_decoder_equals_keras(cell):
    sizes = dataclasses.replace(TINY, cell=cell, layers=2)
    features = np.random.default_rng(0).normal(size=[BATCH, 19]).astype(np.float32)
    _, ids, _ = example()
    with tf.Graph().as_default(), tf1.Session() as session:
        logits = cap.ShowAndTell(sizes).teach(tf.constant(features), tf.constant(ids))
        session.run(tf1.global_variables_initializer())
        fill(session)
        ours = session.run(logits)
        weights = {
            v.op.name.removeprefix("decoder/"): session.run(v)
            for v in cap.variables_of("decoder")
        }
    np.testing.assert_allclose(ours, keras_decoder(sizes, weights)(features, ids),
                               rtol=1e-4, atol=1e-4)


def keras_decoder(sizes, weights):
    """The same decoder of Keras layers, with the same weights."""
    layer = keras.layers.LSTM if sizes.cell == "lstm" else keras.layers.GRU
    options = {"return_sequences": True}
    if sizes.cell == "gru":
        options["reset_after"] = False
    layers = [layer(sizes.units, **options) for _ in range(sizes.layers)]

    def decode(features, ids):
        shown = features @ weights["project/kernel"] + weights["project/bias"]
        outputs = tf.concat([shown[:, None], weights["embedding"][ids]], 1)
        for k, one in enumerate(layers):
            one.build(outputs.shape)
            one.set_weights(keras_weights(sizes, weights, k, outputs.shape[-1]))
            outputs = one(outputs)
        return outputs[:, 1:] @ weights["logits/kernel"] + weights["logits/bias"]

    return decode


def keras_weights(sizes, weights, layer, values):
    """Our kernels hold inputs and state one above the other; Keras keeps two."""
    name = f"{sizes.cell}_{layer}"
    if sizes.cell == "lstm":
        kernels, biases = [weights[f"{name}/kernel"]], [weights[f"{name}/bias"]]
    else:
        parts = ("gates", "candidate")
        kernels = [weights[f"{name}/{part}/kernel"] for part in parts]
        biases = [weights[f"{name}/{part}/bias"] for part in parts]
    kernel = np.concatenate(kernels, 1)
    return [kernel[:values], kernel[values:], np.concatenate(biases)]


def test_variables_are_shared_and_counted():
    with tf.Graph().as_default():
        model, _, _, features, _ = built()
        before = len(tf1.trainable_variables())
        state = model.start(features)
        model.step(tf.zeros([3], tf.int32), state)
        model.step(tf.zeros([3], tf.int32), state)
        assert len(tf1.trainable_variables()) == before == 16 + 9
        assert sum(v.shape.num_elements() for v in cap.variables_of("decoder")) == (
            (16 * 11 + 11) + WORDS * 11 + 3 * 17 * (11 + 17 + 1) + (17 + 1) * WORDS
        )
        with pytest.raises(ValueError, match="no trainable variables under coder/"):
            cap.variables_of("coder")


def test_nothing_in_the_padding_reaches_loss_or_gradient():
    rng = np.random.default_rng(0)
    targets = rng.integers(0, WORDS, [2, 3])
    mask = np.array([[1, 1, 0], [1, 0, 0]], np.float32)
    values = rng.normal(size=[2, 3, WORDS]).astype(np.float32)
    padded = mask == 0
    with tf.Graph().as_default(), tf1.Session() as session:
        logits = tf1.placeholder(tf.float32, values.shape)
        ids = tf1.placeholder(tf.int32, targets.shape)
        total, _ = cap.masked_loss(logits, ids, tf.constant(mask))
        fetches = [total, *tf1.gradients(total, logits)]
        plain = session.run(fetches, {logits: values, ids: targets})
        logp = values - np.log(np.exp(values).sum(-1, keepdims=True))
        picked = np.take_along_axis(logp, targets[..., None], 2)[..., 0]
        assert plain[0] == pytest.approx(-(picked * mask).sum(), rel=1e-5)
        values[padded] = [[np.inf], [np.nan], [-np.inf]]
        other = session.run(
            fetches, {logits: values, ids: np.where(padded, -1, targets)}
        )
    for one, two in zip(plain, other, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(("bad", "named"), [
    ([0.0, 1.0, np.nan], "'w'"),  # a gradient and the loss
    ([0.0, np.inf, 1.0], "'w'"),
    ([np.nan, 1.0, 1.0], "loss"),  # the loss alone
])
def test_one_bad_batch_moves_no_weight(bad, named):
    with tf.Graph().as_default(), tf1.Session() as session:
        batch = tf1.placeholder(tf.float32, [3])
        v, w = (tf1.get_variable(name, [2], initializer=tf1.ones_initializer())
                for name in "vw")
        loss = tf.reduce_sum(v) + tf.reduce_sum(w * batch[1:]) + batch[0]
        step = tf1.train.get_or_create_global_step()
        op = cap.train_op(loss, [v, w], tf1.train.AdamOptimizer(), global_step=step)
        session.run(tf1.global_variables_initializer())
        session.run(op, {batch: [0.0, 1.0, 1.0]})
        before = session.run(tf1.global_variables())
        with pytest.raises(tf.errors.InvalidArgumentError, match=named):
            session.run(op, {batch: bad})
        after = session.run(tf1.global_variables())
        for one, two in zip(before, after, strict=True):
            np.testing.assert_array_equal(one, two)
        session.run(op, {batch: [0.0, 1.0, 1.0]})
        assert session.run(step) == 2
