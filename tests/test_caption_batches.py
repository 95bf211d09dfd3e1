"""Pairs of picture and caption: to records, and back in padded batches."""

import numpy as np
import pytest
import tensorflow as tf

from helpers import captions as cap
from helpers import records
from helpers.datasets import grab_captions
from helpers.errors import DataError
from helpers.shapes import write_scenes


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scenes") / "world"
    return grab_captions(write_scenes(folder, train=41, val=11, unseen=7, size=37))


@pytest.fixture(scope="module")
def vocabulary(scenes):
    texts = [text for picture in scenes["train"] for text in picture.captions]
    return cap.Vocabulary.build(texts, min_count=1)


def test_a_caption_without_a_word_is_refused_by_name(scenes, vocabulary):
    with pytest.raises(ValueError, match=r"'\?!' contains no word"):
        cap.Vocabulary.build(["a star", "?!"])
    odd = scenes["val"][0]._replace(captions=("?!",))
    with pytest.raises(DataError, match=rf"'\?!' of .*{odd.path.name} contains no"):
        list(cap.make_pairs([odd], vocabulary))


def read_all(dataset):
    return [{k: v.numpy() for k, v in batch.items()} for batch in dataset]


def test_pairs_come_back_as_they_went(scenes, vocabulary, tmp_path):
    pairs = list(cap.make_pairs(scenes["val"], vocabulary))
    assert len(pairs) == sum(len(p.captions) for p in scenes["val"])
    records.write_shards(pairs, tmp_path / "val", 2, seed=1)
    by_id = {p.id: p for p in scenes["val"]}
    seen = set()
    for batch in read_all(cap.caption_batches(tmp_path / "val", 3, image_size=37)):
        assert batch["images"].dtype == np.float32
        assert batch["images"].shape[1:] == (37, 37, 3)
        assert batch["images"].min() >= -1 and batch["images"].max() <= 1
        for row, number in enumerate(batch["picture"]):
            length = int(batch["mask"][row].sum())
            assert set(batch["mask"][row][length:]) <= {0.0}
            inputs, targets = batch["inputs"][row], batch["targets"][row]
            assert inputs[0] == vocabulary.start
            assert targets[length - 1] == vocabulary.end
            assert list(inputs[1:length]) == list(targets[: length - 1])
            text = vocabulary.decode(targets)
            assert text in by_id[number].captions
            seen.add((number, text))
            image = tf.io.decode_jpeg(by_id[number].path.read_bytes()).numpy()
            np.testing.assert_allclose(
                batch["images"][row], image / 127.5 - 1.0, atol=1e-6
            )
    assert seen == {(p.id, text) for p in scenes["val"] for text in p.captions}


def test_training_batches_are_shuffled_and_repeatable(scenes, vocabulary, tmp_path):
    pairs = cap.make_pairs(scenes["train"], vocabulary, captions_each=1)
    records.write_shards(pairs, tmp_path / "train", 2, seed=1, compression="GZIP")

    def take(seed):
        dataset = cap.caption_batches(tmp_path / "train", 41, image_size=37, seed=seed)
        return read_all(dataset.take(2))

    first, again, other = take(5), take(5), take(6)
    np.testing.assert_array_equal(first[1]["images"], again[1]["images"])
    assert (first[0]["picture"] != other[0]["picture"]).any()
    assert sorted(first[0]["picture"]) == sorted(first[1]["picture"])  # an epoch each


def test_a_bad_picture_is_refused_at_conversion(scenes, vocabulary, tmp_path):
    whole = scenes["val"][0]
    bad = whole._replace(path=tmp_path / "bad.jpg")
    bad.path.write_bytes(whole.path.read_bytes()[:300])
    with pytest.raises(DataError, match=r"bad\.jpg is not a complete JPEG"):
        list(cap.make_pairs([whole, bad], vocabulary))


def test_a_record_that_cannot_be_read_is_named(scenes, vocabulary, tmp_path):
    pairs = list(cap.make_pairs(scenes["val"], vocabulary))
    feature = pairs[5].context.feature["image/data"].bytes_list
    feature.value[0] = feature.value[0][:300]
    records.write_shards(pairs, tmp_path / "val", 1, seed=1)
    named = r"val-00000-of-00001: record \d+: .*JPEG"
    with (pytest.raises(DataError, match=named),
          records.naming_bad_records(tmp_path / "val", cap.caption_parser(37))):
        read_all(cap.caption_batches(tmp_path / "val", 3, image_size=37))
