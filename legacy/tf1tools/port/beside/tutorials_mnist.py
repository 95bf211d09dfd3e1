"""Replacement for `tensorflow.examples.tutorials.mnist.input_data`."""

import collections
import gzip
import os

import numpy as np
import tensorflow as tf

Datasets = collections.namedtuple("Datasets", "train validation test")


class DataSet:
    def __init__(self, images, labels):
        self.images, self.labels = images, labels
        self.num_examples, self.epochs_completed = len(images), 0
        self._rest = None  # indices of the remaining rows of this epoch

    def next_batch(self, batch_size, fake_data=False, shuffle=True):
        rows = self._epoch(shuffle) if self._rest is None else self._rest
        if len(rows) < batch_size:
            self.epochs_completed += 1
            rows = np.concatenate([rows, self._epoch(shuffle)])
        self._rest = rows[batch_size:]
        return self.images[rows[:batch_size]], self.labels[rows[:batch_size]]

    def _epoch(self, shuffle):
        order = np.arange(self.num_examples)
        if shuffle:
            np.random.shuffle(order)
        return order


def _read(folder, name, header):
    with gzip.open(os.path.join(folder, name + "-ubyte.gz")) as stream:
        return np.frombuffer(stream.read(), np.uint8, offset=header)


def load_mnist(folder):
    """Reads the MNIST files of the tutorials, or downloads MNIST through Keras."""
    if not os.path.exists(os.path.join(folder, "train-images-idx3-ubyte.gz")):
        try:
            (images, labels), (tests, answers) = tf.keras.datasets.mnist.load_data()
        except Exception:
            raise FileNotFoundError(
                "Failed to download MNIST. Put train-images-idx3-ubyte.gz, "
                "train-labels-idx1-ubyte.gz, t10k-images-idx3-ubyte.gz, and "
                f"t10k-labels-idx1-ubyte.gz into {folder!r}.") from None
    else:
        images = _read(folder, "train-images-idx3", 16).reshape(-1, 28, 28)
        tests = _read(folder, "t10k-images-idx3", 16).reshape(-1, 28, 28)
        labels = _read(folder, "train-labels-idx1", 8)
        answers = _read(folder, "t10k-labels-idx1", 8)
    return images, labels, tests, answers


def read_data_sets(train_dir, fake_data=False, one_hot=False, dtype=np.float32,
                   reshape=True, validation_size=5000, seed=None):
    def dataset(images, labels):
        images = images.reshape([len(images), 784] if reshape else [-1, 28, 28, 1])
        as_float = dtype not in (np.uint8, tf.uint8)
        return DataSet(np.float32(images) / 255 if as_float else images,
                       np.eye(10)[labels] if one_hot else labels)

    images, labels, tests, answers = load_mnist(train_dir)
    few = validation_size
    return Datasets(dataset(images[few:], labels[few:]),
                    dataset(images[:few], labels[:few]), dataset(tests, answers))
