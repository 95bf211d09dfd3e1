"""The checks of 04a and 04b: right in any shape passes, wrong ones hear why."""

import io
import struct
from functools import partial

import numpy as np
import pytest
import tensorflow as tf

from helpers import records
from helpers.checks import lesson_04a, lesson_04b
from helpers.records.wire import masked_crc

FEATURES = {"pixels": tf.io.FixedLenFeature([], tf.string),
            "label": tf.io.FixedLenFeature([], tf.int64)}


def crc_of(payload):
    return struct.pack("<I", masked_crc(payload))


def split(data, *, header=True, footer=True, short=ValueError, repeat=True):
    found = []
    while data:
        if len(data) < 16 and short:
            raise short("cut")
        length = struct.unpack_from("<Q", data)[0]
        if header and data[8:12] != crc_of(data[:8]):
            raise ValueError("length")
        payload, data = data[12:12 + length], data[12 + length:]
        if footer and data[:4] != crc_of(payload):
            raise ValueError("payload")
        data = data[4:]
        if repeat or payload not in found:
            found.append(payload)
    return found


def split_from_a_stream(data):
    stream, found = io.BytesIO(data), []
    while header := stream.read(12):
        if len(header) < 12 or header[8:] != crc_of(header[:8]):
            raise ValueError("header")
        found.append(stream.read(struct.unpack("<Q", header[:8])[0]))
        if stream.read(4) != crc_of(found[-1]):
            raise ValueError("payload")
    return found


def split_by_recursion(data):
    return [] if not data else [*split(data[:len(data) - len(rest(data))]),
                                *split_by_recursion(rest(data))]


def rest(data):
    if len(data) < 12 or data[8:12] != crc_of(data[:8]):
        raise ValueError("header")
    return data[16 + struct.unpack_from("<Q", data)[0]:]


@pytest.mark.parametrize("right", [
    split, split_from_a_stream, split_by_recursion, lambda data: [*split(bytes(data))]])
def test_right_splits(right):
    assert lesson_04a.check_split_records(right)


@pytest.mark.parametrize(("wrong", "line"), [
    (partial(split, header=False), "must|not ValueError|raised nothing"),
    (partial(split, footer=False), "raised nothing"),
    (partial(split, short=KeyError), "it raised KeyError, not ValueError"),
    (partial(split, short=None), "it raised error, not ValueError"),
    (partial(split, repeat=False), "you returned"),
    (lambda data: split(data)[:3], "you returned"),
    (lambda data: split(data) or [b""], "you returned"),
    (lambda data: 0, "you returned 0"),
])
def test_wrong_splits(wrong, line):
    report = lesson_04a.check_split_records(wrong)
    assert not report and not report.broken
    assert any(part in repr(report).replace("\n      ", " ")
               for part in line.split("|"))


def example(pixels, label, kind="int64_list"):
    made = tf.train.Example()
    made.features.feature["pixels"].bytes_list.value.append(pixels)
    getattr(made.features.feature["label"], kind).value.append(label)
    return made


def write(images, labels, prefix, num_shards, seed, *, kind="int64_list", rows=slice(
        None), order="C", shards=None, fixed=None):
    records.write_shards(
        [example(image.tobytes(order), int(label), kind)
         for image, label in zip(images[rows], labels[rows], strict=True)],
        prefix, shards or num_shards, seed=seed if fixed is None else fixed)


def write_old_style(images, labels, prefix, num_shards, seed):
    def rows():
        for place in range(len(images)):
            yield tf.train.Example(features=tf.train.Features(feature={
                "pixels": tf.train.Feature(bytes_list=tf.train.BytesList(
                    value=[images[place].tobytes()])),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(
                    value=[labels[place]]))})).SerializeToString()
    records.write_shards(rows(), str(prefix), num_shards, seed=seed)


@pytest.mark.parametrize("right", [
    write, write_old_style, lambda *args: write(*args), partial(write, rows=slice(99))])
def test_right_conversions(right):
    assert lesson_04a.check_digits_to_records(right)


@pytest.mark.parametrize(("wrong", "line"), [
    (partial(write, shards=1), "shards were asked for"),
    (partial(write, fixed=7), "would give another order"),
    (partial(write, kind="float_list"), "`label`, an integer"),
    (partial(write, rows=slice(5)), "records came back"),
    (partial(write, order="F"), "pixels or labels"),
    (lambda i, k, *args: write(i, k[::-1], *args), "pixels or labels"),
    (lambda *args: 0, "there are []"),
])
def test_wrong_conversions(wrong, line):
    report = lesson_04a.check_digits_to_records(wrong)
    assert not report and not report.broken
    assert line in " ".join(repr(report).split())


def batches(prefix, batch_size, height, width, crowd, *, again=True, dtype=tf.int32,
            scale=127.5, drop=False, keep=None, shuffle=True, late=False):
    def parse(record):
        fields = tf.io.parse_single_example(record, FEATURES)
        pixels = tf.io.decode_raw(fields["pixels"], tf.uint8)
        image = tf.cast(tf.reshape(pixels, [height, width, 1]), tf.float32)
        return (image - 127.5) / scale, tf.cast(fields["label"], dtype)

    rows = tf.data.TFRecordDataset(records.open_shards(prefix)[:keep])
    if late:
        return rows.map(parse).batch(batch_size).shuffle(crowd)
    if shuffle:
        rows = rows.shuffle(crowd, seed=3, reshuffle_each_iteration=again)
    return rows.map(parse).batch(batch_size, drop_remainder=drop)


def batches_in_groups(prefix, batch_size, height, width, crowd):
    def parse(group):
        fields = tf.io.parse_example(group, FEATURES)
        pixels = tf.io.decode_raw(fields["pixels"], tf.uint8)
        images = tf.reshape(pixels, [-1, height, width, 1])
        return (tf.cast(images, tf.float32) / 127.5 - 1,
                tf.cast(fields["label"], tf.int32))
    rows = tf.data.TFRecordDataset(records.open_shards(prefix)).shuffle(crowd)
    return rows.batch(batch_size).map(parse).prefetch(2)


@pytest.mark.parametrize("right", [
    batches, batches_in_groups, lambda *args: batches(*args).prefetch(1),
    lambda *args: batches_in_groups(*args).map(lambda image, label: (image, label))])
def test_right_batches(right):
    assert lesson_04b.check_digit_batches(right)


@pytest.mark.parametrize(("wrong", "line"), [
    (lambda *args: batches(*args).repeat(), "batches have the size"),
    (partial(batches, drop=True), "batches have the size"),
    (partial(batches, dtype=tf.int64), "int64"),
    (partial(batches, scale=255.0), "in [-1, 1]"),
    (partial(batches, keep=1), "batches have the size"),
    (partial(batches, again=False), "another order in each epoch"),
    (partial(batches, shuffle=False), "another order in each epoch"),
    (partial(batches, late=True), "✗"),
    (lambda p, n, h, w, crowd: batches(p, n, h, w, 99), "keeps the order"),
    (lambda p, n, h, w, crowd: batches(p, n, w, h, crowd), "batches have the size"),
    (lambda p, n, *args: batches(p, 4, *args), "batches have the size"),
    (lambda *args: list(batches(*args)), "it returned a list"),
    (lambda *args: batches(*args).map(lambda image, label: image), "no pair"),
])
def test_wrong_batches(wrong, line):
    report = lesson_04b.check_digit_batches(wrong)
    assert not report and not report.broken
    assert line in " ".join(repr(report).split())


def test_hints_are_first_lines_that_lead_on():
    """Each hint's code stands in an answer that is accepted; names it gives exist."""
    payloads, position, data = [], 0, b""
    while position < len(data):  # the hint of 04a-1: for no bytes it is done
        position += 1
    assert payloads == split(data)
    for check, names in ((lesson_04a.check_split_records, ["masked_crc", "slice"]),
                         (lesson_04a.check_digits_to_records, ["folder_to_shards"]),
                         (lesson_04b.check_digit_batches, ["parse_one", "decode_raw"])):
        said = repr(check(lambda *_: np.nan, hints=2))
        assert "Hint 2" in said and "To get a hint" not in said
        assert any(name in said for name in names)
