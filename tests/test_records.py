"""Records against TensorFlow's own readers, and pictures against Pillow."""

import io

import numpy as np
import pytest
import tensorflow as tf
from both_pipelines import BOTH, jpeg, through_dataset, through_queue
from PIL import Image

from helpers import records
from helpers.errors import DataError
from helpers.records import wire


def pictures(count: int) -> list[tf.train.Example]:
    """Examples whose label is their number, so that each can be counted."""
    return [records.make_example(jpeg(number), number) for number in range(count)]


def labels_of(batches) -> list[int]:
    return np.concatenate([labels for _, labels in batches]).tolist()


# Wire format ----------------------------------------------------------------------


@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_what_is_written_is_what_tensorflow_reads(tmp_path, compression):
    payloads = [b"", b"a", b"bc" * 500, bytes(range(256))]
    [path] = records.write_shards(
        payloads, tmp_path / "x", 1, seed=3, compression=compression
    )
    read = tf.data.TFRecordDataset(str(path), compression)
    assert sorted(record.numpy() for record in read) == sorted(payloads)
    assert wire.walk(path) == wire.check_payloads(path) == 4
    assert wire.compression_of(path) == (compression or "")


# Writing --------------------------------------------------------------------------


@pytest.mark.parametrize("num_shards", [1, 3, 8])
def test_every_record_is_in_one_shard(tmp_path, num_shards):
    payloads = [b"%d" % number for number in range(103)]
    paths = records.write_shards(iter(payloads), tmp_path / "x", num_shards, seed=1)
    names = [f"x-{n:05d}-of-{num_shards:05d}" for n in range(num_shards)]
    assert [path.name for path in paths] == names
    read = [r.numpy() for r in tf.data.TFRecordDataset([str(p) for p in paths])]
    assert read != payloads and sorted(read) == sorted(payloads)
    counts = [wire.walk(path) for path in paths]
    assert max(counts) - min(counts) <= 1


def test_same_seed_same_bytes_other_seed_other_order(tmp_path):
    payloads = [b"%d" % number for number in range(53)]
    contents = [
        records.write_shards(payloads, tmp_path / name, 1, seed=seed)[0].read_bytes()
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    ]
    assert contents[0] == contents[1] != contents[2]


def test_failing_examples_leave_the_old_set(tmp_path):
    def failing():
        yield b"3"
        raise RuntimeError("no more")

    records.write_shards([b"1", b"2"], tmp_path / "x", 2, seed=1)
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(RuntimeError, match="no more"):
        records.write_shards(failing(), tmp_path / "x", 1, seed=1)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert records.check_shards(tmp_path / "x") == 2


def test_writing_nothing_is_an_error(tmp_path):
    with pytest.raises(DataError, match="No examples to write"):
        records.write_shards([], tmp_path / "x", 1, seed=1)
    assert not list(tmp_path.iterdir())


# Reading --------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    "compression, shards, buffer, threads, epochs",
    [(None, 1, 0, 1, 1), ("GZIP", 3, 13, 4, 1), (None, 5, 200, 2, 2)],
)
def test_each_record_once_per_epoch(
    tmp_path, read, compression, shards, buffer, threads, epochs
):
    prefix = tmp_path / "x"
    records.write_shards(pictures(103), prefix, shards, seed=1, compression=compression)
    options = {"shuffle_buffer": buffer, "num_threads": threads, "num_epochs": epochs}
    assert sorted(labels_of(read(prefix, **options))) == sorted([*range(103)] * epochs)


def test_queue_and_dataset_give_the_same_batches(tmp_path):
    records.write_shards(pictures(53), tmp_path / "x", 3, seed=1)
    queue = through_queue(tmp_path / "x", shuffle_buffer=0)
    dataset = through_dataset(tmp_path / "x", shuffle_buffer=0)
    assert [len(labels) for _, labels in queue] == [7] * 7 + [4]
    assert labels_of(queue) == labels_of(dataset)
    for (a, _), (b, _) in zip(queue, dataset, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


@BOTH
def test_batches_are_what_pillow_decodes(tmp_path, read):
    rng = np.random.default_rng(1)
    stream = io.BytesIO()
    small = rng.integers(0, 256, (3, 5, 3), np.uint8)
    Image.fromarray(small).resize((13, 11)).save(stream, "JPEG")
    records.write_shards([records.make_example(stream.getvalue(), 3)], tmp_path / "x",
                         1, seed=1)
    [(images, labels)] = read(tmp_path / "x", image_size=(11, 13))
    assert images.dtype == np.float32 and images.shape == (1, 11, 13, 3)
    assert labels.dtype == np.int32 and labels.tolist() == [3]
    pixels = np.asarray(Image.open(stream), np.float32)
    # Two JPEG decoders may round a channel apart.
    assert np.abs(images[0] - (pixels / 127.5 - 1)).mean() < 2 / 127.5


# A folder of pictures of one's own ------------------------------------------------


@pytest.fixture
def mine(tmp_path):
    """Three classes; JPEG and PNG, grey, with alpha, turned by the camera."""
    rng = np.random.default_rng(7)
    for label, name in enumerate(["a b", "moon", "sun"]):
        (tmp_path / "mine" / name).mkdir(parents=True)
        for number in range(10):
            size = rng.integers(5, 90, 2)
            image = Image.new(["RGB", "L", "RGBA"][number % 3], tuple(size))
            image.paste(80 * label + 10, (0, 0, *size))
            kind = "PNG" if number % 3 == 2 else "JPEG"
            image.save(tmp_path / "mine" / name / f"{number}.{kind.lower()}", kind)
    (tmp_path / "mine" / ".DS_Store").write_text("litter")
    return tmp_path / "mine"


def test_a_folder_of_ones_own_becomes_two_sets(mine, tmp_path):
    counts = records.write_picture_shards(mine, tmp_path / "out", image_size=24,
                                          held_out=0.2)
    assert counts == {"train": 24, "val": 6}
    for split, count in counts.items():
        prefix = tmp_path / "out" / split
        assert records.check_shards(prefix) == count
        assert records.picture_size(prefix) == (24, 24)
        lines = prefix.with_name(f"{split}.labels.txt").read_text().splitlines()
        assert lines == ["a b\ta b", "moon\tmoon", "sun\tsun"]
        labels = labels_of(through_dataset(prefix, image_size=24, num_epochs=1))
        assert np.bincount(labels).tolist() == [count // 3] * 3
    assert len(records.open_shards(tmp_path / "out" / "train")) == 4


@pytest.mark.parametrize("contents", [b"", b"the sun is a star", b"\x89PNG\r\n\x1a\n"])
def test_what_is_no_picture_is_named(mine, tmp_path, contents):
    (mine / "sun" / "note.png").write_bytes(contents)
    with pytest.raises(DataError, match="sun/note.png") as caught:
        records.write_picture_shards(mine, tmp_path / "out")
    assert "\n" not in str(caught.value) and not (tmp_path / "out").exists()
    (mine / "sun" / "note.png").unlink()
    for path in sorted((mine / "moon").iterdir())[1:]:
        path.unlink()
    with pytest.raises(DataError, match="fewer in moon"):
        records.write_picture_shards(mine, tmp_path / "out")
