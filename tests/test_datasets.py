"""Data sets: found offline, taken from an archive, and never half."""

import functools
import hashlib
import zipfile
from pathlib import Path

import lookalikes
import numpy as np
import pytest

from helpers import files
from helpers.datasets import (
    digits,
    grab_mnist,
    grab_tin,
    grab_tin_records,
    tiny_imagenet,
)
from helpers.errors import DataError
from helpers.shapes import write_tiny_shapes

SMALL = {"num_classes": 3, "train": 2, "val": 1, "size": 16}
NOWHERE = "http://127.0.0.1:9/never-asked"
DIGITS = "09f66e6debdee2cd2b5ae59e0d6abbb73fc2b0e0185d2e1957e9ebb51e23aa22"


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch) -> Path:
    """Lets the data folder be one of the test's own."""
    monkeypatch.setenv("HELPERS_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def test_grab_tin_unpacks_an_archive_that_is_there(data, monkeypatch, tmp_path):
    folder = write_tiny_shapes(tmp_path / "made", **SMALL)
    archive = data / "downloads" / "tiny-imagenet-200.zip"
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted(folder.rglob("*")):
            file.write(path, path.relative_to(tmp_path / "made"))
    lookalikes.publish(tiny_imagenet, archive, NOWHERE, monkeypatch)

    path = grab_tin(source="download")
    assert path == data / "tin-download"
    for original in folder.rglob("*.JPEG"):
        copy = path / original.relative_to(tmp_path / "made")
        assert copy.read_bytes() == original.read_bytes()
    archive.unlink()  # once unpacked it needs neither archive nor network
    assert grab_tin(source="download") == path


def test_records_follow_the_pictures(data, monkeypatch):
    def draw(**changes):
        small = functools.partial(write_tiny_shapes, **{**SMALL, **changes})
        monkeypatch.setattr(tiny_imagenet, "write_tiny_shapes", small)
        return grab_tin_records()

    folder = draw()
    assert folder == data / "records" / "tin-drawn"
    assert len(list(folder.glob("train-*-of-00004"))) == 4
    first = {p.name: p.stat().st_mtime_ns for p in folder.iterdir()}
    assert {p.name: p.stat().st_mtime_ns for p in draw().iterdir()} == first
    shard = folder / "val-00000-of-00001"
    whole = shard.read_bytes()
    shard.write_bytes(whole[:-1])
    assert (draw() / shard.name).read_bytes() == whole
    assert (draw(seed=8) / shard.name).read_bytes() != whole


def test_bundled_digits_are_those_of_uci(data):
    """Their number of each digit is what the data set's own description lists."""
    path = grab_mnist()
    assert path == data / "mnist-bundled"
    arrays = {name: np.load(path / f"{name}.npy") for name in digits.ARRAYS}
    assert {a.dtype for a in arrays.values()} == {np.dtype(np.uint8)}
    assert arrays["x_train"].shape == (1500, 8, 8)
    assert arrays["x_test"].shape == (297, 8, 8)
    labels = np.concatenate([arrays["y_train"], arrays["y_test"]])
    assert np.bincount(labels).tolist() == [
        178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert hashlib.sha256(digits.BUNDLED.read_bytes()).hexdigest() == DIGITS
    # A 0 has ink on its rim and none in its hole.
    zeros = arrays["x_train"][arrays["y_train"] == 0].mean(axis=0)
    assert zeros[3:5, 3:5].max() < 60 < 150 < zeros[3:5, 2].min()
    assert np.bincount(arrays["y_test"]).min() > 20


def test_digits_of_another_version_are_made_again_and_notes_beside_them_are_kept(data):
    path = grab_mnist()
    (path / "my_notes.txt").write_text("mine")
    assert (grab_mnist() / "my_notes.txt").exists()
    text = (path / files.MANIFEST).read_text()
    (path / files.MANIFEST).write_text(text.replace("version 1", "version 0"))
    with pytest.warns(UserWarning, match="my_notes.txt"):
        grab_mnist()
    assert (path / files.MANIFEST).read_text() == text
    [kept] = data.glob("mnist-bundled.kept-*")
    assert (kept / "my_notes.txt").read_text() == "mine"


def test_the_data_folder_is_the_same_from_everywhere(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "ROOT", tmp_path / "course")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    (tmp_path / "notebooks").mkdir()
    for value, wanted in (("", "course/data"), ("my data", "course/my data"),
                          ("~/data", "home/data")):
        monkeypatch.setenv("HELPERS_DATA", value)
        for here in (tmp_path, tmp_path / "notebooks"):
            monkeypatch.chdir(here)
            assert files.data_folder() == tmp_path / wanted


def test_a_fresh_folder_is_empty_also_where_a_link_was(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    (real / "thesis.txt").write_text("mine")
    link.symlink_to(real)
    assert list(files.fresh_folder(link).iterdir()) == [] and not link.is_symlink()
    assert (real / "thesis.txt").read_text() == "mine"
    (tmp_path / "file").write_text("mine")
    with pytest.raises(DataError, match="file: cannot be emptied"):
        files.fresh_folder(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_no_pickle_is_loaded(data, monkeypatch):
    archive = data / "downloads" / "mnist.npz"
    archive.parent.mkdir(parents=True)
    np.savez(archive, **{name: np.array([{}], object) for name in digits.ARRAYS})
    lookalikes.publish(digits, archive, NOWHERE, monkeypatch)
    with pytest.raises(ValueError, match="allow_pickle=False"):
        grab_mnist(source="download")
    assert not (data / "mnist-download").exists()
