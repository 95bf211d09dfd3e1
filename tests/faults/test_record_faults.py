"""Records under faults: an error that names file and record, or every record."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from PIL import Image

from helpers import queues, records
from helpers.errors import DataError
from helpers.files import ROOT

SIZE = 8
FIELDS = {"length": 0, "length checksum": 8, "payload": 12, "payload checksum": -4}


def jpeg(height: int = SIZE, width: int = SIZE, kind: str = "JPEG") -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (width, height), (9, 99, 199)).save(stream, kind)
    return stream.getvalue()


def three_records(folder, compression=None):
    """Three records of different sizes, and where each begins in the plain bytes."""
    payloads = [b"a" * 5, b"b" * 24, b"c" * 61]
    path = folder / "three"
    with tf.io.TFRecordWriter(str(path), compression) as writer:
        for payload in payloads:
            writer.write(payload)
    return path, payloads, [0, 21, 61, 138]


def through_queue(source, num_epochs=1, shuffle_buffer=8):
    with tf.Graph().as_default() as graph:
        batch = records.image_label_queue(
            source, 4, image_size=SIZE, num_epochs=num_epochs,
            shuffle_buffer=shuffle_buffer,
        )
        with tf1.Session(graph=graph) as session:
            session.run(tf1.local_variables_initializer())
            with queues.running_queues(session, stall=30) as runner:
                return [int(one) for _, labels in runner.steps(batch) for one in labels]


def through_dataset(source, num_epochs=1, shuffle_buffer=8):
    with records.naming_bad_records(source, records.image_label_parser(SIZE)):
        batches = records.image_label_dataset(
            source, 4, image_size=SIZE, num_epochs=num_epochs,
            shuffle_buffer=shuffle_buffer,
        )
        return [int(one) for _, labels in batches for one in labels]


BOTH = pytest.mark.parametrize("read", [through_queue, through_dataset])


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
            expected = "three: the file is empty"
        elif cut in starts:
            # A whole file of fewer records: only the manifest knows better.
            assert records.check_shards([path]) == record
            continue
        else:
            expected = f"three: record {record} at byte {starts[record]}: the file was"
        for check in (records.check_shards, records.open_shards):
            with pytest.raises(DataError, match=re.escape(expected)):
                check([path])


def test_every_cut_of_a_gzip_file(tmp_path, tried):
    path, *_ = three_records(tmp_path, "GZIP")
    data = path.read_bytes()
    tried(len(data))
    for cut in range(len(data)):
        path.write_bytes(data[:cut])
        with pytest.raises(DataError, match="three: .*(cut short|empty)"):
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


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("record", [0, 1, 2])
def test_one_flip_per_field_names_the_record(tmp_path, field, record):
    path, _, starts = three_records(tmp_path)
    data = bytearray(path.read_bytes())
    base = starts[record] if FIELDS[field] >= 0 else starts[record + 1]
    data[base + FIELDS[field]] ^= 1
    path.write_bytes(data)
    with pytest.raises(DataError, match=rf"three: record {record}\b"):
        records.check_shards([path])


@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_no_flipped_byte_changes_a_record(tmp_path, compression, tried):
    path, payloads, _ = three_records(tmp_path, compression)
    data = path.read_bytes()
    tried(len(data))
    for position in range(len(data)):
        path.write_bytes(
            data[:position] + bytes([data[position] ^ 0x10]) + data[position + 1 :]
        )
        try:
            assert records.check_shards([path]) == 3
        except DataError:
            continue
        # Some bits of GZIP (time, system, padding) say nothing about the content.
        assert compression
        read = tf.data.TFRecordDataset(str(path), compression)
        assert [record.numpy() for record in read] == payloads


# Files that are no TFRecords ------------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    "contents, cause",
    [
        (b"", "the file is empty"),
        (b"<!DOCTYPE html><title>404</title>", "not a TFRecord file"),
        (b"<a>", "only 3 of 12 header bytes"),
        (b"\x1f\x8b\x08\x00" + b"not really gzip", "GZIP stream is damaged"),
    ],
)
@pytest.mark.timeout(90)  # an empty file without limit of epochs spins for ever
def test_file_of_another_kind(tmp_path, read, contents, cause):
    path = tmp_path / "other"
    path.write_bytes(contents)
    with pytest.raises(DataError, match=f"other: .*{cause}"):
        read([path], num_epochs=None)


@BOTH
def test_missing_file_and_folder(tmp_path, read):
    for path in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(DataError, match=f"{path.name}: cannot be read"):
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
    with pytest.raises(DataError, match="x-00001-of-00003: is missing"):
        read(tmp_path / "x")
    fresh()
    manifest.unlink()
    with pytest.raises(DataError, match="never finished"):
        read(tmp_path / "x")
    fresh()
    shutil.copy(first, second)  # whole records, but the wrong ones
    with pytest.raises(DataError, match="x-00001-of-00003: "):
        records.check_shards(tmp_path / "x")


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
    "large label": (large_label(), "a label is beyond int32"),
    "not an example": (b"\x93NUMPY", "not a tf.train.Example"),
    "no image": (without("image"), "image .*could not be found"),
    "garbage": (records.make_example(b"garbage", 1), "Invalid JPEG data"),
    "other size": (records.make_example(jpeg(8, 12), 1), r"8, 8.*\[8 12 3\]"),
}


@BOTH
@pytest.mark.parametrize("fault", BAD)
def test_bad_record_is_named(tmp_path, read, fault):
    bad, cause = BAD[fault]
    examples = [records.make_example(jpeg(), n).SerializeToString() for n in range(211)]
    examples.append(bad if isinstance(bad, bytes) else bad.SerializeToString())
    good, path = tmp_path / "good.tfr", tmp_path / "bad.tfr"
    for name, contents in ((good, examples[1:50]), (path, examples)):
        with tf.io.TFRecordWriter(str(name)) as writer:
            for record in contents:
                writer.write(record)
    before = threading.active_count()
    with pytest.raises(DataError, match=f"bad.tfr: record 211: .*{cause}") as e:
        read([good, path], num_epochs=None)  # the naive pipeline hangs here
    assert isinstance(e.value.__cause__, (tf.errors.OpError, UnicodeDecodeError))
    assert "\n" not in str(e.value)
    assert threading.active_count() == before


# Conversion -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "contents, cause",
    [
        (b"", "not a whole JPEG"),
        (jpeg(kind="PNG"), "not a whole JPEG"),
        (jpeg()[:-40], "not a whole JPEG"),
    ],
    ids=["empty", "png", "cut"],
)
def test_conversion_refuses_and_names_a_bad_picture(tmp_path, contents, cause):
    folder = tmp_path / "tiny-imagenet-200/train/n01/images"
    folder.mkdir(parents=True)
    (tmp_path / "tiny-imagenet-200/wnids.txt").write_text("n01\n")
    for number in range(5):
        (folder / f"n01_{number}.JPEG").write_bytes(jpeg())
    (folder / "n01_3.JPEG").write_bytes(contents)
    with pytest.raises(DataError, match=f"n01_3.JPEG: .*{cause}"):
        records.write_tiny_imagenet_shards(
            tmp_path, "train", tmp_path / "x", 1, seed=1
        )
    assert not list(tmp_path.glob("x-*"))


# Writers that are stopped ---------------------------------------------------------

KILLED_WRITERS = """
    import json, os, random, signal, sys, threading, time
    from pathlib import Path
    from tqdm import tqdm
    from helpers import lesson; lesson.begin("tests")
    import tensorflow as tf
    from helpers import records
    from helpers.errors import DataError

    # tqdm's own lock is shared by forks: who is killed holding it stops all others.
    tqdm.monitor_interval = 0
    tqdm.set_lock(threading.RLock())
    folder = Path(sys.argv[1])

    def ours(path):
        records.write_shards([b"%06d" % n for n in range(3_000)], path, 3, seed=1)

    def state(path):
        try:
            return records.check_shards(path)
        except DataError as error:
            assert "never finished" in str(error), error
            return "absent"

    def killed(path, seconds):
        child = os.fork()
        if not child:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            ours(path)
            os._exit(0)
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)

    start = time.monotonic()
    ours(folder / "first")
    seconds = time.monotonic() - start
    random.seed(1)
    found = {"ours": [], "again": []}
    for n in range(20):
        # From before the first byte to well after the last.
        killed(folder / f"{n}", seconds * (n + random.random()) / 14)
        found["ours"].append(state(folder / f"{n}"))
        ours(folder / f"{n}")
        found["again"].append(state(folder / f"{n}"))
    print(json.dumps(found))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, to kill often")
@pytest.mark.slow
@pytest.mark.timeout(200)
def test_killed_writer_leaves_all_or_nothing(tmp_path, tried):
    tried(20)
    answer = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED_WRITERS), str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, timeout=180,
    )
    assert answer.returncode == 0, answer.stderr[-2000:]
    found = json.loads(answer.stdout)
    assert set(found["ours"]) <= {3_000, "absent"} and len(found["ours"]) == 20
    assert "absent" in found["ours"]
    assert found["again"] == [3_000] * 20


def test_full_disk(small_disk):
    payloads = [np.random.default_rng(n).bytes(1000) for n in range(700)]
    # Too much for the temporary file; only for the shards.
    for source in (payloads, payloads[:350]):
        with pytest.raises(DataError, match="No space left on device"):
            records.write_shards(source, small_disk / "x", 2, seed=1)
        assert not list(small_disk.iterdir())
    records.write_shards(payloads[:200], small_disk / "x", 2, seed=1)
    assert records.check_shards(small_disk / "x") == 200
