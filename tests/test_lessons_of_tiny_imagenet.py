"""What lessons do with their pictures, on folders like those that a reader has."""

from pathlib import Path

import lookalikes
import numpy as np
import pytest
from lesson_runs import run_lesson
from PIL import Image

from helpers.records import read_manifest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tin(tmp_path_factory) -> Path:
    """Tiny ImageNet in the folder that holds COCO: one SOURCE for all lessons."""
    coco = lookalikes.coco(tmp_path_factory.mktemp("real") / "coco")
    return lookalikes.tiny_imagenet(coco, train=2, val=1)


@pytest.mark.usefixtures("data")
def test_lessons_04_on_tiny_imagenets_layout(tin):
    said = run_lesson("04a", SOURCE=tin, only=[  # the folder itself will do
        "grab_tin(SOURCE)", "mixed = [pictures", "def read_records",
        "def folder_to_shards", "def picture_of"])
    assert "400 pictures in 200 folders" in said
    assert "400 of 400 pictures, each byte as in its folder" in said
    said = run_lesson("04b", SOURCE=tin, only=[
        "grab_tin(SOURCE)", "mixed = [", "COUNT, CLASSES =", "def parse_one",
        "def run_all", "by_helper = run_all"])
    assert "400 for training, 200 for validation" in said
    assert "400 records of 200 classes" in said
    assert "largest difference: under 1e-6" in said


def test_lesson_06b_on_a_folder_of_pictures_of_ones_own(tmp_path, data):
    """JPEG and PNG files of mixed sizes, in five classes."""
    random = np.random.default_rng(7)
    for label, colour in enumerate(("red", "green", "blue", "yellow", "grey")):
        folder = tmp_path / "pictures" / colour
        folder.mkdir(parents=True)
        for k in range(20):
            size = tuple(random.integers(20, 300, 2).tolist())
            kind = ("png", "jpg", "jpeg", "PNG")[k % 4]
            Image.new("RGB", size, colour).save(folder / f"{label}-{k}.{kind}")
    run_lesson("06b", SOURCE=tmp_path / "pictures", EPOCHS=2, only=[
        "grab_tin_records(SOURCE)", "narrow = functools.partial", "def build_loss",
        "valid_images, valid_labels = next", "squares = tf.add_n",
        "right = tf.cast(tf.equal",
        "folder = fresh_folder(", "save_numbered(saver, session, folder, STEPS)"])
    [records] = (data / "records").iterdir()
    counts = [read_manifest(records / split)["records"] for split in ("train", "val")]
    assert counts == [90, 10]
    assert list((data / "checkpoints" / "06b").glob("model.ckpt-6.index"))
