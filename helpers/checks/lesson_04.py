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
    "the loop that takes the file apart, under 'The bytes on disk', asserts what you "
    "have to raise for; what does a slice give at the end of the bytes?",
    "the first lines: `payloads, position = [], 0` and `while position < len(data):`.",
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
           "for no bytes at all it returned something other than an empty list.")
    ends = np.cumsum([0] + [16 + len(payload) for payload in payloads])
    cuts = {f"cut after {cut} bytes": data[:cut] for cut in range(len(data))
            if cut not in ends}
    yield ("a file cut anywhere inside a record is a ValueError",
           *_all_refused(attempt, cuts))
    flips = {f"with a bit of byte {place} changed": _flipped(data, place)
             for place in range(len(data))}
    yield ("a flipped bit anywhere is a ValueError", *_all_refused(attempt, flips))


@exercise(
    "Exercise 2: digits_to_records",
    "an Example is filled under 'An Example is named lists'; write_shards takes a "
    "generator of them, as under 'The fix: whole or absent'.",
    "the first lines: `def examples():`, and in it `for image, label in zip(images, "
    "labels):`.",
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
           f"a digit of {HEIGHT} x {WIDTH} is {HEIGHT * WIDTH} bytes, and the first "
           f"record has {len(parsed[0][0])}.")
    expected = [(image.tobytes(), int(label))
                for image, label in zip(images, labels, strict=True)]
    yield ("every pixel and its label came back",
           sorted(parsed) == sorted(expected),
           "the records are there, but pixels or labels are not those given.")
    yield ("the order is shuffled", parsed != expected,
           "the records stand in the order of the digits given.")


@exercise(
    "Exercise 3: digit_batches",
    "`digit_queue` under 'Learn from the records' parses such records; a dataset maps "
    "the same function over them.",
    "the first line: `paths = records.open_shards(path_prefix)`.",
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
    yield "gives digits", bool(batches), "it is empty."
    yield ("each element is a pair: pictures and their labels",
           all(isinstance(batch, tuple) and len(batch) == 2 for batch in batches),
           f"the first is {_short(batches[0])}")
    shapes = [image.shape for image, _ in batches]
    yield ("it gives batches, not single digits",
           all(np.ndim(label) > 0 for _, label in batches),
           f"its elements are single digits, of shape {list(shapes[0])}: nothing "
           "collects them")
    yield ("pictures are [batch, height, width, 1], labels [batch]",
           all(i.shape[1:] == (HEIGHT, WIDTH, 1) and k.shape == i.shape[:1]
               for i, k in batches),
           f"the first pictures are {list(shapes[0])}, their labels "
           f"{list(batches[0][1].shape)}.")
    image_type, label_type = (part.dtype.name for part in batches[0])
    yield ("pictures are float32", image_type == "float32", f"they are {image_type}.")
    yield ("labels are int32", label_type == "int32",
           f"they are {label_type}; a record stores int64.")
    low = min(image.min() for image, _ in batches)
    high = max(image.max() for image, _ in batches)
    yield ("pixels go from -1 to 1", -1.0 <= low < -0.9 and 0.9 < high <= 1.0,
           f"they go from {low:g} to {high:g}.")
    total = sum(shape[0] for shape in shapes)
    yield (f"every one of {DIGITS} digits comes once, the last few too",
           total == DIGITS, f"{total} came"
           f"{', the last, smaller batch is missing' if total < DIGITS else ''}.")
    sizes = [shape[0] for shape in shapes]
    yield ("batches have the size asked for", sizes == [8] * 6 + [5],
           f"8 were asked for, the first sizes are {sizes[:3]}.")
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


def _all_refused(attempt, files: dict[str, bytes]) -> tuple[bool, str]:
    """Returns whether every file is a `ValueError`; if not, which is not, and how."""
    for what, data in files.items():
        try:
            attempt(data)
        except ValueError:
            continue
        except Exception as error:
            return False, (
                f"{what} it raised {type(error).__name__}, not ValueError: bytes that "
                f"are not there were used before they were missed ({error})"
            )
        return False, f"{what} it raised nothing"
    return True, ""


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
        return None, "there is no finished set of shards under the prefix given."


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
