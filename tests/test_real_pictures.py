"""The layouts of Tiny ImageNet and COCO, offline: read, fetched, and run as lessons."""

import json
import shutil
from pathlib import Path

import lookalikes
import pytest
from PIL import Image

from helpers.captions import Vocabulary
from helpers.datasets import grab_captions
from helpers.errors import DataError


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("HELPERS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("NO_PROXY", "*")
    return tmp_path / "data"


@pytest.fixture(scope="module", params=[2014, 2017])
def coco(request, tmp_path_factory) -> Path:
    return lookalikes.coco(tmp_path_factory.mktemp("real") / "coco", year=request.param)


# COCO's folder, read --------------------------------------------------------------


def test_pictures_and_captions_are_those_of_the_folder(coco):
    found, wanted = grab_captions(coco), lookalikes.facts(coco)
    assert {split: len(p) for split, p in found.items()} == wanted.pictures
    assert {split: sum(len(one.captions) for one in pictures)
            for split, pictures in found.items()} == wanted.captions
    for split, pictures in found.items():
        assert min(len(one.captions) for one in pictures) == 5
        assert all(one.path.parent.name == split for one in pictures)
        sizes = {Image.open(one.path).size for one in pictures}
        modes = {Image.open(one.path).mode for one in pictures}
        assert len(sizes) > 4 and modes == {"L", "RGB"}


def test_objects_have_the_numbers_and_names_of_the_folder(coco):
    numbers = set()
    for split, pictures in grab_captions(coco).items():
        file = coco / "annotations" / f"instances_{split}.json"
        names = {c["id"]: c["name"] for c in json.loads(file.read_text())["categories"]}
        assert len(names) == 80 and max(names) == 90
        for picture in pictures:
            assert len(picture.objects) in (2, 3)
            for one in picture.objects:
                assert one.name == names[one.category]
                numbers.add(one.category)
    assert len(numbers) == 7 and not numbers & set(lookalikes.GAPS)


def test_the_vocabulary_is_that_of_the_training_captions(coco):
    train, _ = grab_captions(coco).values()
    built = Vocabulary.build(text for one in train for text in one.captions)
    counts = next(words for split, words in lookalikes.facts(coco).words.items()
                  if split.startswith("train"))
    kept = {word for word, count in counts.items() if count >= 4}
    assert set(built.words) == kept | {"<S>", "</S>", "<UNK>"}
    assert all(built.counts[built.words.index(word)] == counts[word] for word in kept)


def test_a_split_without_its_pictures_is_left_out(coco, tmp_path):
    folder = tmp_path / "coco"
    shutil.copytree(coco, folder)
    train, val = grab_captions(folder)
    shutil.rmtree(folder / train)
    assert list(grab_captions(folder)) == [val]
    next((folder / val).iterdir()).unlink()  # a picture is another matter
    with pytest.raises(DataError, match="is in none of"):
        grab_captions(folder)
    shutil.rmtree(folder / val)
    with pytest.raises(DataError, match="no picture of theirs: unpack the") as caught:
        grab_captions(folder)
    assert "\n" not in str(caught.value)


def test_outlines_take_no_memory(coco, monkeypatch):
    from helpers.datasets import captions as reader

    for file in (coco / "annotations").glob("instances_*.json"):
        assert "segmentation" in file.read_text()
        content = reader._parse(file)
        assert not any("segmentation" in one for one in content["annotations"])
        assert content["annotations"][0]["bbox"]
