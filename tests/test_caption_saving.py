"""A caption model goes on after a stop, or is refused by name."""

import dataclasses
import re

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from caption_models import TINY, WORDS, built, example

from helpers import captions as cap
from helpers.errors import DataError


def some_words(count=WORDS, last="zebra"):
    words = ["<S>", "</S>", "<UNK>", *(f"w{k}" for k in range(count - 4)), last]
    return cap.Vocabulary(words, [1] * count)


class Training:
    """A session that trains on one batch, and can be killed and built again."""

    def __init__(self, sizes=TINY):
        self.graph = tf.Graph()
        images, inputs, targets = example(sizes)
        with self.graph.as_default():
            tf1.set_random_seed(11)
            _, image_feed, input_feed, _, logits = built(sizes)
            total, count = cap.masked_loss(
                logits, tf.constant(targets), tf.ones_like(targets, tf.float32)
            )
            self.loss = total / count
            self.step = tf1.train.get_or_create_global_step()
            self.op = cap.train_op(
                self.loss, tf1.trainable_variables(), tf1.train.AdamOptimizer(1e-2),
                global_step=self.step,
            )
            self.saver = tf1.train.Saver(max_to_keep=2)
            init = tf1.global_variables_initializer()
        self.feeds = {image_feed: images, input_feed: inputs}
        self.session = tf1.Session(graph=self.graph)
        self.session.run(init)

    def train(self, steps):
        return [
            float(self.session.run([self.loss, self.op], self.feeds)[0])
            for _ in range(steps)
        ]

    def save(self, folder, vocabulary, sizes=TINY):
        step = self.session.run(self.step)
        cap.save_captioner(self.saver, self.session, folder, step,
                           vocabulary=vocabulary, sizes=sizes)

    def restore(self, folder, vocabulary, sizes=TINY):
        return cap.restore_captioner(self.saver, self.session, folder,
                                     vocabulary=vocabulary, sizes=sizes)


def test_a_resumed_training_goes_on_as_if_nothing_happened(tmp_path):
    folder = tmp_path / "model"
    first = Training()
    assert first.restore(folder, some_words()) is None
    first.train(3)
    first.save(folder, some_words())
    wanted = first.train(3)
    second = Training()
    assert second.restore(folder, cap.Vocabulary.load(folder / "vocabulary.txt")) == 3
    np.testing.assert_allclose(second.train(3), wanted, rtol=1e-6)


def test_another_model_is_refused_by_name(tmp_path):
    training = Training()
    training.save(tmp_path, some_words())
    before = training.session.run(training.graph.get_collection("trainable_variables"))
    refused = [
        (some_words(last="zoo"), TINY, "vocabulary.*'zebra'.*'zoo'"),
        (some_words(), dataclasses.replace(TINY, base_width=3), "encoder.*base_width"),
        (some_words(), dataclasses.replace(TINY, configuration="B"), "encoder"),
        (some_words(), dataclasses.replace(TINY, units=19), "size.*units is 17.* 19"),
        (some_words(), dataclasses.replace(TINY, cell="lstm"), "cell is 'gru'"),
        (some_words(WORDS + 2), dataclasses.replace(TINY, words=WORDS + 2), "words is"),
    ]
    for vocabulary, sizes, message in refused:
        for act in (training.restore, training.save):
            with pytest.raises(DataError) as caught:
                act(tmp_path, vocabulary, sizes)
            assert "\n" not in str(caught.value)
            assert re.search(message, str(caught.value)), str(caught.value)
    after = training.session.run(training.graph.get_collection("trainable_variables"))
    assert all((a == b).all() for a, b in zip(before, after, strict=True))


def test_a_damaged_folder_is_refused(tmp_path):
    training = Training()
    training.save(tmp_path, some_words())
    words = (tmp_path / "vocabulary.txt").read_text()
    (tmp_path / "vocabulary.txt").write_text(words.replace("zebra", "zoo"))
    with pytest.raises(DataError, match="vocabulary"):
        training.restore(tmp_path, some_words())
