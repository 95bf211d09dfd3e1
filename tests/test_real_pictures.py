"""The layouts of Tiny ImageNet and COCO, offline: read, fetched, and run as lessons."""

import dataclasses
import hashlib
import json
import shutil
from pathlib import Path

import lookalikes
import numpy as np
import pytest
from PIL import Image

from helpers import files
from helpers.captions import Vocabulary
from helpers.datasets import (
    grab_captions,
    grab_tin,
    grab_tin_records,
    tiny_imagenet,
)
from helpers.errors import DataError
from helpers.records import image_label_dataset, picture_size, read_manifest


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


# Tiny ImageNet's folder, fetched and read --------------------------------------------


def test_the_archive_is_fetched_once_and_becomes_records(tmp_path, monkeypatch):
    root = lookalikes.tiny_imagenet(tmp_path / "made", classes=20, train=2, val=1)
    archive = lookalikes.zipped(root, tmp_path / "www" / "tiny-imagenet-200.zip")
    with lookalikes.served(archive.parent) as server:
        contents = archive.read_bytes()
        known = dataclasses.replace(
            tiny_imagenet.ARCHIVE, urls=(f"{server.url}/{archive.name}",),
            size=len(contents), digest=f"sha256:{hashlib.sha256(contents).hexdigest()}",
        )
        monkeypatch.setattr(tiny_imagenet, "ARCHIVE", known)
        folder = grab_tin_records("download")
        assert grab_tin("download") == tmp_path / "data" / "tin-download"
    assert len(server.requests) == 1
    assert read_manifest(folder / "train")["records"] == 40
    assert read_manifest(folder / "val")["records"] == 20
    assert picture_size(folder / "train") == (64, 64)
    lines = (folder / "train.labels.txt").read_text().splitlines()
    synsets = (root / "wnids.txt").read_text().split()
    assert [line.split("\t")[0] for line in lines] == synsets
    assert lines[0].split("\t")[1] == f"thing {int(synsets[0][1:])}, " + (
        f"Res {int(synsets[0][1:])}, a's kind")


def test_grey_and_cmyk_pictures_come_as_colours(tmp_path):
    root = lookalikes.tiny_imagenet(tmp_path, classes=10, train=2, val=1)
    modes = {Image.open(path).mode for path in root.rglob("*.JPEG")}
    assert modes == {"L", "CMYK", "RGB"}
    folder = grab_tin_records(root)
    [(images, labels)] = image_label_dataset(
        folder / "train", 20, image_size=64, num_epochs=1, shuffle_buffer=0)
    synsets = (root / "wnids.txt").read_text().split()
    for image, label in zip(images.numpy(), labels.numpy(), strict=True):
        near = min(np.abs(image - _as_seen(path)).max() for path in
                   (root / "train" / synsets[label] / "images").iterdir())
        assert near < 0.1
        assert (np.ptp(image, axis=2).max() == 0) == (label % 5 == 4)


def _as_seen(path: Path) -> np.ndarray:
    """Returns a picture in [-1, 1] as Pillow decodes it."""
    return np.asarray(Image.open(path).convert("RGB")) / 127.5 - 1


def test_records_of_a_folder_follow_it(tmp_path):
    root = lookalikes.tiny_imagenet(tmp_path / "mine", classes=5, train=2, val=1)
    folder = grab_tin_records(root)
    assert grab_tin_records(root.parent) == folder == grab_tin_records(str(root))
    stamp = (folder / "manifest.json").stat().st_mtime_ns
    assert grab_tin_records(root) == folder
    assert (folder / "manifest.json").stat().st_mtime_ns == stamp
    home = next((root / "train").iterdir())
    lost = next((home / "images").iterdir())
    lost.unlink()
    with pytest.raises(DataError, match="names a picture that is not there"):
        grab_tin_records(root)
    boxes = home / f"{home.name}_boxes.txt"
    kept = [line for line in boxes.read_text().splitlines() if lost.name not in line]
    boxes.write_text("\n".join(kept) + "\n")
    assert read_manifest(grab_tin_records(root) / "train")["records"] == 9
    other = lookalikes.tiny_imagenet(tmp_path / "other" / "mine", classes=5)
    assert grab_tin_records(other) != folder


def test_a_folder_that_holds_no_tiny_imagenet_is_refused(tmp_path, monkeypatch):
    with pytest.raises(DataError, match="no tiny-imagenet-200/ in it. Unpack"):
        grab_tin(tmp_path)
    with pytest.raises(DataError, match="gone: there is no such folder"):
        grab_tin(tmp_path / "gone")
    lookalikes.tiny_imagenet(tmp_path / "given", classes=2)
    monkeypatch.setattr(files, "ROOT", tmp_path)
    assert grab_tin("given") == tmp_path / "given"
