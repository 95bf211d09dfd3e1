"""Data sets: found offline, taken from an archive, and never half."""

import hashlib

import lookalikes
import numpy as np
import pytest

from helpers import files
from helpers.datasets import digits, grab_mnist
from helpers.errors import DataError

NOWHERE = "http://127.0.0.1:9/never-asked"
DIGITS = "09f66e6debdee2cd2b5ae59e0d6abbb73fc2b0e0185d2e1957e9ebb51e23aa22"


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
    with pytest.raises(DataError, match="file: it is not a folder"):
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
