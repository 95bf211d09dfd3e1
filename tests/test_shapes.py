"""Drawn pictures: the layout, the boxes, the bytes, and what a class needs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from lookalikes import contents

from helpers import files
from helpers.errors import DataError
from helpers.shapes import tiny, write_tiny_shapes
from tests.limits import LIMIT

SMALL = {"num_classes": 3, "train": 5, "val": 2, "size": 17}


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    return write_tiny_shapes(tmp_path_factory.mktemp("small"), **SMALL)


def test_the_files_are_those_of_tiny_imagenet(small):
    wnids = (small / "wnids.txt").read_text().split()
    expected = {"wnids.txt", "words.txt", "val/val_annotations.txt", files.MANIFEST}
    expected |= {f"val/images/val_{n}.JPEG" for n in range(3 * 2)}
    for wnid in wnids:
        expected |= {f"train/{wnid}/images/{wnid}_{n}.JPEG" for n in range(5)}
        expected.add(f"train/{wnid}/{wnid}_boxes.txt")
    found = {p.relative_to(small).as_posix() for p in small.rglob("*") if p.is_file()}
    assert found == expected
    assert len(set(wnids)) == 3
    assert all(wnid[0] == "n" and len(wnid) == 9 for wnid in wnids)


def test_two_runs_and_two_processes_give_the_same_bytes(small, tmp_path):
    again = write_tiny_shapes(tmp_path / "again", **SMALL)
    assert contents(again) == contents(small)
    code = (
        "from helpers.shapes import write_tiny_shapes\n"
        f"write_tiny_shapes({str(tmp_path / 'other')!r}, **{SMALL})"
    )
    environment = dict(os.environ, PYTHONHASHSEED="12345")
    subprocess.run([sys.executable, "-c", code], check=True, env=environment,
                   timeout=LIMIT)  # fmt: skip
    assert contents(tmp_path / "other" / tiny.FOLDER) == contents(small)


@pytest.mark.parametrize("damage", ["cut", "lost", "list", "no manifest"])
def test_a_damaged_folder_is_found_out(damage, tmp_path):
    folder = write_tiny_shapes(tmp_path, **SMALL)
    before = contents(folder)
    victim = next(folder.glob("train/*/images/*_3.JPEG"))
    if damage == "cut":
        victim.write_bytes(victim.read_bytes()[:100])
    elif damage == "lost":
        victim.unlink()
    elif damage == "list":
        (folder / files.MANIFEST).write_text("[]")
    else:
        (folder / files.MANIFEST).unlink()
    assert not files.is_whole(folder)
    if damage in ("list", "no manifest"):  # it could be somebody's own folder
        with pytest.raises(DataError, match="not created by"):
            write_tiny_shapes(tmp_path, **SMALL)
    else:
        assert contents(write_tiny_shapes(tmp_path, **SMALL)) == before


def test_a_file_of_the_readers_own_changes_nothing_and_is_never_deleted(tmp_path):
    folder = write_tiny_shapes(tmp_path, **SMALL)
    before = {p: p.stat().st_mtime_ns for p in folder.rglob("*") if p.is_file()}
    for name in (".DS_Store", "train/my_notes.txt"):
        (folder / name).write_text("mine")
    write_tiny_shapes(tmp_path, **SMALL)  # nothing is drawn
    assert {p: p.stat().st_mtime_ns for p in before} == before
    next(folder.glob("train/*/images/*_3.JPEG")).unlink()
    with pytest.warns(UserWarning, match=r"in tiny.*\.kept-.*\.DS_Store"):
        write_tiny_shapes(tmp_path, **SMALL)
    assert {p.relative_to(folder) for p in folder.rglob("*") if p.is_file()} == {
        p.relative_to(folder) for p in before
    }
    [kept] = tmp_path.glob("*.kept-*")
    assert (kept / "train" / "my_notes.txt").read_text() == "mine"
