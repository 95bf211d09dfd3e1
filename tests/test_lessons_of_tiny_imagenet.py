"""Lessons on a folder like Tiny ImageNet's, from the first cell to the last."""

from pathlib import Path

import lookalikes
import numpy as np
import pytest
from lesson_runs import run_lesson

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


def test_lesson_06_on_tiny_imagenets_layout(tin, data):
    said = run_lesson("06", SOURCE=tin.parent, EPOCHS=1, NEW_STEPS=40)
    assert "400 pictures of 64 x 64 in 200 classes" in said
    assert "(200, 64, 64, 3)" in said and f"ln 200 = {np.log(200):.2f}" in said
    assert "step 16 of 16" in said
    [weights] = (data / "checkpoints").iterdir()  # not in the place of the drawn ones
    assert weights.name.startswith("06_vgg-tin-")


def test_lessons_07_on_tiny_imagenets_layout(tin):
    said = run_lesson("07a", SOURCE=tin.parent, BATCH=8, STEPS=10)
    assert "{'train': 400, 'val': 200} 200 classes" in said
    assert "restored step 10" in said
    said = run_lesson("07b", SOURCE=tin.parent, BATCH=8, STEPS=2, FULL_STEP=False)
    assert "skipped:" in said
