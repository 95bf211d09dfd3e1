"""Folders of data under faults: nothing of the reader's is lost, nothing is missing.

Each fault is in a list, in a folder, on the disk, or in the name that a reader gives.
"""

import io
import os
import shutil
from pathlib import Path

import pytest
from PIL import Image

from helpers import files, records
from helpers.errors import DataError
from helpers.shapes import write_tiny_shapes

SMALL = {"num_classes": 3, "train": 4, "val": 2, "size": 16}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory) -> Path:
    """A whole Tiny ImageNet of three classes."""
    return write_tiny_shapes(tmp_path_factory.mktemp("tin"), **SMALL).parent


@pytest.fixture
def tin(drawn, tmp_path) -> Path:
    """A copy of it, to be damaged."""
    shutil.copytree(drawn, tmp_path / "tin")
    return tmp_path / "tin"


def convert(tin: Path, split: str) -> int:
    records.write_tiny_imagenet_shards(tin, split, tin / split, 1, seed=1)
    return records.check_shards(tin / split)


def first_class(tin: Path) -> Path:
    return min((tin / "tiny-imagenet-200" / "train").iterdir())


def rename_all(tin, suffix):
    for path in first_class(tin).glob("images/*"):
        path.rename(path.with_suffix(suffix))


FEWER = {
    "a class folder missing": lambda tin: shutil.rmtree(first_class(tin)),
    "an empty class folder": lambda tin: empty(first_class(tin)),
    "no images": lambda tin: shutil.rmtree(first_class(tin) / "images"),
    "empty images": lambda tin: [
        path.unlink() for path in first_class(tin).glob("images/*")],
    "another kind": lambda tin: rename_all(tin, ".png"),
    "a class of nobody": lambda tin: shutil.copytree(
        first_class(tin), first_class(tin).parent / "n00000000"),
    "a class list cut": lambda tin: cut(tin / "tiny-imagenet-200/wnids.txt", 10),
    "a file for a folder": lambda tin: [
        shutil.rmtree(first_class(tin) / "images"),
        (first_class(tin) / "images").write_text("x")],
}
DAMAGED = {"empty": lambda whole: b"", "cut": lambda whole: whole[:-40],
           "PNG": lambda whole: as_png(whole)}


def empty(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def cut(path: Path, length: int = 30) -> None:
    path.write_bytes(path.read_bytes()[:length])


def as_png(whole: bytes) -> bytes:
    stream = io.BytesIO()
    Image.open(io.BytesIO(whole)).save(stream, "PNG")
    return stream.getvalue()


def sets_of(tin: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in tin.glob("train*")}


@pytest.mark.parametrize("fault", FEWER)
def test_fewer_classes_or_pictures_are_refused(tin, fault):
    assert convert(tin, "train") == 12
    before = sets_of(tin)
    FEWER[fault](tin)
    with pytest.raises(DataError, match="tiny-imagenet-200") as caught:
        convert(tin, "train")
    assert "\n" not in str(caught.value) and "elete" not in str(caught.value)
    assert sets_of(tin) == before


@pytest.mark.parametrize("fault", DAMAGED)
def test_a_bad_picture_ends_the_conversion_and_the_older_set_stays(tin, fault):
    """Its labels, too, though the classes come in another order now."""
    convert(tin, "train")
    before = sets_of(tin)
    bad = max(first_class(tin).glob("images/*"))
    bad.write_bytes(DAMAGED[fault](bad.read_bytes()))
    classes = tin / "tiny-imagenet-200/wnids.txt"
    classes.write_text("\n".join(reversed(classes.read_text().split())))
    with pytest.raises(DataError, match=f"{bad.name} is not a complete JPEG"):
        convert(tin, "train")
    assert sets_of(tin) == before


@pytest.mark.parametrize(
    "label", [2**32 + 3, 2**31, -(2**31) - 1, 3.9, "3", True, None]
)
def test_a_label_that_would_become_another_is_refused(label):
    with pytest.raises((TypeError, ValueError), match="lbl must be"):
        records.make_example(b"", label)


@pytest.mark.parametrize("path", ["", ".", "..", "../..", "/", "{cwd}", "{cwd}/x/..",
                                  "{home}", "{root}", "{link}", "{above}", "{links}",
                                  "{middle}", "{root}/helpers", "{root}/logs",
                                  "{root}/logs/../data/x", "{outside}"])
def test_a_folder_that_nobody_means_to_lose_is_not_emptied(tmp_path, monkeypatch, path):
    cwd, home, root = (tmp_path / name for name in ("a/here", "a/home", "a/course"))
    for folder in (cwd, home, root):
        folder.mkdir(parents=True)
        (folder / "thesis.txt").write_text("mine")
    # A home that is reached by links, one of which leads to another.
    above, links, middle = (tmp_path / name for name in ("above", "links", "middle"))
    link = above / "me"
    if path in ("{link}", "{above}", "{links}", "{middle}"):
        links.mkdir()
        above.symlink_to(links, target_is_directory=True)
        middle.symlink_to(home, target_is_directory=True)
        link.symlink_to("../middle", target_is_directory=True)
        home = link
    monkeypatch.chdir(cwd)
    monkeypatch.setattr(files, "ROOT", root)
    monkeypatch.setattr(Path, "home", lambda: home)
    with pytest.raises(DataError, match="Refusing to empty|Nothing was deleted"):
        files.fresh_folder(path.format(cwd=cwd, home=home, root=root, link=link,
                                       above=above, links=links, middle=middle,
                                       outside=Path(os.path.abspath(os.sep), "srv")))
    for folder in (cwd, home, root):
        assert (folder / "thesis.txt").read_text() == "mine"


def test_a_folder_is_emptied_at_any_depth(tmp_path):
    """Without recursion: 1,100 folders in each other are more than Python nests."""
    deep = tmp_path / "d"
    here = os.open(tmp_path, os.O_RDONLY)
    try:
        for _ in range(1100):
            os.mkdir("d", dir_fd=here)
            inside = os.open("d", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = inside
    finally:
        os.close(here)
    assert len(files.contents_digest(deep)) == 64
    assert list(files.fresh_folder(deep).iterdir()) == []
