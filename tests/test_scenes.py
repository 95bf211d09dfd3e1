"""Drawn scenes: what they show, COCO's layout, and the loader against odd files."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from lookalikes import contents
from PIL import Image

from helpers.datasets import grab_captions
from helpers.errors import DataError
from helpers.shapes import drawing, scenes, write_scenes

SMALL = {"train": 97, "val": 23, "unseen": 19, "size": 41}

# As small as COCO's published format allows: cocodataset.org, "Data format".
COCO = {
    "images": [{"id": 391895, "file_name": "one.jpg"},
               {"id": 60623, "file_name": "two.jpg"}],
    "annotations": [{"image_id": 60623, "id": 1, "caption": "A young girl inhales."}],
}


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    return write_scenes(tmp_path_factory.mktemp("small") / "world", **SMALL)


@pytest.fixture
def coco(tmp_path) -> Path:
    (tmp_path / "annotations").mkdir()
    (tmp_path / "val2014").mkdir()
    for image in COCO["images"]:
        picture = Image.new("RGB", (4, 3))
        picture.save(tmp_path / "val2014" / image["file_name"])
    write(tmp_path, COCO)
    return tmp_path


def write(folder, content, name="captions_val2014"):
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / "annotations" / f"{name}.json").write_text(text)


def objects_of(picture):
    return tuple(one.name for one in picture.objects)


def test_the_same_settings_give_the_same_bytes(small, tmp_path):
    assert contents(write_scenes(tmp_path / "again", **SMALL)) == contents(small)
    other = write_scenes(tmp_path / "other", **{**SMALL, "seed": 8})
    assert contents(other) != contents(small)


def test_unseen_pairs_never_meet_in_training(tmp_path):
    phrases = scenes.phrases(scenes.COLOURS, scenes.SHAPES)
    objects = [" ".join(names) for names in phrases]
    pairs = list(itertools.combinations(phrases, 2))
    unseen = {
        frozenset(" ".join(names) for names in pair) for pair in pairs
        if scenes.is_unseen(*pair)
    }
    assert 0.2 < len(unseen) / len(pairs) < 0.3
    folder = write_scenes(tmp_path / "world", train=397, val=31, unseen=97, size=32)
    data = grab_captions(folder)
    met = {
        split: {frozenset(objects_of(p)) for p in pictures}
        for split, pictures in data.items()
    }
    assert not met["train"] & unseen and not met["val"] & unseen
    assert met["unseen"] <= unseen
    # Yet each object alone is known from training, on both places.
    for place in (0, 1):
        assert {objects_of(p)[place] for p in data["train"]} == set(objects)


def test_captions_are_true_of_the_boxes(small):
    for pictures in grab_captions(small).values():
        for picture in pictures:
            (one, other) = picture.objects
            assert len(picture.captions) == 2
            first, second = ((b[0] + b[2] / 2, b[1] + b[3] / 2)
                             for b in (one.box, other.box))
            for caption in picture.captions:
                if " left of " in caption or " right of " in caption:
                    assert first[0] < second[0]
                    assert abs(first[0] - second[0]) > abs(first[1] - second[1])
                else:
                    assert first[1] < second[1]
                    assert abs(first[0] - second[0]) < abs(first[1] - second[1])
            articles = ["an" if name[0] == "o" else "a" for name in objects_of(picture)]
            named = [f"{a} {n}" for a, n in zip(articles, objects_of(picture),
                                                strict=True)]
            assert picture.captions[0].startswith(named[0])
            assert picture.captions[0].endswith(named[1])
            assert picture.captions[1].startswith(named[1])
            assert picture.captions[1].endswith(named[0])


def test_boxes_hold_the_colour_that_is_named_and_never_meet(small):
    for picture in grab_captions(small)["train"]:
        pixels = np.asarray(Image.open(picture.path), float)
        assert pixels.shape == (41, 41, 3)
        inside = []
        for one in picture.objects:
            x, y, width, height = one.box
            assert x >= 0 and y >= 0 and x + width <= 41 and y + height <= 41
            centre = pixels[y + height // 2, x + width // 2]
            wanted = np.array(drawing.COLOURS[one.name.split()[0]], float)
            cosine = centre @ wanted / np.linalg.norm(centre) / np.linalg.norm(wanted)
            assert cosine > 0.93
            mask = np.zeros((41, 41), bool)
            mask[y : y + height, x : x + width] = True
            inside.append(mask)
        assert not (inside[0] & inside[1]).any()


# The loader -----------------------------------------------------------------------


@pytest.mark.parametrize(("content", "message"), [
    ("[]", "Unpack or download the file of COCO again"),
    ({**COCO, "images": COCO["images"][:1]}, "id 60623 is used but not defined"),
    ({**COCO, "annotations": []}, "No captioned pictures"),
    ({**COCO, "images": [{**COCO["images"][0], "file_name": "lost.jpg"},
                         COCO["images"][1]]}, "lost.jpg is listed in .*not found in"),
])
def test_bad_files_give_one_clear_line(coco, content, message):
    write(coco, content)
    with pytest.raises(DataError, match=message) as caught:
        grab_captions(coco)
    assert "captions_val2014.json" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_without_annotations_says_what_to_do(tmp_path):
    with pytest.raises(DataError, match="annotations/captions_"):
        grab_captions(tmp_path)
    with pytest.raises(DataError, match="No such folder: .*nothing"):
        grab_captions(tmp_path / "nothing")
