"""Lesson 08a on a folder like COCO's, up to the captions that it judges."""

import json
import re
from collections import Counter

import lookalikes
import pytest
from lesson_runs import run_lesson

pytestmark = pytest.mark.slow


@pytest.mark.usefixtures("data")
def test_lesson_08a_on_cocos_layout(tmp_path):
    coco = lookalikes.coco(tmp_path / "coco")
    said = run_lesson("08a", SOURCE=coco, STEPS=10, until="word for word right")
    for count in (36, 11):
        assert f" of {count} need a sentence" in said
    notes = json.loads((coco / "annotations/captions_train2017.json").read_text())
    text = " ".join(one["caption"].lower() for one in notes["annotations"])
    words = Counter(re.findall("[a-z']+", text))
    kept = sum(count >= 4 for count in words.values())
    assert f"\n{kept + 3} ids: " in said
    assert "word for word right" in said
