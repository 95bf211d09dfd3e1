"""Drawn scenes: what they show, COCO's layout, and the loader against odd files."""

import hashlib
import itertools
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from helpers.datasets import captions as loader
from helpers.datasets import grab_captions
from helpers.errors import DataError
from helpers.shapes import drawing, scenes, write_scenes

SMALL = {"train": 97, "val": 23, "unseen": 19, "size": 41}

# Written by hand after COCO's published format: cocodataset.org, "Data format".
COCO = {
    "info": {
        "year": 2014, "version": "1.0", "description": "by hand", "contributor": "us",
        "url": "", "date_created": "2014/07/10",
    },
    "licenses": [{"id": 1, "name": "Attribution", "url": ""}],
    "images": [
        {"id": 391895, "width": 4, "height": 3, "license": 1, "flickr_url": "",
         "file_name": "COCO_val2014_000000391895.jpg", "coco_url": "",
         "date_captured": "2013-11-14 11:18:45"},
        {"id": 60623, "width": 4, "height": 3, "license": 1, "flickr_url": "",
         "file_name": "COCO_val2014_000000060623.jpg", "coco_url": "",
         "date_captured": "2013-11-14 17:24:15"},
    ],
    "annotations": [
        {"image_id": 60623, "id": 1, "caption": "A young girl inhales.\n"},
        {"image_id": 391895, "id": 770337, "caption": "A man with a red helmet. "},
        {"image_id": 391895, "id": 771687, "caption": "Man riding a motor bike."},
    ],
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


def digest(folder: Path) -> str:
    total = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        total.update(path.relative_to(folder).as_posix().encode())
        total.update(path.read_bytes())
    return total.hexdigest()


def objects_of(picture):
    return tuple(one.name for one in picture.objects)


def test_the_same_settings_give_the_same_bytes(small, tmp_path):
    assert digest(write_scenes(tmp_path / "again", **SMALL)) == digest(small)
    other = write_scenes(tmp_path / "other", **{**SMALL, "seed": 8})
    assert digest(other) != digest(small)


def test_more_pictures_keep_the_first_ones(small, tmp_path):
    more = write_scenes(tmp_path / "more", **{**SMALL, "train": 101})
    for picture in grab_captions(small)["train"]:
        again = more / "images" / picture.path.name
        assert again.read_bytes() == picture.path.read_bytes()


def test_a_whole_folder_is_left_alone_and_a_damaged_one_drawn_anew(tmp_path):
    folder = write_scenes(tmp_path / "world", **SMALL)
    wanted = digest(folder)
    stamp = (folder / "manifest.json").stat().st_mtime_ns
    write_scenes(folder, **SMALL)
    assert (folder / "manifest.json").stat().st_mtime_ns == stamp
    next((folder / "images").iterdir()).unlink()
    assert digest(write_scenes(folder, **SMALL)) == wanted


def test_somebody_elses_folder_is_not_touched(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("words")
    with pytest.raises(DataError, match="left alone"):
        write_scenes(tmp_path / "mine", **SMALL)
    assert (tmp_path / "mine" / "thesis.txt").exists()


@pytest.mark.parametrize(
    "wrong", [{"train": 0}, {"size": 31}, {"colours": 7}, {"shapes": 1}, {"seed": -1}]
)
def test_impossible_settings_are_refused(tmp_path, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        write_scenes(tmp_path / "world", **{**SMALL, **wrong})
    assert list(tmp_path.iterdir()) == []


def test_the_splits_share_objects_but_no_pictures(small):
    data = grab_captions(small)
    assert {split: len(pictures) for split, pictures in data.items()} == {
        "train": 97, "val": 23, "unseen": 19
    }
    ids = [picture.id for pictures in data.values() for picture in pictures]
    assert len(set(ids)) == len(ids)
    hashes = {p.path.read_bytes() for pictures in data.values() for p in pictures}
    assert len(hashes) == len(ids)


@pytest.mark.parametrize("world", [(4, 3), (6, 4)])
def test_unseen_pairs_never_meet_in_training(tmp_path, world):
    colours, shapes = world
    phrases = scenes.phrases(colours, shapes)
    objects = [" ".join(names) for names in phrases]
    pairs = list(itertools.combinations(phrases, 2))
    unseen = {
        frozenset(" ".join(names) for names in pair) for pair in pairs
        if scenes.is_unseen(*pair)
    }
    assert 0.2 < len(unseen) / len(pairs) < 0.3
    folder = write_scenes(
        tmp_path / "world", train=397, val=31, unseen=97, size=32, colours=colours,
        shapes=shapes,
    )
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


def test_files_have_cocos_keys(small):
    for split in scenes.SPLITS:
        for kind, keys in (("captions", {"id", "image_id", "caption"}),
                           ("instances", {"id", "image_id", "category_id", "bbox",
                                          "area", "iscrowd"})):
            path = small / "annotations" / f"{kind}_{split}.json"
            content = json.loads(path.read_text())
            assert content.keys() >= {"info", "licenses", "images", "annotations"}
            assert all(set(a) == keys for a in content["annotations"])
            assert [a["id"] for a in content["annotations"]] == list(
                range(1, len(content["annotations"]) + 1)
            )
            for image in content["images"]:
                assert set(image) == {"id", "file_name", "width", "height"}


# The loader -----------------------------------------------------------------------


@pytest.mark.parametrize("place", ["val2014", "images", "images/val2014"])
def test_real_coco_files_are_read(coco, place):
    if place != "val2014":
        (coco / place).parent.mkdir(exist_ok=True)
        shutil.move(coco / "val2014", coco / place)
    (pictures,) = grab_captions(coco).values()
    assert [p.id for p in pictures] == [391895, 60623]
    assert pictures[0].captions == (
        "A man with a red helmet.", "Man riding a motor bike."
    )
    assert pictures[1].captions == ("A young girl inhales.",)
    assert all(p.path.is_file() and p.objects == () for p in pictures)


def test_objects_come_with_the_instances_file(coco):
    write(coco, {**COCO, "categories": [{"id": 18, "name": "dog"}], "annotations": [
        {"id": 1, "image_id": 60623, "category_id": 18, "bbox": [1.5, 0, 2, 2],
         "segmentation": [[0, 0, 1, 1]], "area": 4.0, "iscrowd": 0},
    ]}, "instances_val2014")
    pictures = grab_captions(coco)["val2014"]
    assert pictures[0].objects == ()
    assert pictures[1].objects == (loader.PicturedObject(18, "dog", (1.5, 0, 2, 2)),)


def without(key):
    return {**COCO, "annotations": [
        {k: v for k, v in a.items() if k != key} for a in COCO["annotations"]
    ]}


@pytest.mark.parametrize(("content", "message"), [
    ("{", "cannot be read as JSON"),
    ("[]", "not of COCO, it has no list `images`"),
    ({**COCO, "annotations": {}}, "no list `annotations`"),
    ({**COCO, "annotations": [*COCO["annotations"], None]}, "entry 3 .* no 'image_id'"),
    ({**COCO, "annotations": [{**COCO["annotations"][0], "caption": None}]},
     "entry 0 of `annotations` has null as its caption"),
    ({**COCO, "images": [{**COCO["images"][0], "file_name": 7}]}, "7 as its file_name"),
    (without("caption"), "no 'caption'"),
    (without("image_id"), "no 'image_id'"),
    ({**COCO, "images": []}, "lists no images"),
    ({**COCO, "images": COCO["images"][:1]}, "annotation 1 is of image 60623"),
    ({**COCO, "annotations": []}, "no picture has a caption"),
    ("[" * 100_000, "cannot be read as JSON"),
    ('{"images": ' + "9" * 5000 + "}", "cannot be read as JSON"),
    ({**COCO, "annotations": [{**one, "id": 7} for one in COCO["annotations"]]},
     "entry 1 of `annotations` has the id 7 again"),
    ({**COCO, "images": [{**COCO["images"][0], "file_name": "lost.jpg"},
                         COCO["images"][1]]}, "lost.jpg is in none of"),
])
def test_bad_files_give_one_clear_line(coco, content, message):
    write(coco, content)
    with pytest.raises(DataError, match=message) as caught:
        grab_captions(coco)
    assert "captions_val2014.json" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("content", "message"), [
    ({"annotations": [{"image_id": 9, "category_id": 18, "bbox": None}]}, "null as"),
    ({"annotations": [{"image_id": 9, "category_id": 18, "bbox": [1, 2, "3", 4]}]},
     r"\[1, 2, \"3\", 4\] as its bbox"),
    ({"annotations": [{"image_id": 9, "category_id": 18, "bbox": [1, 2, 3, np.nan]}]},
     r"\[1, 2, 3, NaN\] as its bbox"),
    ({"categories": [{"id": 18}]}, "entry 0 of `categories` has no 'name'"),
    ({"categories": 18}, "no list `categories`"),
    ([], "no list"),
])
def test_bad_boxes_give_one_clear_line(coco, content, message):
    good = {"categories": [{"id": 18, "name": "dog"}], "annotations": []}
    write(coco, {**good, **content} if content else [], "instances_val2014")
    with pytest.raises(DataError, match=message) as caught:
        grab_captions(coco)
    assert "instances_val2014.json" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_without_annotations_says_what_to_do(tmp_path):
    with pytest.raises(DataError, match="annotations/captions_"):
        grab_captions(tmp_path)
    with pytest.raises(DataError, match="nothing: there is no such folder"):
        grab_captions(tmp_path / "nothing")
