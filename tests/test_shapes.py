"""Drawn pictures: the layout, the boxes, the bytes, and what a class needs."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from helpers import files
from helpers.errors import DataError
from helpers.shapes import drawing, tiny, write_tiny_shapes

SMALL = {"num_classes": 3, "train": 5, "val": 2, "size": 17}


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    return write_tiny_shapes(tmp_path_factory.mktemp("small"), **SMALL)


@pytest.fixture(scope="module")
def default(tmp_path_factory) -> Path:
    return write_tiny_shapes(tmp_path_factory.mktemp("default"))


def lines(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text().splitlines()]


def digest(folder: Path) -> str:
    """Returns one hash over the names and the bytes of all files."""
    total = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        total.update(path.relative_to(folder).as_posix().encode())
        total.update(path.read_bytes())
    return total.hexdigest()


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


def test_a_box_holds_the_object(default):
    """The red of a plain circle is in the box, and next to none is outside it."""
    wnid = (default / "wnids.txt").read_text().split()[0]
    inside, outside = [], []
    for name, *box in lines(default / "train" / wnid / f"{wnid}_boxes.txt"):
        picture = Image.open(default / "train" / wnid / "images" / name)
        red, green, blue = np.moveaxis(np.asarray(picture, int), 2, 0)
        reddish = red - np.maximum(green, blue) > 75
        x0, y0, x1, y1 = map(int, box)
        inside.append(reddish[y0 : y1 + 1, x0 : x1 + 1].mean())
        reddish[y0 : y1 + 1, x0 : x1 + 1] = False
        outside.append(reddish.mean())
    assert np.mean(inside) > 0.7  # a circle fills 0.785 of its square
    assert np.mean(outside) < 0.01


@pytest.mark.parametrize("shape", drawing.SHAPES)
@pytest.mark.parametrize("rotation", [0.0, 0.7, 2.9])
def test_paint_returns_the_box_of_what_it_changed(shape, rotation):
    picture = Image.new("RGB", (67, 59), (120, 120, 120))
    box = drawing.paint(picture, shape=shape, colour="red", centre=(31, 29),
                        radius=19, rotation=rotation)  # fmt: skip
    red, green, _ = np.moveaxis(np.asarray(picture, int), 2, 0)
    rows, columns = np.nonzero(red - green > 5)  # the shadow is grey
    found = (columns.min(), rows.min(), columns.max(), rows.max())
    assert np.abs(np.subtract(box, found)).max() <= 1
    assert box[0] <= found[0] and box[1] <= found[1]
    assert box[2] >= found[2] and box[3] >= found[3]


def test_two_runs_and_two_processes_give_the_same_bytes(small, tmp_path):
    again = write_tiny_shapes(tmp_path / "again", **SMALL)
    assert digest(again) == digest(small)
    code = (
        "from helpers.shapes import write_tiny_shapes\n"
        f"write_tiny_shapes({str(tmp_path / 'other')!r}, **{SMALL})"
    )
    environment = dict(os.environ, PYTHONHASHSEED="12345")
    subprocess.run([sys.executable, "-c", code], check=True, env=environment,
                   timeout=240)  # fmt: skip
    assert digest(tmp_path / "other" / tiny.FOLDER) == digest(small)


def test_a_linear_classifier_does_not_suffice(default):
    """A narrow VGG passes 0.9 on these; chance is 0.05."""
    wnids = (default / "wnids.txt").read_text().split()
    train = [(default / "train" / w / "images" / f"{w}_{n}.JPEG", k)
             for k, w in enumerate(wnids) for n in range(0, 200, 2)]  # fmt: skip
    val = [(default / "val" / "images" / row[0], wnids.index(row[1]))
           for row in lines(default / "val" / "val_annotations.txt")]  # fmt: skip

    def pixels(rows):
        images = [np.asarray(Image.open(path).reduce(2)).ravel() for path, _ in rows]
        return np.stack(images) / 127.5 - 1, [label for _, label in rows]

    (seen, labels), (unseen, true) = pixels(train), pixels(val)
    centre, targets = seen.mean(axis=0), np.eye(1 + max(labels))[labels]
    seen, unseen = seen - centre, unseen - centre
    # Ridge regression onto one-hot targets, in closed form.
    weights = np.linalg.solve(seen.T @ seen + 1e3 * np.eye(seen.shape[1]),
                              seen.T @ (targets - targets.mean(axis=0)))
    guess = (unseen @ weights + targets.mean(axis=0)).argmax(axis=1)
    assert 0.05 < np.mean(guess == true) < 0.45


@pytest.mark.parametrize("damage", ["cut", "lost", "list", "no manifest"])
def test_a_damaged_folder_is_found_out(damage, tmp_path):
    folder = write_tiny_shapes(tmp_path, **SMALL)
    before = digest(folder)
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
        with pytest.raises(DataError, match="not made by"):
            write_tiny_shapes(tmp_path, **SMALL)
    else:
        assert digest(write_tiny_shapes(tmp_path, **SMALL)) == before


def test_a_file_of_the_readers_own_changes_nothing_and_is_never_deleted(tmp_path):
    folder = write_tiny_shapes(tmp_path, **SMALL)
    before = {p: p.stat().st_mtime_ns for p in folder.rglob("*") if p.is_file()}
    for name in (".DS_Store", "train/my_notes.txt"):
        (folder / name).write_text("mine")
    write_tiny_shapes(tmp_path, **SMALL)  # nothing is drawn
    assert {p: p.stat().st_mtime_ns for p in before} == before
    next(folder.glob("train/*/images/*_3.JPEG")).unlink()
    with pytest.warns(UserWarning, match=r"\.DS_Store.* is kept as tiny.*\.kept-"):
        write_tiny_shapes(tmp_path, **SMALL)
    assert {p.relative_to(folder) for p in folder.rglob("*") if p.is_file()} == {
        p.relative_to(folder) for p in before
    }
    [kept] = tmp_path.glob("*.kept-*")
    assert (kept / "train" / "my_notes.txt").read_text() == "mine"


def test_somebody_elses_pictures_are_left_alone(tmp_path):
    real = tmp_path / tiny.FOLDER / "wnids.txt"
    real.parent.mkdir()
    real.write_text("n01443537\n")
    with pytest.raises(DataError, match="left alone"):
        write_tiny_shapes(tmp_path, **SMALL)
    assert real.read_text() == "n01443537\n"


@pytest.mark.parametrize(
    "wrong", [{"num_classes": 0}, {"num_classes": 217}, {"train": 0}, {"val": 0},
              {"size": 7}, {"seed": -1}]
)  # fmt: skip
def test_arguments_are_checked_first(wrong, tmp_path):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        write_tiny_shapes(tmp_path / "new", **wrong)
    assert not (tmp_path / "new").exists()
