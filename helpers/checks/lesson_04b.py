"""Exercise check of lesson 04b: batches from shards of digits."""

import shutil
import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf

from helpers import records
from helpers.checks.claims import answering, close, drawn, exercise, raises, same, shown
from helpers.checks.lesson_04a import stored_order

EACH = "each digit appears exactly once, in [-1, 1], with its own label"
SHAPES = "batches have the requested size, shapes and types, also the last one"
KEEPS = "a shuffle buffer of 1 keeps the order of the files"
MOST = 60  # batches at most, because a data set could be endless


def _case(rng, size):
    """Draws digit images, labels, a batch size, and a shuffle buffer size."""
    count, height, width = 20 * (size > 0) + 1 + 4 * size, 1 + size, 9 - size
    images = rng.integers(0, 256, [count, height, width], np.uint8)
    images[0, 0, 0], images[-1, -1, -1] = 0, 255
    labels = rng.integers(0, 10, count)
    batch, buffer = 1 + 3 * size % 8, [1, count, 4 + size][size % 3]
    return images, labels, batch, buffer


@exercise(
    "Exercise 1: digit_batches",
    "`parse_one` in the section `Errors that name the record` parses one record. "
    "Write a similar function that replaces the decoder by `tf.io.decode_raw` and "
    "`tf.reshape`.",
    "Begin with `paths = records.open_shards(path_prefix)` and `rows = "
    "tf.data.TFRecordDataset(paths).shuffle(shuffle_buffer)`. What is left is to "
    "parse each record with `map`, and to call `batch`.",
    about={
        "a record without `pixels` or `label` is an error": (
            "A default value hides a feature that is missing. See the pitfall in the "
            "section `Errors that name the record`."),
        SHAPES: (
            "Shuffle and parse single records, and call `batch` last, which keeps the "
            "rest unless you ask it to drop it. The bytes are stored row by row, so "
            "the height comes before the width, and labels have to be converted."),
        EACH: (
            "If the places are -1, look at the scale: 0 has to become -1, and 255 has "
            "to become 1. If digits are missing or come twice, look at the files that "
            "you read."),
        "a larger shuffle buffer gives another order in each epoch":
            "By default, `shuffle` draws a new order each time the data set is read.",
        "runs without an error": (
            "Read only the files that `records.open_shards` returns. Beside them are "
            "the manifest and the shards of other data sets."),
    },
)
def check_digit_batches(attempt):
    """Checks the order, shapes, dtypes, and values of batches of digits."""
    for images, labels, batch, buffer in drawn(_case, how_many=9):
        count, height, width = images.shape
        case = (f"{count} digits of {height} x {width} in batches of {batch}, "
                f"shuffle buffer {buffer}")
        with tempfile.TemporaryDirectory() as folder:
            prefix = Path(folder, "digits")
            _write(prefix, images, labels)
            _add_other_shards(prefix, images, labels)
            stored = stored_order(count, Path(folder, "order"), min(2, count), seed=1)
            for name in ("pixels", "label") if count == 1 else ():
                _write(Path(folder, name), images, labels, without=name)
                with answering(f"a record without `{name}`"):
                    dataset = attempt(Path(folder, name), 1, height, width, buffer)
                    refused = raises(tf.errors.InvalidArgumentError, list, dataset)
                yield ("a record without `pixels` or `label` is an error", refused,
                       f"a record without `{name}` was read without an error")
            with answering(case):
                dataset = attempt(prefix, batch, height, width, buffer)
                epochs = [list(dataset.take(MOST + 1).as_numpy_iterator())
                          for _ in range(2)]
        sizes = [min(batch, count - k) for k in range(0, count, batch)]
        for batches in epochs:
            found = [len(one[0]) if isinstance(one, tuple) else one for one in batches]
            yield same(SHAPES, sizes, found, f"{case}, pictures in each batch")
            for size, one in zip(sizes, batches, strict=True):
                due = (((size, height, width, 1), "float32"), ((size,), "int32"))
                yield same(SHAPES, due, tf.nest.map_structure(
                    lambda part: (part.shape, part.dtype.name), one), case)
        orders = [_places(batches, images, labels) for batches in epochs]
        for order in orders:
            yield same(EACH, [*range(count)], sorted(order),
                       f"{case} (-1 stands for a picture that was not stored)")
        if buffer == 1:
            yield same(KEEPS, [stored, stored], orders, case)
            yield (KEEPS, not _may_reorder(dataset),
                   f"{case}: a stage has `deterministic=False`, so it may return "
                   "records in another order")
        else:
            yield ("a larger shuffle buffer gives another order in each epoch",
                   stored not in orders and orders[0] != orders[1],
                   f"{case}: {shown('two orders, both unlike the files', orders)}")
            if buffer < count:
                ahead = max(stored.index(place) - k for order in orders
                            for k, place in enumerate(order))
                yield ("unparsed records are shuffled, in a buffer of the given size",
                       buffer // 2 <= ahead < buffer and _mixed(dataset) <= {tf.string},
                       f"{case}: a digit came {ahead} places early, or records were "
                       "parsed before they were shuffled")


def _write(prefix, images, labels, without=""):
    """Writes the digits to two shards, or a single digit to one shard."""
    examples = []
    for image, label in zip(images, labels, strict=True):
        example = tf.train.Example()
        example.features.feature["pixels"].bytes_list.value.append(image.tobytes())
        example.features.feature["label"].int64_list.value.append(int(label))
        example.features.feature.pop(without, None)
        examples.append(example)
    records.write_shards(examples, prefix, min(2, len(examples)), seed=1)


def _add_other_shards(prefix, images, labels):
    """Adds a leftover shard, and shards that have a longer prefix."""
    _write(prefix.with_name(prefix.name + "2"), images, labels)
    first = records.open_shards(prefix)[0]
    shutil.copy(first, prefix.with_name(prefix.name + "-00007-of-00009"))


def _nodes(dataset):
    """Returns the graph nodes of the stages of a dataset."""
    variant = tf.data.experimental.to_variant(dataset)
    graph = tf.raw_ops.DatasetToGraphV2(input_dataset=variant).numpy()
    return tf.compat.v1.GraphDef.FromString(graph).node


def _mixed(dataset):
    """Returns the dtypes of the elements that a dataset shuffles."""
    return {tf.as_dtype(node.attr["output_types"].list.type[0])
            for node in _nodes(dataset) if "Shuffle" in node.op}


def _may_reorder(dataset):
    """Returns whether a parallel stage of the dataset may reorder its elements."""
    loose = {b"false"}
    if dataset.options().deterministic is False:
        loose.add(b"default")
    return any(node.attr["deterministic"].s in loose
               for node in _nodes(dataset) if "deterministic" in node.attr)


def _places(batches, images, labels):
    """Returns the index of each delivered digit, or -1 if it was not stored."""
    due = {(image.tobytes(), int(label)): place
           for place, (image, label) in enumerate(zip(images, labels, strict=True))}
    places = []
    for pictures, kinds in batches:
        for picture, kind in zip(pictures[..., 0], kinds, strict=True):
            pixels = np.clip(np.round(picture * 127.5 + 127.5), 0, 255).astype(np.uint8)
            right = close(picture, (np.float32(pixels) - 127.5) / 127.5)
            places.append(due.get((pixels.tobytes(), int(kind)), -1) if right else -1)
    return places
