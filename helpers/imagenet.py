"""ImageNet preprocessing, class names, and the most probable classes.

Taught in lesson 06c, 'Weights from Keras'.
"""

import json
import os
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from helpers.arguments import whole_number
from helpers.datasets.downloads import Download

# A test compares address and hash with the source of the installed Keras.
WORDS = Download(
    name="imagenet_class_index.json",
    urls=(
        "https://storage.googleapis.com/download.tensorflow.org/data/"
        "imagenet_class_index.json",
    ),
    size=35_363,
    digest="md5:c2c37ea517e94d9795004a39431a14cb",
    offline='grab_imagenet_words("random")',
)
NUM_CLASSES = 1000
# Means of blue, green, and red over ImageNet, which a test compares with Keras.
MEANS = (103.939, 116.779, 123.68)


def imagenet_input(images: tf.Tensor) -> tf.Tensor:
    """Converts pictures in [-1, 1] to the input format of ImageNet's VGG.

    Args:
      images: float32 `[..., 3]`, with red, green, and blue in [-1, 1].

    Returns:
      float32 of the same shape, with blue, green, and red from 0 to 255, each minus the
      mean of its channel.
    """
    return tf.reverse(images, [-1]) * 127.5 + (127.5 - tf.constant(MEANS))


def grab_imagenet_words(source: str | os.PathLike = "random") -> list[str]:
    """Returns the names of ImageNet's 1000 classes, in the order of the logits.

    Args:
      source: `"random"` returns numbers instead of words, to be used with random
        weights. `"download"` downloads Keras's file (35 kB). Otherwise, the path of a
        folder that contains this file.

    Raises:
      DataError: If the file cannot be downloaded or has a different hash. The message
        names it.
    """
    if source == "random":
        return [f"class {number}" for number in range(NUM_CLASSES)]
    # `read_json` is not needed, because the hash of the file has been verified.
    entries = json.loads(WORDS.found_in(source).read_text(encoding="utf-8"))
    return [entries[str(number)][1] for number in range(NUM_CLASSES)]


def top_k(
    logits: np.ndarray, words: Sequence[str], k: int = 5
) -> list[list[tuple[str, float]]]:
    """Returns the k most probable classes of each picture, with their probabilities.

    Args:
      logits: float `[picture, class]`.
      words: Name of each class.
      k: Number of classes to return, from 1 to the number of classes.

    Returns:
      One list of `(word, probability)` per picture, the most probable class first.
    """
    logits = np.asarray(logits, np.float64)
    k = whole_number("top_k: k", k, 1, logits.shape[1])
    shares = np.exp(logits - logits.max(1, keepdims=True))
    shares /= shares.sum(1, keepdims=True)
    best = np.argsort(-shares, axis=1, kind="stable")[:, :k]
    return [[(words[number], float(row[number])) for number in numbers]
            for row, numbers in zip(shares, best, strict=True)]
