"""The checks of lesson 04: right answers of any shape pass, wrong ones hear why."""

import io
import struct

import pytest
import tensorflow as tf

from helpers import records
from helpers.checks.lesson_04 import (
    check_digit_batches,
    check_digits_to_records,
    check_split_records,
)
from helpers.records.wire import masked_crc


def complaint(report):
    """Returns the claim that an attempt did not meet, with what was said of it."""
    assert not report
    claim, _, wrong = report.claims[-1]
    return f"{claim}: {wrong}"


# ------------------------------------------------------------------ Exercise 1


def by_slices(data, lengths=True, payloads=True, header=True, footer=True):
    found, at = [], 0
    while at < len(data):
        head = data[at : at + 12]
        if len(head) < 12:
            if header:
                raise ValueError("short header")
            break
        length, crc = struct.unpack("<QI", head)
        if lengths and crc != masked_crc(head[:8]):
            raise ValueError("length")
        payload, tail = data[at + 12 :][:length], data[at + 12 + length :][:4]
        if len(tail) < 4:
            if footer:
                raise ValueError("short")
            break
        if payloads and struct.unpack("<I", tail)[0] != masked_crc(payload):
            raise ValueError("payload")
        found.append(payload)
        at += 16 + length
    return found


def by_stream(data):
    stream, found = io.BytesIO(data), []

    def take(count):
        got = stream.read(count)
        if len(got) != count:
            raise ValueError("the file ends inside a record")
        return got

    while stream.tell() < len(data):
        head, crc = take(8), take(4)
        if struct.pack("<I", masked_crc(head)) != crc:
            raise ValueError("length")
        payload, crc = take(struct.unpack("<Q", head)[0]), take(4)
        if struct.pack("<I", masked_crc(payload)) != crc:
            raise ValueError("payload")
        found.append(payload)
    return found


def by_recursion(data):
    if not data:
        return []
    try:
        length, crc = struct.unpack_from("<QI", data)
        if crc != masked_crc(data[:8]):
            raise ValueError("length")
        payload, crc = struct.unpack_from(f"<{length}sI", data, 12)
    except struct.error as error:
        raise ValueError("cut") from error
    if crc != masked_crc(payload):
        raise ValueError("payload")
    return [payload, *by_recursion(data[16 + length :])]


@pytest.mark.parametrize("attempt", [by_slices, by_stream, by_recursion])
def test_split_records_accepts(attempt):
    report = check_split_records(attempt)
    assert report, report


def unpacks_first(data):
    found, at = [], 0
    while at < len(data):
        length, _ = struct.unpack_from("<QI", data, at)
        found.append(data[at + 12 : at + 12 + length])
        at += 16 + length
    return found


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (unpacks_first, "not ValueError: bytes that are not there"),
        (lambda data: by_slices(data, lengths=False), "changed it raised"),
        (lambda data: by_slices(data, payloads=False), "changed it raised nothing"),
        (lambda data: by_slices(data, header=False), "bytes it raised nothing"),
        (lambda data: by_slices(data, footer=False), "bytes it raised nothing"),
        (lambda data: iter(by_slices(data)), "you returned"),
        (lambda data: by_slices(data) or None, "no bytes at all"),
    ],
)
def test_split_records_refuses(attempt, words):
    assert words in complaint(check_split_records(attempt))


# ------------------------------------------------------------------ Exercise 2


def digit_example(pixels, label):
    feature = {
        "pixels": tf.train.Feature(bytes_list=tf.train.BytesList(value=[pixels])),
        "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature))


def written(images, labels, prefix, number=3, pixels=lambda image: image.tobytes()):
    pairs = zip(images, labels, strict=True)
    examples = [digit_example(pixels(image), int(label)) for image, label in pairs]
    records.write_shards(examples, prefix, number, seed=1)


def as_bytes(images, labels, prefix):
    records.write_shards(
        (digit_example(image.tobytes(), int(label)).SerializeToString()
         for image, label in zip(images, labels, strict=True)),
        prefix, 3, seed=5,
    )


def by_index(images, labels, prefix):
    def examples():
        for place in range(len(images)):
            example = tf.train.Example()
            feature = example.features.feature
            feature["pixels"].bytes_list.value[:] = [bytes(images[place].ravel())]
            feature["label"].int64_list.value[:] = [int(labels[place])]
            yield example

    records.write_shards(examples(), prefix, 3, seed=2)


@pytest.mark.parametrize("attempt", [written, as_bytes, by_index])
def test_digits_to_records_accepts(attempt):
    report = check_digits_to_records(attempt)
    assert report, report


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda i, k, p: written(i, k, p, 4), "there are 4"),
        (lambda i, k, p: written(i[1:], k[1:], p), "there are 52 records"),
        (lambda i, k, p: written(i, k, p, pixels=lambda x: x[:, :3].tobytes()),
         "is 35 bytes"),
        (lambda i, k, p: written(i, k[::-1], p), "not those given"),
        (lambda i, k, p: written(i, k, p, pixels=lambda x: x.T.tobytes()),
         "not those given"),
        (lambda i, k, p: written(i, k, p.with_name("else")), "no finished set"),
        (lambda i, k, p: written(i[:50], k[:50], p), "there are 50 records"),
    ],
)
def test_digits_to_records_refuses(attempt, words):
    assert words in complaint(check_digits_to_records(attempt))


# ------------------------------------------------------------------ Exercise 3


def parsed(serialized, height, width, label_shape=(), label_type=tf.int32,
           shift=127.5, scale=127.5):
    fields = tf.io.parse_single_example(
        serialized,
        {"pixels": tf.io.FixedLenFeature([], tf.string),
         "label": tf.io.FixedLenFeature(label_shape, tf.int64)},
    )
    pixels = tf.io.decode_raw(fields["pixels"], tf.uint8)
    image = tf.cast(tf.reshape(pixels, [height, width, 1]), tf.float32)
    return (image - shift) / scale, tf.cast(fields["label"], label_type)


def dataset(prefix, height, width, **options):
    stages = tf.data.TFRecordDataset(records.open_shards(prefix))
    return stages.map(lambda s: parsed(s, height, width, **options))


def by_map(prefix, batch_size, height, width):
    return dataset(prefix, height, width).batch(batch_size)


def by_interleave(prefix, batch_size, height, width):
    paths = tf.data.Dataset.from_tensor_slices(records.open_shards(prefix))
    stages = paths.interleave(tf.data.TFRecordDataset, cycle_length=3)
    stages = stages.map(lambda s: parsed(s, height, width)).shuffle(20)
    return stages.batch(batch_size).prefetch(1)


def batch_first(prefix, batch_size, height, width):
    def whole_batch(serialized):
        fields = tf.io.parse_example(
            serialized,
            {"pixels": tf.io.FixedLenFeature([], tf.string),
             "label": tf.io.FixedLenFeature([], tf.int64)},
        )
        pixels = tf.io.decode_raw(fields["pixels"], tf.uint8)
        images = tf.cast(tf.reshape(pixels, [-1, height, width, 1]), tf.float32)
        return images / 127.5 - 1, tf.cast(fields["label"], tf.int32)

    stages = tf.data.TFRecordDataset(records.open_shards(prefix))
    return stages.batch(batch_size).map(whole_batch)


@pytest.mark.parametrize("attempt", [by_map, by_interleave, batch_first])
def test_digit_batches_accepts(attempt):
    report = check_digit_batches(attempt)
    assert report, report


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda p, b, h, w: dataset(p, h, w).batch(1), "size asked for"),
        (lambda p, b, h, w: dataset(p, h, w, label_shape=[1]).batch(b),
         "their labels [8, 1]"),
        (lambda p, b, h, w: dataset(p, h, w, label_type=tf.int64).batch(b),
         "labels are int32: they are int64"),
        (lambda p, b, h, w: dataset(p, h, w), "not single digits"),
        (lambda p, b, h, w: dataset(p, h, w, shift=0.0, scale=1.0).batch(b),
         "go from 0 to 255"),
        (lambda p, b, h, w: dataset(p, h, w, shift=0.0, scale=255.0).batch(b),
         "go from 0 to 1"),
        (lambda p, b, h, w: dataset(p, h, w).batch(b, drop_remainder=True),
         "48 came, the last, smaller batch"),
        (lambda p, b, h, w: dataset(p, h, w).repeat().batch(b), "came"),
        (lambda p, b, h, w: dataset(p, w, h).batch(b), "the first pictures are"),
        (lambda p, b, h, w: dataset(p, h, w).map(lambda i, k: i).batch(b), "pair"),
        (lambda p, b, h, w: list(dataset(p, h, w)), "returned a list"),
    ],
)
def test_digit_batches_refuses(attempt, words):
    assert words in complaint(check_digit_batches(attempt))
