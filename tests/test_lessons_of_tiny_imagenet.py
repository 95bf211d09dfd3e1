"""Lessons on a folder like Tiny ImageNet's, from the first cell to the last."""

import subprocess
import sys
from pathlib import Path

import lookalikes
import numpy as np
import pytest
from lesson_runs import run_lesson
from PIL import Image

from helpers.files import ROOT
from helpers.records import read_manifest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("HELPERS_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture(scope="module")
def tin(tmp_path_factory) -> Path:
    """Tiny ImageNet in the folder that holds COCO: one SOURCE for all lessons."""
    coco = lookalikes.coco(tmp_path_factory.mktemp("real") / "coco", year=2017)
    return lookalikes.tiny_imagenet(coco, train=2, val=1)


def test_lessons_04_on_tiny_imagenets_layout(tin):
    said = run_lesson("04a", SOURCE=tin)  # the folder itself will do
    assert "400 pictures in 200 folders" in said
    assert "400 of 400 pictures, each byte as in its folder" in said
    said = run_lesson("04b", SOURCE=tin)
    assert "400 for training, 200 for validation" in said
    assert "400 records of 200 classes" in said


def test_lesson_06b_on_tiny_imagenets_layout(tin, data):
    said = run_lesson("06b", SOURCE=tin.parent, EPOCHS=1)
    assert "400 pictures of 64 x 64 in 200 classes" in said
    assert "step 16: 200 of 200 answers as before" in said


def test_lesson_06b_on_a_folder_of_pictures_of_ones_own(tmp_path, data):
    """From the command line: 300 JPEG and PNG files of mixed sizes, in five classes."""
    random = np.random.default_rng(7)
    for label, colour in enumerate(("red", "green", "blue", "yellow", "grey")):
        folder = tmp_path / "pictures" / colour
        folder.mkdir(parents=True)
        for k in range(60):
            size = tuple(random.integers(20, 300, 2).tolist())
            kind = ("png", "jpg", "jpeg", "PNG")[k % 4]
            Image.new("RGB", size, colour).save(folder / f"{label}-{k}.{kind}")
    ran = subprocess.run(
        [sys.executable, "course.py", "run", "06b", "-p", "SOURCE",
         tmp_path / "pictures", "-p", "EPOCHS", "2"],
        cwd=ROOT, capture_output=True, text=True,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    counts = [[read_manifest(records / split)["records"] for split in ("train", "val")]
              for records in (data / "records").iterdir()]
    assert [270, 30] in counts
    assert list((data / "checkpoints" / "06b").glob("model.ckpt-20.index"))


def test_lessons_07_on_tiny_imagenets_layout(tin):
    said = run_lesson("07a", SOURCE=tin.parent, BATCH=8, STEPS=10)
    assert "{'train': 400, 'val': 200} 200 classes" in said
    assert "restored step 10" in said
    said = run_lesson("07b", SOURCE=tin.parent, BATCH=8, STEPS=2, FULL_STEP=False)
    assert "skipped:" in said
