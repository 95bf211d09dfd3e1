"""Records under faults: an error that names file and record, or every record."""

import os
import re
import shutil
import threading

import killing
import numpy as np
import pytest
import tensorflow as tf
from both_pipelines import BOTH, jpeg

from helpers import records
from helpers.errors import DataError


def three_records(folder, compression=None):
    """Three records of different sizes, and where each begins in the plain bytes."""
    payloads = [b"a" * 5, b"b" * 24, b"c" * 61]
    path = folder / "three"
    with tf.io.TFRecordWriter(str(path), compression) as writer:
        for payload in payloads:
            writer.write(payload)
    return path, payloads, [0, 21, 61, 138]


# Cuts and flips -------------------------------------------------------------------


def test_every_cut_of_a_plain_file(tmp_path, tried):
    path, _, starts = three_records(tmp_path)
    data = path.read_bytes()
    assert len(data) == starts[-1]
    tried(len(data))
    for cut in range(len(data)):
        path.write_bytes(data[:cut])
        record = sum(start <= cut for start in starts) - 1
        if cut == 0:
            expected = "three is empty"
        elif cut in starts:
            # A whole file of fewer records: only the manifest knows better.
            assert records.check_shards([path]) == record
            continue
        else:
            expected = f"three is damaged in record {record} at byte {starts[record]}. "
        for check in (records.check_shards, records.open_shards):
            with pytest.raises(DataError, match=re.escape(expected)):
                check([path])


def test_every_cut_of_a_gzip_file(tmp_path, tried):
    path, *_ = three_records(tmp_path, "GZIP")
    data = path.read_bytes()
    tried(len(data))
    for cut in range(len(data)):
        path.write_bytes(data[:cut])
        with pytest.raises(DataError, match="three .*(cut short|empty)"):
            records.check_shards([path])


def test_every_cut_of_a_shard_with_a_manifest(tmp_path, tried):
    payloads = [b"a" * 5, b"b" * 24, b"c" * 61]
    [path] = records.write_shards(payloads, tmp_path / "x", 1, seed=1)
    data = path.read_bytes()
    tried(len(data))
    for cut in range(len(data)):
        path.write_bytes(data[:cut])
        with pytest.raises(DataError, match="x-00000-of-00001"):
            records.open_shards(tmp_path / "x")  # at every opening, not only on demand
    path.write_bytes(data)
    assert records.check_shards(tmp_path / "x") == 3


@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_no_flipped_byte_changes_a_record(tmp_path, compression, tried):
    """In a plain file, whichever field it is of, its record is named."""
    path, payloads, starts = three_records(tmp_path, compression)
    data = path.read_bytes()
    tried(len(data))
    for position in range(len(data)):
        path.write_bytes(
            data[:position] + bytes([data[position] ^ 0x10]) + data[position + 1 :]
        )
        record = sum(start <= position for start in starts) - 1
        try:
            assert records.check_shards([path]) == 3
        except DataError as error:
            assert "three" in str(error)
            assert compression or re.search(rf"[Rr]ecord {record}\b", str(error))
            continue
        # Some bits of GZIP (time, system, padding) say nothing about the content.
        assert compression
        read = tf.data.TFRecordDataset(str(path), compression)
        assert [record.numpy() for record in read] == payloads


# Files that are no TFRecords ------------------------------------------------------


@BOTH
def test_file_of_another_kind(tmp_path, read):
    path = tmp_path / "other"
    for contents, cause in (
        (b"", "is empty"),
        (b"<!DOCTYPE html><title>404</title>", "not a TFRecord file"),
        (b"\x1f\x8b\x08\x00" + b"not really gzip", "GZIP stream is corrupt"),
    ):
        path.write_bytes(contents)
        with pytest.raises(DataError, match=f"other .*{cause}"):
            read([path], num_epochs=None)


@BOTH
def test_missing_file_and_folder(tmp_path, read):
    for path in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(DataError, match=f"{path.name} cannot be read"):
            read([path])


# Sets of shards -------------------------------------------------------------------


@BOTH
def test_sets_that_are_not_what_was_written(tmp_path, read):
    def fresh():
        examples = [records.make_example(jpeg(), n) for n in range(9)]
        return records.write_shards(examples, tmp_path / "x", 3, seed=1)

    manifest = tmp_path / "x.manifest.json"
    first, second, _ = fresh()
    second.unlink()
    with pytest.raises(DataError, match="x-00001-of-00003 is listed"):
        read(tmp_path / "x")
    fresh()
    manifest.unlink()
    with pytest.raises(DataError, match="shards are incomplete"):
        read(tmp_path / "x")
    fresh()
    shutil.copy(first, second)  # whole records, but the wrong ones
    with pytest.raises(DataError, match="x-00001-of-00003 "):
        records.check_shards(tmp_path / "x")


@pytest.mark.parametrize(
    "build", [records.image_label_queue, records.image_label_dataset])
def test_a_cut_file_is_refused_when_the_pipeline_is_built(tmp_path, build):
    examples = [records.make_example(jpeg(), n) for n in range(9)]
    *_, last = records.write_shards(examples, tmp_path / "x", 3, seed=1)
    last.write_bytes(last.read_bytes()[:-3])
    for source in (tmp_path / "x", [last]):
        with tf.Graph().as_default(), pytest.raises(DataError, match="x-00002-of-0000"):
            build(source, 7, image_size=16)


# Records that are no pictures -----------------------------------------------------


def without(feature: str) -> tf.train.Example:
    example = records.make_example(jpeg(), 1)
    del example.features.feature[feature]
    return example


def large_label() -> tf.train.Example:
    example = without("label")
    example.features.feature["label"].int64_list.value.append(2**32 + 3)
    return example


BAD = {
    "large label": (large_label(), "A label does not fit into int32"),
    "not an example": (b"\x93NUMPY", "not a tf.train.Example"),
    "no image": (without("image"), "image .*could not be found"),
    "garbage": (records.make_example(b"garbage", 1), "Invalid JPEG data"),
    "other size": (records.make_example(jpeg(9, 16, 12), 1), r"16, 16.*\[16 12 3\]"),
}


@BOTH
@pytest.mark.parametrize("fault", BAD)
def test_bad_record_is_named(tmp_path, read, fault):
    bad, cause = BAD[fault]
    examples = [records.make_example(jpeg(), n).SerializeToString() for n in range(71)]
    examples.append(bad if isinstance(bad, bytes) else bad.SerializeToString())
    good, path = tmp_path / "good.tfr", tmp_path / "bad.tfr"
    for name, contents in ((good, examples[1:7]), (path, examples)):
        with tf.io.TFRecordWriter(str(name)) as writer:
            for record in contents:
                writer.write(record)
    before = threading.active_count()
    with pytest.raises(DataError, match=f"bad.tfr: record 71: .*{cause}") as e:
        read([good, path], num_epochs=None)  # the naive pipeline hangs here
    assert isinstance(e.value.__cause__, (tf.errors.OpError, UnicodeDecodeError))
    assert "\n" not in str(e.value)
    assert threading.active_count() == before


@BOTH
def test_a_byte_that_changed_is_named_while_it_is_read(tmp_path, read):
    examples = [records.make_example(jpeg(), 0)]
    [path] = records.write_shards(examples, tmp_path / "x", 1, seed=1)
    flipped = bytearray(path.read_bytes())
    flipped[100] ^= 1
    path.write_bytes(flipped)
    with pytest.raises(DataError, match="x-00000-of-00001 is corrupt: its"):
        read(tmp_path / "x")


# Writers that are stopped ---------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, to kill often")
@pytest.mark.slow
def test_killed_writer_leaves_all_or_nothing(tmp_path, tried):
    tried(20)
    pairs = killing.job("shards", tmp_path / "x.manifest.json")
    assert ("absent", "whole") in pairs
    assert records.check_shards(tmp_path / "x") == 1_000


def test_full_disk(small_disk):
    payloads = [np.random.default_rng(n).bytes(1000) for n in range(700)]
    # Too much for the temporary file; only for the shards.
    for source in (payloads, payloads[:350]):
        with pytest.raises(DataError, match="No space left on device"):
            records.write_shards(source, small_disk / "x", 2, seed=1)
        assert not list(small_disk.iterdir())
    records.write_shards(payloads[:200], small_disk / "x", 2, seed=1)
    assert records.check_shards(small_disk / "x") == 200
