"""Folders and broken links in the place of a file, at every path read or written.

A reader or a writer refuses them in one line, and leaves them as they are. Pipes and
devices are not tried: only somebody who can write into your folders puts them there.
"""

import contextlib
import json
import os
import shutil

import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from PIL import Image

from helpers import captions, checkpoints, files, jpeg, records, vgg_weights
from helpers.datasets import captions as pictured
from helpers.datasets import coco
from helpers.errors import DataError
from helpers.inherited import describe, open_model, read_weights
from helpers.shapes import write_tiny_shapes
from helpers.tiny_layout import FOLDER
from tools import cells as lesson
from tools import notebook

MUSEUM = files.ROOT / "data" / "museum"
pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need a right there")


def link_to_a_folder(path):
    path.with_name("target").mkdir()
    path.symlink_to("target")


KINDS = {
    "folder": os.mkdir, "link to a folder": link_to_a_folder,
    "link to itself": lambda path: path.symlink_to(path.name),
    "link to nothing": lambda path: path.symlink_to("nowhere/at/all"),
}


@pytest.fixture(params=KINDS)
def odd(request):
    """Puts something at a path that is no file."""
    return KINDS[request.param]


@contextlib.contextmanager
def session():
    with tf.Graph().as_default(), tf1.Session() as running:
        tf1.get_variable("v", initializer=7.0)
        running.run(tf1.global_variables_initializer())
        yield tf1.train.Saver(), running


def saved(folder, step=3):
    with session() as (saver, running):
        checkpoints.save_numbered(saver, running, folder, step)


def restore(folder):
    with session() as (saver, running):
        return checkpoints.restore_latest(saver, running, folder)


def tiny(folder):
    write_tiny_shapes(folder, num_classes=1, train=1, val=1, size=9)


def own(folder):
    for name in ("a/1.png", "a/2.png", "b/1.png", "b/2.png"):
        (folder / name).parent.mkdir(exist_ok=True)
        Image.new("RGB", (9, 9)).save(folder / name)


def coco_like(folder):
    (folder / "annotations").mkdir()
    (folder / "images").mkdir()
    Image.new("RGB", (9, 9)).save(folder / "images/1.jpg")
    content = {"images": [{"id": 1, "file_name": "1.jpg"}], "categories": [],
               "annotations": [{"image_id": 1, "caption": "a dot"}]}
    for kind in ("captions", "instances"):
        (folder / f"annotations/{kind}_x.json").write_text(json.dumps(content))
        content["annotations"] = []


def shards(folder):
    records.write_shards([b"a" * 20] * 4, folder / "x", 2, seed=1)


def captioner(folder):
    (folder / "vocabulary.txt").write_text("<S> 1\n</S> 1\n<UNK> 0\n")
    (folder / "sizes.json").write_text("{}")


SIZES = captions.Sizes(words=3, image_size=8)
VOCABULARY = captions.Vocabulary(["<S>", "</S>", "<UNK>"], [1, 1, 0])


def restore_captioner(folder):
    with session() as (saver, running):
        captions.restore_captioner(saver, running, folder, vocabulary=VOCABULARY,
                                   sizes=SIZES)


def convert(path):
    """Converts both splits of the Tiny ImageNet that a file is of."""
    [folder] = [each.parent for each in path.parents if each.name == FOLDER]
    for split in ("train", "val"):
        records.write_tiny_imagenet_shards(folder, split, folder / split, 1, seed=1)


def slim(folder):
    shutil.copytree(MUSEUM / "slim", folder, dirs_exist_ok=True)


def saved_model(folder):
    shutil.copytree(MUSEUM / "saved_model", folder, dirs_exist_ok=True)


def nothing(folder):
    """There is nothing beside it."""


# What is there, which file of it is something else, and who reads it.
READERS = [
    (nothing, "x", files.sha256),
    (nothing, "x", lambda path: records.check_shards([path])),
    (nothing, "x", lambda path: records.image_label_dataset([path], 4, image_size=8)),
    (nothing, "x.h5", vgg_weights.vgg_sizes),
    (nothing, "x.txt", captions.Vocabulary.load),
    (nothing, "x.jpg", lambda path: list(jpeg.read_jpegs([path]))),
    (nothing, "x.ipynb", lesson.read_cells),
    (nothing, "x.pb", describe), (nothing, "x.pb", open_model),
    (nothing, "x.h5", read_weights),
    (shards, "x-00001-of-00002", lambda path: records.open_shards(path.with_name("x"))),
    (shards, "x.manifest.json", lambda path: records.check_shards(path.with_name("x"))),
    *[(slim, f"model.ckpt-30.{end}", look)
      for end in ("index", "meta", "data-00000-of-00001")
      for look in (lambda path: describe(path.parent),
                   lambda path: read_weights(path.parent / "model.ckpt-30"))],
    (slim, "checkpoint", lambda path: describe(path.parent)),
    *[(saved_model, name, lambda path: open_model(
        path.parent if path.suffix == ".pb" else path.parent.parent))
      for name in ("saved_model.pb", "variables/variables.index")],
    (saved, "model.ckpt-3.index", lambda path: restore(path.parent)),
    (saved, "model.ckpt-3.data-00000-of-00001", lambda path: restore(path.parent)),
    *[(tiny, f"{FOLDER}/{name}", convert)
      for name in ("wnids.txt", "words.txt", "val/val_annotations.txt",
                   "train/n90000000/images/n90000000_0.JPEG")],
    (own, "a/1.png", lambda path: records.write_picture_shards(
        path.parents[1], path.parents[1] / "../out", image_size=8)),
    (coco_like, "annotations/captions_x.json", lambda path: pictured.grab_captions(
        path.parents[1])),
    (coco_like, "annotations/instances_x.json", lambda path: pictured.grab_captions(
        path.parents[1])),
    (captioner, "sizes.json", lambda path: restore_captioner(path.parent)),
]


def put(folder, make, name, odd):
    """Makes a fresh folder with a file of it replaced; returns the file's path."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    make(folder)
    path = folder / name
    path.unlink(missing_ok=True)
    odd(path)
    return path


def state(path):
    """Returns what tells a file from another; reading it may move its last access."""
    found = os.lstat(path)
    return found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns


def test_no_reader_takes_something_else_for_a_file(odd, tmp_path, tried):
    tried(len(READERS))
    for make, name, read in READERS:
        path = put(tmp_path / "place", make, name, odd)
        before = state(path)
        # A part of a model that is a folder, or a link to nothing, is absent.
        absent = make in (slim, saved_model) and (path.is_dir() or not path.exists())
        try:
            read(path)
        except (DataError, ValueError) as error:
            assert "\n" not in str(error)
        else:
            assert absent, (name, read)
        assert state(path) == before


def test_a_folder_is_measured_without_what_is_no_file(odd, tmp_path):
    """A manifest that is a folder does not count, nor does a broken link."""
    path = put(tmp_path / "place", nothing, files.MANIFEST, odd)
    (path.parent / "one").write_text("1")
    digest = files.contents_digest(path.parent)
    odd(path.with_name("two")) if not path.with_name("target").exists() else None
    assert not files.is_whole(path.parent) and files.folder_manifest(path.parent) == {}
    assert files.contents_digest(path.parent) == digest


# Writers --------------------------------------------------------------------------


def write_text(path):
    with files.whole_file(path) as draft:
        draft.write_text("new")


def write_folder(path):
    with files.whole_or_absent(path, made_by="me") as draft:
        (draft / "one").write_text("1")


def save_captioner(folder):
    with session() as (saver, running):
        captions.save_captioner(saver, running, folder, 1, vocabulary=VOCABULARY,
                                sizes=SIZES)


def write_to(folder, prefix="x"):
    records.write_shards([b"a" * 20] * 4, folder / prefix, 2, seed=1)


def write_own(folder):
    own_folder = folder.with_name("own")
    shutil.rmtree(own_folder, ignore_errors=True)
    own_folder.mkdir()
    own(own_folder)
    records.write_picture_shards(own_folder, folder, image_size=8)


WRITERS = [
    ("x", write_text), ("x", write_folder), ("x", VOCABULARY.save),
    ("x.ipynb", lambda path: notebook.store(path, notebook.nbformat.v4.new_notebook())),
    ("x-00001-of-00002", lambda path: write_to(path.parent)),
    ("x.manifest.json", lambda path: write_to(path.parent)),
    ("train.labels.txt", lambda path: write_own(path.parent)),
    ("val-00000-of-00001", lambda path: write_own(path.parent)),
    ("sizes.json", lambda path: save_captioner(path.parent)),
    ("vocabulary.txt", lambda path: save_captioner(path.parent)),
    ("checkpoint", lambda path: saved(path.parent)),
    ("model.ckpt-3.index", lambda path: saved(path.parent)),
]


def test_no_writer_replaces_what_is_no_file(odd, tmp_path, tried):
    tried(len(WRITERS))
    for name, write in WRITERS:
        path = put(tmp_path / "place", nothing, name, odd)
        before, names = state(path), sorted(os.listdir(path.parent))
        with pytest.raises((DataError, OSError)) as caught:
            write(path)
        text, place = str(caught.value), os.path.basename(os.path.realpath(path))
        assert "\n" not in text and (path.name in text or place in text)
        assert state(path) == before or os.path.isdir(path)
        if name not in ("sizes.json", "vocabulary.txt"):  # which is first is as it was
            assert sorted(os.listdir(path.parent)) == names


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o444])
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_a_link_stays_a_link_and_a_mode_stays(mode, depth, tmp_path):
    (tmp_path / "away").mkdir()
    path = tmp_path / "away" / "file"
    path.write_text("old")
    path.chmod(mode)
    for number in range(depth):
        link = tmp_path / f"link{number}"
        link.symlink_to(path)
        path = link
    with files.whole_file(path) as draft:
        assert draft.parent == tmp_path / "away"  # the rename stays on one disk
        assert draft.stat().st_mode & 0o777 == mode  # what is private stays so
        draft.chmod(0o600)
        draft.write_text("new")
        draft.chmod(mode)
    assert (tmp_path / "away" / "file").read_text() == "new"
    assert (tmp_path / "away" / "file").stat().st_mode & 0o777 == mode
    assert path.is_symlink() == bool(depth)
    folder = tmp_path / "disk"
    folder.mkdir()
    with files.whole_or_absent(folder / "set", made_by="me, 1") as draft:
        (draft / "one").write_text("1")
    (tmp_path / "set").symlink_to(folder / "set")
    with files.whole_or_absent(tmp_path / "set", made_by="me, 2") as draft:
        (draft / "two").write_text("2")
    assert (tmp_path / "set").is_symlink() and os.listdir(folder) == ["set"]
    assert sorted(os.listdir(folder / "set")) == ["manifest.json", "two"]


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("ending", ["notes-of-mine", "0123456", "012345678", "0123456g",
                                    "DEADBEEF", "01234567.txt", "", "01234567"])
def test_only_what_has_the_name_of_a_draft_is_swept(ending, own, tmp_path):
    """And only where it is a day old."""
    left = tmp_path / f"table.csv.incomplete-{ending}"
    left.mkdir()
    (left / "thesis.txt").write_text("mine")
    if own:
        os.utime(left, (0, 0))
    write_text(tmp_path / "table.csv")
    assert left.exists() != (own and ending == "01234567")


def test_a_chosen_picture_of_coco_has_a_plain_name(data):
    notes = data / "coco-download/annotations"
    notes.mkdir(parents=True)
    for name in ("../x.jpg", "/x.jpg", "..", "a/b.jpg", ""):
        for split in (coco.TRAIN, coco.VAL):
            (notes / f"captions_{split}.json").write_text(json.dumps({
                "info": {"chosen": 1}, "images": [{"id": 1, "file_name": name}]}))
        with pytest.raises(DataError, match="file_name"):
            coco.fetch_coco(1)
    assert not (data / "x.jpg").exists()
