"""The check of lesson 04b: batches from shards of digits."""

import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf

from helpers import records
from helpers.checks.claims import answering, close, drawn, exercise, raises, same, shown
from helpers.checks.lesson_04a import stored_order

EACH = "each digit comes once, in [-1, 1], with its own label"
MOST = 60  # digits of a case; a data set without end is cut there


def _case(rng, size):
    """Draws digits, their labels, and what a call may ask for."""
    count, height, width = 20 * (size > 0) + 1 + 4 * size, 1 + size, 9 - size
    images = rng.integers(0, 256, [count, height, width], np.uint8)
    images[0, 0, 0], images[-1, -1, -1] = 0, 255
    labels = rng.integers(0, 10, count)
    batch, crowd = 1 + 3 * size % 8, [1, count, 4 + size][size % 3]
    return images, labels, batch, crowd


@exercise(
    "Exercise 1: digit_batches",
    "`parse_one` under `Errors that name the record` parses such a record; here "
    "`tf.io.decode_raw` and `tf.reshape` take the place of the decoder.",
    "the first lines: `paths = records.open_shards(path_prefix)` and `rows = "
    "tf.data.TFRecordDataset(paths).shuffle(crowd)`. What is left: map, and batch.",
)
def check_digit_batches(attempt):
    """Compares each digit of `(path_prefix, batch_size, height, width, crowd)`."""
    for images, labels, batch, crowd in drawn(_case, how_many=9):
        count, height, width = images.shape
        case = (f"{count} digits of {height} x {width} in batches of {batch}, "
                f"crowd {crowd}")
        with tempfile.TemporaryDirectory() as folder:
            prefix = Path(folder, "digits")
            _write(prefix, images, labels)
            stored = stored_order(count, Path(folder, "order"), min(2, count), seed=1)
            for name in ("pixels", "label") if count == 1 else ():
                _write(Path(folder, name), images, labels, without=name)
                with answering(f"a record without `{name}`"):
                    dataset = attempt(Path(folder, name), 1, height, width, crowd)
                    refused = raises(tf.errors.InvalidArgumentError, list, dataset)
                yield (EACH, refused, f"a record without `{name}`, and no error came")
            dataset = attempt(prefix, batch, height, width, crowd)
            with answering(case):
                epochs = [list(dataset.take(MOST + 1).as_numpy_iterator())
                          for _ in range(2)]
        sizes = [min(batch, count - k) for k in range(0, count, batch)]
        due = [(((size, height, width, 1), "float32"), ((size,), "int32"))
               for size in sizes]
        for batches in epochs:
            yield same("batches have the size, shapes and types asked for, the last "
                       "few digits too", due, tf.nest.map_structure(
                           lambda part: (part.shape, part.dtype.name), batches), case)
        orders = [_places(batches, images, labels) for batches in epochs]
        for order in orders:
            yield same(EACH, [*range(count)], sorted(order), f"{case}, -1 for no digit")
        if crowd == 1:
            yield same("a crowd of 1 keeps the order of the files",
                       [stored, stored], orders, case)
        else:
            yield ("a larger crowd gives another order in each epoch",
                   stored not in orders and orders[0] != orders[1],
                   f"{case}: {shown('two orders, none that of the files', orders)}")
            if crowd < count:
                ahead = max(stored.index(place) - k for order in orders
                            for k, place in enumerate(order))
                yield ("a crowd draws from no more records than it says",
                       crowd // 2 <= ahead < crowd and _mixed(dataset) <= {tf.string},
                       f"{case}: some come {ahead} places early, or are parsed before")


def _write(prefix, images, labels, without=""):
    """Writes the digits to two shards, one digit to one."""
    examples = []
    for image, label in zip(images, labels, strict=True):
        example = tf.train.Example()
        example.features.feature["pixels"].bytes_list.value.append(image.tobytes())
        example.features.feature["label"].int64_list.value.append(int(label))
        example.features.feature.pop(without, None)
        examples.append(example)
    records.write_shards(examples, prefix, min(2, len(examples)), seed=1)


def _mixed(dataset):
    """Returns the types of what a data set shuffles: of records, string."""
    variant = tf.data.experimental.to_variant(dataset)
    graph = tf.raw_ops.DatasetToGraphV2(input_dataset=variant).numpy()
    nodes = tf.compat.v1.GraphDef.FromString(graph).node
    return {tf.as_dtype(node.attr["output_types"].list.type[0])
            for node in nodes if "Shuffle" in node.op}


def _places(batches, images, labels):
    """Returns which digit each picture is, with its label; -1 where it is none."""
    due = {(image.tobytes(), int(label)): place
           for place, (image, label) in enumerate(zip(images, labels, strict=True))}
    places = []
    for pictures, kinds in batches:
        for picture, kind in zip(pictures[..., 0], kinds, strict=True):
            pixels = np.clip(np.round(picture * 127.5 + 127.5), 0, 255).astype(np.uint8)
            right = close(picture, (np.float32(pixels) - 127.5) / 127.5)
            places.append(due.get((pixels.tobytes(), int(kind)), -1) if right else -1)
    return places
