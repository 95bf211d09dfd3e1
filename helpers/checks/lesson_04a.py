"""The checks of lesson 04a: TFRecords."""

import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf

from helpers import records
from helpers.checks.report import drawn, exercise


def _payloads(rng, size):
    """Draws the payloads of one file: at first none, then up to four, some empty."""
    lengths = rng.integers(0, 60, min(size, 1 + size % 4)) * (rng.random() < 0.8)
    return [rng.bytes(int(length)) for length in lengths]


@exercise(
    "Exercise 1: split_records",
    "the loop that takes the file apart, under 'The bytes on disk', asserts what you "
    "have to raise for; what does a slice give at the end of the bytes?",
    "the first lines: `payloads, position = [], 0` and `while position < len(data):`.",
)
def check_split_records(attempt):
    """Compares with what TensorFlow wrote, then cuts and flips it everywhere.

    Args:
      attempt: `bytes` of a whole file to the list of its payloads; `ValueError` for
        damaged bytes.
    """
    for payloads in drawn(_payloads, how_many=8):
        data = _written(payloads)
        found = attempt(data)
        yield ("returns the payloads of a whole file", found == payloads,
               f"the file holds records of {[*map(len, payloads)]} bytes; you returned "
               f"{_short(found)}.")
        ends = np.cumsum([0] + [16 + len(payload) for payload in payloads])
        for cut in sorted(set(range(len(data))) - set(ends.tolist())):
            yield ("a file cut anywhere inside a record is a ValueError",
                   *_refused(attempt, data[:cut], f"cut after {cut} bytes"))
        for place in range(len(data)):
            flipped = bytearray(data)
            flipped[place] ^= 1 << place % 8
            yield ("a flipped bit anywhere is a ValueError", *_refused(
                attempt, bytes(flipped), f"with a bit of byte {place} changed"))


def _digits(rng, size):
    """Draws digits of any size, their labels, a number of shards and a seed."""
    count = 1 if not size else int(rng.integers(8, 40))
    height, width = rng.integers(1, 9, 2)
    images = rng.integers(0, 256, [count, height, width], np.uint8)
    kind = rng.choice(["uint8", "int32", "int64"])
    labels = rng.integers(0 if kind == "uint8" else -9, 10, count).astype(kind)
    return images, labels, 1 if not size else 1 + size % 4, int(rng.integers(1000))


@exercise(
    "Exercise 2: digits_to_records",
    "an Example is filled under 'An Example is named lists'; write_shards takes a "
    "generator of them, as in `folder_to_shards`.",
    "the first lines: `def examples():`, and in it `for image, label in zip(images, "
    "labels):`.",
)
def check_digits_to_records(attempt):
    """Writes made-up digits and reads them back with `tf.data`.

    Args:
      attempt: `(images uint8 [n, height, width], labels [n], path_prefix, num_shards,
        seed)`, which writes the shards.
    """
    for images, labels, num_shards, seed in drawn(_digits, how_many=6):
        case = f"{len(images)} digits {images.shape[1:]}, {labels.dtype} labels: "
        rows = [(image.tobytes(), int(label))
                for image, label in zip(images, labels, strict=True)]
        with tempfile.TemporaryDirectory() as folder:
            prefix, due = Path(folder, "digits"), Path(folder, "due")
            attempt(images, labels, prefix, num_shards, seed)
            there = sorted(path.name for path in prefix.parent.glob("digits*"))
            yield ("leaves whole shards and a manifest, as many as asked for",
                   len(there) == num_shards + 1 and "digits.manifest.json" in there
                   and records.check_shards(prefix) > 0,
                   f"{case}{num_shards} shards were asked for; there are {there}")
            found = _in_files(records.open_shards(prefix))
            records.write_shards(
                [str(n).encode() for n in range(len(rows))], due, num_shards, seed=seed
            )
            order = [int(one) for one in _in_files(records.open_shards(due))]
        fields = [_fields(one) for one in found]
        yield ("each record has `pixels`, raw bytes, and `label`, an integer",
               None not in fields, f"{case}the lists of the first are "
               f"{_short(tf.train.Example.FromString(found[0]).features.feature)}")
        yield ("every digit came back once, with its own label",
               sorted(fields) == sorted(rows),
               f"{case}{len(fields)} records came back; pixels or labels are not "
               "those given")
        yield ("the order is that of write_shards with this seed",
               fields == [rows[place] for place in order],
               f"{case}seed {seed} would give another order")


def _written(payloads: list[bytes]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        with tf.io.TFRecordWriter(f"{folder}/file") as writer:
            for payload in payloads:
                writer.write(payload)
        return Path(folder, "file").read_bytes()


def _refused(attempt, data: bytes, what: str) -> tuple[bool, str]:
    """Returns whether these bytes are a `ValueError`; if not, what they are."""
    try:
        attempt(data)
    except ValueError:
        return True, ""
    except Exception as error:
        return False, f"{what} it raised {type(error).__name__}, not ValueError"
    return False, f"{what} it raised nothing"


def _short(value) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) < 100 else f"{text[:97]}..."


def _in_files(paths: list[str]) -> list[bytes]:
    return [one for path in paths
            for one in tf.data.TFRecordDataset(path).as_numpy_iterator()]


def _fields(record: bytes) -> tuple[bytes, int] | None:
    """Returns pixels and label of a record that holds one of each, and no more."""
    feature = tf.train.Example.FromString(record).features.feature
    pixels, label = (feature[name] for name in ("pixels", "label"))
    if (len(feature), len(pixels.bytes_list.value), len(label.int64_list.value)) != (
            2, 1, 1):
        return None
    return pixels.bytes_list.value[0], label.int64_list.value[0]
