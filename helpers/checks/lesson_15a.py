"""Exercise check of lesson 15a: a queue of batches from records of digits."""

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.attempts import QUEUES
from helpers.checks.claims import answering, drawn, exercise, same, tensor
from helpers.checks.lesson_03a import initialise
from helpers.queues import running_queues

IMAGES = "returns images as a float32 tensor"
LABELS = "returns labels as an int32 tensor"
SIZES = "returns full batches, and at most the last is smaller"
EACH = "each digit arrives as often as requested, from 0 to 1, with its own label"
_LIMIT = 5  # seconds before an attempt counts as stuck


def _case(rng, size):
    """Draws images, labels, a batch size, and a number of epochs."""
    count, pixels = 1 + 3 * size, 1 + size % 5
    images = rng.integers(0, 256, [count, pixels], np.uint8)
    images[0, 0] = 255
    # Labels that only int32 holds would show a smaller type on the way.
    labels = rng.integers(0, [10, 2**31][size % 2], count)
    return images, labels, int(rng.integers(1, 7)), 1 + size % 3


@exercise(
    "Exercise 1: digit_queue",
    "`read_and_decode_single_example` returns one label and one image, and takes the "
    "number of epochs. What is left are the types and the batches.",
    "begin with `label, image = read_and_decode_single_example(filename, num_epochs, "
    "pixels)`. Then `tf1.train.batch` makes batches of what you convert. Only this "
    "call is left.",
    about={
        SIZES: (
            "`tf1.train.batch` waits for full batches, unless you pass "
            "`allow_smaller_final_batch=True`."),
        EACH: (
            "images are divided by 255 as floats, and they come first. If digits come "
            "too often or too rarely, look at `num_epochs`."),
        "runs without an error": (
            "if the data ends before the first step, the last batch has to be allowed "
            "to be smaller. If no step ends, a runner is not in the collection, or "
            "the epochs have no end."),
    },
    adds=QUEUES,
)
def check_digit_queue(attempt):
    """Checks the types, sizes, and contents of batches from records of digits."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for images, labels, batch_size, epochs in drawn(_case, 9):
            count, pixels = images.shape
            case = (f"{count} digits of {pixels} pixels, batches of {batch_size}, "
                    f"{epochs} epochs")
            path = str(Path(folder, f"{count}-{pixels}.tfrecords"))
            _write(path, images, labels)
            with tf.Graph().as_default() as graph, answering(case):
                found = attempt(path, batch_size, epochs, pixels)
                first, second = found
            yield tensor(IMAGES, tf.float32, first, case)
            yield tensor(LABELS, tf.int32, second, case)
            with tf1.Session(graph=graph) as session, answering(case):
                initialise(session)
                with running_queues(session, stall=_LIMIT) as runner:
                    got = list(runner.steps([first, second], n=count * epochs + 5))
            total, left = count * epochs, count * epochs % batch_size
            sizes = [batch_size] * (total // batch_size) + [left] * bool(left)
            yield same(SIZES, [((n, pixels), (n,)) for n in sizes],
                       [(one.shape, other.shape) for one, other in got], case)
            yield EACH, *_each(images, labels, epochs, got, case)


def _write(path, images, labels):
    """Writes the digits as the lesson's `write_digits` does, in another way."""
    with tf.io.TFRecordWriter(path) as writer:
        for image, label in zip(images, labels, strict=True):
            example = tf.train.Example()
            feature = example.features.feature
            feature["image"].int64_list.value.extend(map(int, image))
            feature["label"].int64_list.value.append(int(label))
            writer.write(example.SerializeToString())


def _each(images, labels, epochs, batches, case):
    """Returns whether each digit came `epochs` times, and what is wrong otherwise."""
    due = Counter({
        key: epochs * count for key, count in Counter(
            (tuple(image.tolist()), int(label))
            for image, label in zip(images, labels, strict=True)).items()})
    found = Counter()
    for pictures, kinds in batches:
        for picture, kind in zip(pictures, kinds, strict=True):
            scaled = np.round(picture * 255)
            exact = np.allclose(picture * 255, scaled, atol=1e-3)
            found[tuple(scaled.tolist()) if exact else "unscaled", int(kind)] += 1
    wrong = [f"it {how} the digit {list(image)} with the label {label}"
             + (f" {count} times" if count > 1 else "")
             for how, some in (("did not deliver", due - found),
                               ("delivered too often", found - due))
             for (image, label), count in [*some.items()][:2]]
    return not wrong, f"{case}: {', and '.join(wrong)}"
