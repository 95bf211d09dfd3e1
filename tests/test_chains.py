"""Drawn chains of objects: captions, boxes that fit them, and COCO's layout."""

import numpy as np
import pytest

from helpers.datasets import grab_captions
from helpers.shapes.chains import write_chains
from helpers.shapes.scenes import captions_of

SMALL = {"train": 41, "val": 10, "seed": 3}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_chains(tmp_path_factory.mktemp("chains") / "world", **SMALL)


def test_captions_from_both_ends():
    forth, back = captions_of(
        [("orange", "star"), ("red", "circle"), ("blue", "star")], ["left of", "above"]
    )
    assert forth == "an orange star left of a red circle above a blue star"
    assert back == "a blue star below a red circle right of an orange star"


def test_two_and_three_objects_by_turns(folder):
    data = grab_captions(folder)
    assert {split: len(pictures) for split, pictures in data.items()} == {
        "train": 41, "val": 10}
    assert [len(one.objects) for one in data["train"][:4]] == [2, 3, 2, 3]


def test_the_first_caption_names_the_boxes_in_order(folder):
    for picture in grab_captions(folder)["train"]:
        between = {"a", "an", "left", "of", "above"}
        named = [word for word in picture.captions[0].split() if word not in between]
        assert " ".join(named) == " ".join(one.name for one in picture.objects)


def test_relations_hold_between_the_boxes(folder):
    for picture in grab_captions(folder)["train"]:
        boxes = np.array([one.box for one in picture.objects], float)
        assert (boxes >= 0).all() and (boxes[:, :2] + boxes[:, 2:] <= 64).all()
        words = picture.captions[0].split()
        relations = [word for word in words if word in ("left", "above")]
        for k, relation in enumerate(relations):
            axis = ["left", "above"].index(relation)
            end = boxes[k, axis] + boxes[k, axis + 2]
            assert end <= boxes[k + 1, axis]
