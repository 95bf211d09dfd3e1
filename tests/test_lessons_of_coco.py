"""Lesson 08a on a folder like COCO's, up to the captions that it judges."""

import lookalikes
import pytest
from lesson_runs import run_lesson

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def test_lesson_08a_on_cocos_layout(tmp_path, monkeypatch):
    monkeypatch.setenv("HELPERS_DATA", str(tmp_path / "data"))
    coco = lookalikes.coco(tmp_path / "coco")
    said = run_lesson("08a", SOURCE=coco, STEPS=10, until="word for word right")
    wanted = lookalikes.facts(coco)
    for split, count in wanted.pictures.items():
        assert f" of {count:,} need a sentence" in said, split
    [train] = [words for split, words in wanted.words.items() if "train" in split]
    kept = sum(count >= 4 for count in train.values())
    assert f"\n{kept + 3} ids: " in said
    assert "word for word right" in said
