"""The layouts of Tiny ImageNet and COCO, offline: read, fetched, and given to run."""

import sys
from pathlib import Path

import lookalikes
import nbformat
import numpy as np
import pytest
from PIL import Image

from helpers.datasets import (
    grab_captions,
    grab_tin,
    grab_tin_records,
    tiny_imagenet,
)
from helpers.records import image_label_dataset, picture_size, read_manifest
from tools import notebook, run_lessons
from tools.cells import Lesson, with_parameters

pytestmark = pytest.mark.usefixtures("data")

# What the look-alike of COCO has with its sizes as they are.
PICTURES = {"train2017": 36, "val2017": 11}
CAPTIONS = {"train2017": 189, "val2017": 58}


@pytest.fixture(scope="module")
def coco(tmp_path_factory) -> Path:
    return lookalikes.coco(tmp_path_factory.mktemp("real") / "coco")


def test_pictures_and_captions_are_those_of_the_folder(coco):
    found = grab_captions(coco)
    assert {split: len(pictures) for split, pictures in found.items()} == PICTURES
    assert {split: sum(len(one.captions) for one in pictures)
            for split, pictures in found.items()} == CAPTIONS
    for split, pictures in found.items():
        assert min(len(one.captions) for one in pictures) == 5
        assert all(one.path.parent.name == split for one in pictures)
        sizes = {Image.open(one.path).size for one in pictures}
        modes = {Image.open(one.path).mode for one in pictures}
        assert len(sizes) > 4 and modes == {"L", "RGB"}


# Tiny ImageNet's folder, fetched and read --------------------------------------------


def test_the_archive_is_fetched_once_and_becomes_records(tmp_path, monkeypatch):
    root = lookalikes.tiny_imagenet(tmp_path / "made", classes=20, train=2, val=1)
    archive = lookalikes.zipped(root, tmp_path / "www" / "tiny-imagenet-200.zip")
    with lookalikes.served(archive.parent) as server:
        url = f"{server.url}/{archive.name}"
        lookalikes.publish(tiny_imagenet, archive, url, monkeypatch)
        folder = grab_tin_records("download")
        assert grab_tin("download") == tmp_path / "data" / "tin-download"
    assert len(server.requests) == 1
    assert read_manifest(folder / "train")["records"] == 40
    assert read_manifest(folder / "val")["records"] == 20
    assert picture_size(folder / "train") == (64, 64)
    lines = (folder / "train.labels.txt").read_text().splitlines()
    synsets = (root / "wnids.txt").read_text().split()
    assert [line.split("\t")[0] for line in lines] == synsets
    assert lines[0].split("\t")[1] == f"thing {int(synsets[0][1:])}, " + (
        f"Res {int(synsets[0][1:])}, a's kind")


def test_grey_and_cmyk_pictures_come_as_colours(tmp_path):
    root = lookalikes.tiny_imagenet(tmp_path, classes=10, train=2, val=1)
    modes = {Image.open(path).mode for path in root.rglob("*.JPEG")}
    assert modes == {"L", "CMYK", "RGB"}
    folder = grab_tin_records(root)
    synsets = (root / "wnids.txt").read_text().split()
    named = dict(line.split()[:2] for line in
                 (root / "val/val_annotations.txt").read_text().splitlines())
    of_class = {
        "train": lambda synset: (root / "train" / synset / "images").iterdir(),
        "val": lambda synset: (root / "val" / "images" / name
                               for name, its in named.items() if its == synset),
    }
    for split, paths in of_class.items():
        [(images, labels)] = image_label_dataset(
            folder / split, 20, image_size=64, num_epochs=1, shuffle_buffer=0)
        for image, label in zip(images.numpy(), labels.numpy(), strict=True):
            near = min(np.abs(image - _as_seen(path)).max()
                       for path in paths(synsets[label]))
            assert near < 0.1
            assert (np.ptp(image, axis=2).max() == 0) == (label % 5 == 4)


def _as_seen(path: Path) -> np.ndarray:
    """Returns a picture in [-1, 1] as Pillow decodes it."""
    return np.asarray(Image.open(path).convert("RGB")) / 127.5 - 1


def test_records_of_a_folder_follow_it(tmp_path):
    root = lookalikes.tiny_imagenet(tmp_path / "mine", classes=5, train=2, val=1)
    folder = grab_tin_records(root)
    assert grab_tin_records(root.parent) == folder == grab_tin_records(str(root))
    stamp = (folder / "manifest.json").stat().st_mtime_ns
    assert grab_tin_records(root) == folder
    assert (folder / "manifest.json").stat().st_mtime_ns == stamp
    shard = folder / "val-00000-of-00001"
    whole = shard.read_bytes()
    shard.write_bytes(whole[:-1])
    assert (grab_tin_records(root) / shard.name).read_bytes() == whole
    home = next((root / "train").iterdir())
    (home / f"{home.name}_boxes.txt").unlink()  # nothing reads a box
    next((home / "images").iterdir()).unlink()
    assert read_manifest(grab_tin_records(root) / "train")["records"] == 9
    for name in ("words.txt", "wnids.txt"):  # lists of the same size
        lines = (root / name).read_text().splitlines()
        (root / name).write_text("\n".join([*lines[1:], lines[0]]) + "\n")
        labels = (grab_tin_records(root) / "train.labels.txt").read_text()
    assert labels.startswith(lines[1])
    picture = next((root / "val" / "images").iterdir())
    size = picture.stat().st_size
    Image.new("RGB", (64, 64)).save(picture, "JPEG")
    picture.write_bytes(picture.read_bytes().ljust(size, b"\0"))  # as long as before
    black, _ = next(iter(image_label_dataset(
        grab_tin_records(root) / "val", 5, image_size=64, shuffle_buffer=0)))
    assert (np.asarray(black) < -0.9).all(axis=(1, 2, 3)).any()
    other = lookalikes.tiny_imagenet(tmp_path / "other" / "mine", classes=5)
    assert grab_tin_records(other) != folder


# Parameters ---------------------------------------------------------------------------


def lesson_of(*cells: tuple[str, str]):
    return nbformat.v4.new_notebook(cells=[
        nbformat.v4.new_code_cell(source, metadata={"tags": [tag] if tag else []})
        for tag, source in cells
    ])


def test_parameters_stand_behind_the_cell_that_is_tagged():
    settings = ("parameters", "SOURCE = 'drawn'\nSTEPS = 3  # all")
    book = lesson_of(("", "a = 1"), settings, ("", "print(SOURCE, STEPS)"))
    assert Lesson(Path("01_a.ipynb"), book).parameters == ["SOURCE", "STEPS"]
    assert with_parameters(book, {}) == book and len(book.cells) == 3
    for value in (5, 6):  # an earlier cell gives way
        with_parameters(book, {"STEPS": value})
        assert len(book.cells) == 4
        assert book.cells[2].metadata.tags == ["injected-parameters"]
        assert book.cells[2].source == f"# Parameters\nSTEPS = {value}"


@pytest.mark.parametrize(("arguments", "line"), [
    (["06b", "-p", "EPOCH", "3"],
     "06b_train_a_narrow_vgg.ipynb has no parameter EPOCH. Its parameters are SOURCE, "
     "EPOCHS, DECAY"),
    (["01a", "-p", "SOURCE", "x"], "01a_variable_scope.ipynb has no parameter SOURCE"),
    (["06b", "-p", "EPOCHS", "1", "-p", "EPOCHS", "2"], "is given more than once"),
    (["06b", "-p", "EPOCHS", "1", "--save"],
     "--save cannot be combined with -p"),
])
def test_a_parameter_that_is_not_there(arguments, line, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["run", *arguments])
    monkeypatch.setattr(run_lessons, "run", lambda *_: pytest.fail("it ran"))
    with pytest.raises(SystemExit) as caught:
        run_lessons.main()
    assert caught.value.code == 2
    assert line in capsys.readouterr().err.splitlines()[-1]


def test_a_run_with_a_parameter_is_kept_beside_the_copies(
        monkeypatch, tmp_path, capsys):
    lesson = tmp_path / "notebooks" / "06b_small.ipynb"
    lesson.parent.mkdir()
    notebook.store(lesson, lesson_of(("parameters", "SOURCE = 'drawn'"),
                                     ("", "print(SOURCE, 1 + 1)")))
    before = lesson.read_bytes()
    monkeypatch.setattr(run_lessons, "ROOT", tmp_path)
    monkeypatch.setattr(run_lessons.copies, "FOLDER", tmp_path / "my")
    monkeypatch.setenv(run_lessons.CALLED_FROM, str(tmp_path))
    (tmp_path / "pictures").mkdir()
    values = run_lessons.checked([lesson], [("SOURCE", "pictures")])
    assert run_lessons.run([lesson], False, values) == []
    kept = nbformat.read(tmp_path / "my" / "06b_small.run.ipynb", as_version=4)
    assert kept.cells[-1].outputs[0].text == f"{tmp_path / 'pictures'} 2\n"
    assert "are in my/06b_small.run.ipynb" in capsys.readouterr().out
    assert lesson.read_bytes() == before
