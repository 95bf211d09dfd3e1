"""The checks of lesson 04: TFRecords."""

import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf

from helpers import records
from helpers.checks.report import exercise
from helpers.errors import DataError

HEIGHT, WIDTH, DIGITS = 5, 7, 53


@exercise(
    "Exercise 1: split_records",
    "read 8 bytes of length, 4 of checksum, the payload, 4 of checksum; then again.",
)
def check_split_records(attempt):
    """Compares with what TensorFlow wrote, then cuts and flips every byte.

    Args:
      attempt: `bytes` of a whole file to the list of its payloads; `ValueError` for
        damaged bytes.
    """
    payloads = [b"", b"seven", bytes(range(61))]
    data = _written(payloads)
    found = attempt(data)
    yield ("returns the payloads of a whole file, the empty one too",
           found == payloads,
           f"the file holds {len(payloads)} records of 0, 5 and 61 bytes; you "
           f"returned {_short(found)}.")
    yield ("an empty file holds no records", attempt(b"") == [],
           "return an empty list when there are no bytes at all.")
    ends = np.cumsum([0] + [16 + len(payload) for payload in payloads])
    silent = [cut for cut in range(len(data))
              if cut not in ends and not _refuses(attempt, data[:cut])]
    yield ("a file cut anywhere inside a record is a ValueError", not silent,
           f"cut after {silent[:1]} bytes it raised none: compare the bytes you got "
           "with the bytes you asked for, in the header too.")
    silent = [position for position in range(len(data))
              if not _refuses(attempt, _flipped(data, position))]
    yield ("a flipped bit anywhere is a ValueError", not silent,
           f"with byte {silent[:1]} changed it raised none: compare both checksums, "
           "that of the length and that of the payload.")


@exercise(
    "Exercise 2: digits_to_records",
    "make one Example per digit with `pixels` and `label`, give them to write_shards.",
)
def check_digits_to_records(attempt):
    """Writes made-up digits and reads them back with `tf.data`.

    Args:
      attempt: `(images uint8 [n, height, width], labels uint8 [n], path_prefix)`,
        which writes 3 shards.
    """
    images, labels = _digits()
    with tempfile.TemporaryDirectory() as folder:
        prefix = Path(folder) / "digits"
        attempt(images, labels, prefix)
        count, why = _checked(prefix)
        yield ("leaves whole shards and a manifest", count is not None, why)
        yield (f"writes each of {DIGITS} digits once", count == DIGITS,
               f"there are {count} records.")
        paths = records.open_shards(prefix)
        yield ("writes 3 shards", len(paths) == 3, f"there are {len(paths)}.")
        parsed = [_parsed_digit(record) for record in tf.data.TFRecordDataset(paths)]
    yield ("each record has `pixels`, raw bytes, and `label`, an integer",
           all(len(pixels) == HEIGHT * WIDTH for pixels, _ in parsed),
           f"a digit of {HEIGHT} x {WIDTH} is {HEIGHT * WIDTH} bytes: use .tobytes().")
    expected = [(image.tobytes(), int(label))
                for image, label in zip(images, labels, strict=True)]
    yield ("every pixel and its label came back",
           sorted(parsed) == sorted(expected),
           "the records are there, but pixels or labels are not those given.")
    yield ("the order is shuffled", parsed != expected,
           "pass a seed to write_shards: it shuffles over all examples.")


@exercise(
    "Exercise 3: digit_batches",
    "open_shards gives the paths; then TFRecordDataset, map, batch.",
)
def check_digit_batches(attempt):
    """Reads made-up digits, written here, and compares each with its pixels.

    Args:
      attempt: `(path_prefix, batch_size, height, width)` to a `tf.data.Dataset`.
    """
    images, labels = _digits()
    with tempfile.TemporaryDirectory() as folder:
        prefix = Path(folder) / "digits"
        records.write_shards(
            [_digit_example(i, k) for i, k in zip(images, labels, strict=True)],
            prefix, 3, seed=1,
        )
        dataset = attempt(prefix, 8, HEIGHT, WIDTH)
        yield ("returns a tf.data.Dataset", isinstance(dataset, tf.data.Dataset),
               f"it returned a {type(dataset).__name__}.")
        batches = [tf.nest.map_structure(lambda t: t.numpy(), batch)
                   for batch in dataset.take(DIGITS + 1)]
    shapes = [image.shape for image, _ in batches]
    yield ("pictures are [batch, height, width, 1], labels [batch]",
           all(i.shape[1:] == (HEIGHT, WIDTH, 1) and k.shape == i.shape[:1]
               for i, k in batches),
           f"the first pictures are {list(shapes[0])}, their labels "
           f"{list(batches[0][1].shape)}: decode_raw gives a flat row, so reshape it; "
           "a label is a single number.")
    dtypes = [batch.dtype.name for batch in batches[0]]
    yield ("pictures are float32 in [-1, 1], labels int32",
           dtypes == ["float32", "int32"] and all(
               batch[0].min() >= -1 and batch[0].max() <= 1 for batch in batches),
           f"they are {dtypes}, from {batches[0][0].min():.0f} to "
           f"{batches[0][0].max():.0f}: subtract 127.5, then divide by it.")
    total = sum(shape[0] for shape in shapes)
    yield (f"every one of {DIGITS} digits comes once, the last few too",
           total == DIGITS, f"{total} came: keep the last, smaller batch, one epoch.")
    sizes = [shape[0] for shape in shapes]
    yield ("batches have the size asked for", sizes == [8] * 6 + [5],
           f"8 were asked for, the first sizes are {sizes[:3]}: use batch_size.")
    back = [(np.uint8(np.round(image * 127.5 + 127.5)).tobytes(), int(label))
            for batch in batches for image, label in zip(*batch, strict=True)]
    expected = [(i.tobytes(), int(k)) for i, k in zip(images, labels, strict=True)]
    yield ("every picture has its own pixels and label",
           sorted(back) == sorted(expected),
           "the numbers of pictures agree, their pixels or labels do not.")


def _written(payloads: list[bytes]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        with tf.io.TFRecordWriter(str(path)) as writer:
            for payload in payloads:
                writer.write(payload)
        return path.read_bytes()


def _flipped(data: bytes, position: int) -> bytes:
    return data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :]


def _refuses(attempt, data: bytes) -> bool:
    try:
        attempt(data)
    except ValueError:
        return True
    return False


def _short(value) -> str:
    text = repr(value)
    return text if len(text) < 60 else f"{text[:57]}..."


def _digits() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(11)
    images = random.integers(0, 256, [DIGITS, HEIGHT, WIDTH], np.uint8)
    return images, (np.arange(DIGITS) % 10).astype(np.uint8)


def _checked(prefix: Path) -> tuple[int | None, str]:
    try:
        return records.check_shards(prefix), ""
    except DataError:
        return None, "give path_prefix to records.write_shards as it is."


def _digit_example(image: np.ndarray, label: int) -> tf.train.Example:
    example = tf.train.Example()
    example.features.feature["pixels"].bytes_list.value.append(image.tobytes())
    example.features.feature["label"].int64_list.value.append(int(label))
    return example


def _parsed_digit(record: tf.Tensor) -> tuple[bytes, int]:
    fields = tf.io.parse_single_example(
        record,
        {"pixels": tf.io.FixedLenFeature([], tf.string),
         "label": tf.io.FixedLenFeature([], tf.int64)},
    )
    return fields["pixels"].numpy(), int(fields["label"])
