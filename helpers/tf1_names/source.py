"""Every TensorFlow name of the five old documents, and a call that tries each.

The names are those that the course's sources use, as they spell them: `names.txt` has
each with what to write today, and below it the call. Nothing here says what became of a
name: `verdict` finds out by running the old call.
"""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.tf1_names.trial import OldName

# What the calls speak of besides `tf`, the module that is tried.
ROWS = np.array([[1.0, 4.0], [2.0, 3.0]], np.float32)
PICTURE = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
KERNEL = np.ones([2, 2, 1, 1], np.float32)
QUEUE = {"capacity": 3, "dtypes": [tf.float32], "shapes": [[]]}
WANTED = {"label": tf1.FixedLenFeature([], "int64")}


def entered(context: AbstractContextManager) -> Any:
    """Returns what a scope or a device gives to `as`."""
    with context as value:
        return value


def variable() -> tf.Variable:
    """Returns a variable of ones."""
    return tf1.get_variable("v", [2], initializer=tf1.ones_initializer())


def queue_runner() -> tf1.train.QueueRunner:
    """Returns a runner with a queue of its own."""
    queue = tf1.FIFOQueue(3, tf1.float32, [[]])
    return tf1.train.QueueRunner(queue, [queue.enqueue(1.0)])


def grey_jpeg() -> tf.Tensor:
    """Returns a picture as a JPEG file."""
    return tf1.io.encode_jpeg(np.full([8, 8, 3], 128, np.uint8))


def labelled_example() -> bytes:
    """Returns a record of one label."""
    label = tf1.train.Feature(int64_list=tf1.train.Int64List(value=[7]))
    features = tf1.train.Features(feature={"label": label})
    return tf1.train.Example(features=features).SerializeToString()


def minimized(optimizer: tf1.train.Optimizer) -> str:
    """Returns the kind of an optimizer's step."""
    return optimizer.minimize(tf1.square(variable())).type


def label_gradient(tf: ModuleType) -> bool:
    """The old loss treats its labels as data, the new one lets gradients through."""
    labels, logits = tf1.constant([[1.0, 0.0]]), tf1.constant([[2.0, 3.0]])
    loss = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf1.gradients(loss, labels)[0] is None


def sampled(tf: ModuleType) -> list[int]:
    """Returns the shape of the loss of two rows."""
    return tf.nn.sampled_softmax_loss(
        weights=np.ones([5, 2], "f"), biases=np.ones(5, "f"),
        labels=np.array([[1], [4]]), inputs=np.ones([2, 2], "f"),
        num_sampled=3, num_classes=5,
    ).shape.as_list()


def _called(text: str) -> Callable[[ModuleType], object]:
    """Returns the function that makes a written call with a module for `tf`."""
    return lambda module: eval(text, {**globals(), "tf": module})


def _groups() -> dict[str, list[OldName]]:
    """Returns the names of the table by the words above each group."""
    groups: dict[str, list[OldName]] = {}
    table = Path(__file__).with_name("names.txt").read_text("utf-8")
    for line in filter(None, table.split("\n")):
        if line.startswith("# "):
            names = groups[line[2:].partition(":")[0]] = []
        elif not line.startswith(" "):
            name, today = re.split(" {2,}", line)
        else:
            names.append(OldName(name, _called(line.strip()), today))
    return groups


SOURCE_NAMES = _groups()
LATER_NAMES = SOURCE_NAMES.pop("later")
OTHER_CALLS = SOURCE_NAMES.pop("other calls")
