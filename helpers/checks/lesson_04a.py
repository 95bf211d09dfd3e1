"""Exercise checks of lesson 04a: reading and writing TFRecord files."""

import struct
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import tensorflow as tf

from helpers import records
from helpers.checks.claims import answering, drawn, exercise, raises, shown
from helpers.records.wire import masked_crc


def _payloads(rng, size):
    """Draws the payloads of one TFRecord file, some of them empty."""
    lengths = rng.integers(0, 60, min(size, 1 + size % 4)) * (rng.random() < 0.8)
    return [rng.bytes(int(length)) for length in lengths]


@exercise(
    "Exercise 1: split_records",
    "The loop in the section `The bytes on disk` uses `assert` where you have to raise "
    "an error. What does a slice return at the end of the bytes?",
    "Begin with `payloads, position = [], 0` and `while position < len(data):`. What "
    "is left are the header, the payload, and the footer, each with its length and its "
    "checksum.",
    about={
        "returns the payloads of an intact file": (
            "A payload of 0 bytes is a payload, too. After each record, go on behind "
            "its last checksum."),
        "raises ValueError for a truncated record and for a flipped bit": (
            "A record has two checksums, and both can be wrong. A slice that reaches "
            "beyond the end raises no error, but returns fewer bytes than you asked "
            "for, so compare the numbers."),
        "runs without an error": (
            "The first checksum covers the 8 bytes of the length, and not itself. "
            "`struct` has an error of its own for too few bytes, but you have to "
            "raise a ValueError."),
    },
)
def check_split_records(attempt):
    """Checks a TFRecord parser on intact, truncated, and corrupted files."""
    for payloads in drawn(_payloads, how_many=8):
        data = _written(payloads)
        more = [*payloads, *[b""] * 4000] if payloads else []
        case = (f"an intact file with payloads of {[*map(len, payloads)]} bytes"
                + (f" and {len(more) - len(payloads):,} empty ones" if more else ""))
        with answering(case):
            found = attempt(_written(more))
        wrong = _unlike(more, found)
        yield "returns the payloads of an intact file", not wrong, f"{case}: {wrong}"
        ends = np.cumsum([0] + [16 + len(payload) for payload in payloads])
        damaged = {f"that was cut after {n} bytes": data[:n] for n in range(len(data))
                   if n not in ends}
        length = struct.pack("<Q", 2**32)
        header = length + struct.pack("<I", masked_crc(length))
        damaged["in which 2**32 bytes are missing"] = header + _written([b""])[12:]
        for place in range(len(data)):
            flipped = bytearray(data)
            flipped[place] ^= 1 << place % 8
            damaged[f"in which a bit of byte {place} was flipped"] = bytes(flipped)
        for how, found in damaged.items():
            with answering(f"a file {how}"):
                refused = raises(ValueError, attempt, found)
            yield ("raises ValueError for a truncated record and for a flipped bit",
                   refused, f"for a file {how}, it raised no error")


def _unlike(due, found):
    """Describes the first difference between two lists of payloads."""
    if not isinstance(found, list) or len(found) != len(due):
        size = f"{len(found):,} payloads" if isinstance(found, list) else repr(found)
        return f"expected a list of {len(due):,} payloads, but got {size:.80}"
    for place, (one, other) in enumerate(zip(due, found, strict=True)):
        if not isinstance(other, bytes | bytearray | memoryview) or one != other:
            return f"payload {place}: {shown(one, other)}"
    return ""


def _digits(rng, size):
    """Draws digit images, their labels, a number of shards, and a seed."""
    count, height, width = 1 + 7 * size, 1 + size, 8 - size
    images = rng.integers(0, 256, [count, width, height], np.uint8).swapaxes(1, 2)
    images[: count // 3] = images[-1]
    kind = ["uint8", "int32", "int64"][size % 3]
    least, above = {"uint8": (0, 10), "int32": (-9, 10), "int64": (-9, 2**40)}[kind]
    labels = rng.integers(least, above, count).astype(kind)
    labels[: count // 3] = labels[-1]
    return images, labels, 1 if not size else 1 + size % 4, size % 3 * 7


@exercise(
    "Exercise 2: digits_to_records",
    "The section `An Example is named lists` fills an Example. `write_shards` takes a "
    "generator of Examples, as in `folder_to_shards`.",
    "Begin with `def examples():`, and in it `for image, label in zip(images, "
    "labels, strict=True):`. What is left is to fill and yield each Example, and to "
    "call `write_shards`.",
    about={
        "stores each digit with its label, in the order of the seed": (
            "Make a new Example for each digit, because an old one keeps its values. "
            "`pixels` has one entry, the bytes of a picture of `uint8`, and `label` "
            "has one integer."),
        "runs without an error":
            "`seed` has no default, and it can only be passed by name.",
    },
)
def check_digits_to_records(attempt):
    """Checks the shards, records, and order that a converter has written."""
    for images, labels, num_shards, seed in drawn(_digits, how_many=6):
        case = f"{len(images)} digits {images.shape[1:]}, {labels.dtype} labels: "
        rows = [(image.tobytes(), int(label))
                for image, label in zip(images, labels, strict=True)]
        with tempfile.TemporaryDirectory() as folder:
            prefix, due = Path(folder, "digits"), Path(folder, "due")
            with (mock.patch.object(records, "write_shards",
                                    wraps=records.write_shards) as write,
                  answering(case[:-2])):
                attempt(images, labels, prefix, num_shards, seed)
            yield ("writes each record once", write.call_count < 2,
                   f"{case}it called write_shards {write.call_count} times")
            there = sorted(path.name for path in prefix.parent.glob("digits*"))
            yield ("writes complete shards and a manifest, as many as requested",
                   len(there) == num_shards + 1 and "digits.manifest.json" in there
                   and records.check_shards(prefix) > 0,
                   f"{case}{num_shards} shards were requested, but it wrote {there}")
            found = _in_files(prefix)
            order = stored_order(len(rows), due, num_shards, seed)
        fields = [_fields(one) for one in found]
        wrong = ("the raw bytes in `pixels` or the integers in `label` are wrong",
                 "the digits are right, but in another order")
        yield ("stores each digit with its label, in the order of the seed",
               fields == [rows[place] for place in order],
               f"{case}with seed {seed}, {wrong[sorted(fields) == sorted(rows)]}")


def _written(payloads):
    with tempfile.TemporaryDirectory() as folder:
        with tf.io.TFRecordWriter(f"{folder}/file") as writer:
            for payload in payloads:
                writer.write(payload)
        return Path(folder, "file").read_bytes()


def stored_order(count, prefix, num_shards, seed):
    """Returns the order in which `write_shards` stores `count` records."""
    names = [str(n).encode() for n in range(count)]
    records.write_shards(names, prefix, num_shards, seed=seed)
    return [int(one) for one in _in_files(prefix)]


def _in_files(prefix):
    paths = records.open_shards(prefix)
    return [*tf.data.TFRecordDataset(paths).as_numpy_iterator()]


def _fields(record):
    """Returns the pixels and the label of a record that has only these two fields."""
    feature = tf.train.Example.FromString(record).features.feature
    pixels, label = (feature[name] for name in ("pixels", "label"))
    values = [*pixels.bytes_list.value, *label.int64_list.value]
    kinds = [*map(type, values)]
    return tuple(values) if len(feature) == 2 and kinds == [bytes, int] else ()
