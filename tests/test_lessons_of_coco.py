"""Lessons on folders like COCO's, from the first cell to the last."""

from pathlib import Path

import lookalikes
import pytest
from lesson_runs import run_lesson

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("HELPERS_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture(scope="module")
def coco(request, tmp_path_factory) -> Path:
    """One year's layout; grab_captions reads both, see test_real_pictures.py."""
    return lookalikes.coco(tmp_path_factory.mktemp("real") / "coco", year=request.param)


@pytest.mark.parametrize("coco", [2014], indirect=True)
def test_lesson_08_on_cocos_layout(coco):
    said = run_lesson("08", SOURCE=coco, LOOK=3, FROZEN=2, TUNED=2)
    wanted = lookalikes.facts(coco)
    for split, count in wanted.pictures.items():
        assert f"{split:>6}: {count:5,} pictures" in said
    [train] = [words for split, words in wanted.words.items() if "train" in split]
    kept = sum(count >= 4 for count in train.values())
    assert f"\n{kept + 3} ids: " in said
    assert "val: perplexity" in said and f" of {kept + 3}\n" in said
    assert f"{len(lookalikes.THINGS)} kinds of objects: cup dog hot dog" in said


@pytest.mark.parametrize("coco", [2017], indirect=True)
def test_lesson_12_on_cocos_layout(coco, data):
    said = run_lesson("12", SOURCE=coco, LISTEN=2, TELL=3, ATTEND=3)
    facts = lookalikes.facts(coco)
    (train, learnt), (_, judged) = sorted(facts.pictures.items())
    kept = sum(count >= 4 for count in facts.words[train].values())
    assert f"{learnt:,} pictures to learn from, {judged:,} held out" in said
    assert f" held out, {kept + 3} ids" in said
    assert f"train: ({learnt}, 14, 14, 64) float16" in said
    assert f"train: {learnt:5,} records, " in said and f"  val: {judged:5,} rec" in said
    assert "CIDEr-D" in said and "a million steps, sampled loss" in said
    assert (data / "records" / "12_captions_at_scale").is_dir()
