"""Tiny ImageNet: pictures drawn in its layout, or the real ones."""

import hashlib
import os
from pathlib import Path

from helpers.datasets.archives import unpack_zip
from helpers.datasets.downloads import Download
from helpers.errors import DataError
from helpers.files import (
    MANIFEST,
    contents_digest,
    data_folder,
    given_folder,
    is_whole,
    sha256,
    whole_or_absent,
)
from helpers.shapes import write_tiny_shapes
from helpers.tiny_layout import FOLDER, TinyLayout

ARCHIVE = Download(
    name="tiny-imagenet-200.zip",
    urls=(
        "https://cs231n.stanford.edu/tiny-imagenet-200.zip",
        "http://cs231n.stanford.edu/tiny-imagenet-200.zip",
    ),
    size=248_100_043,
    # Its makers publish no other. MD5 finds damage, not a forgery by a master of it.
    digest="md5:90528d7ca1a48142e341f4ef8d21d0de",
    offline='grab_tin(source="drawn")',
)
_MAKER = "helpers.datasets.grab_tin_records, version 1"


def grab_tin(source: str | os.PathLike = "drawn") -> Path:
    """Returns a folder that holds `tiny-imagenet-200/`, after making it if need be.

    Args:
      source: `"drawn"` draws 20 classes with 200 training and 25 validation pictures
        each, with no network; it takes seconds, once. `"download"` fetches the real
        200 classes with 500 and 50 pictures each: 248 MB, about 500 MB unpacked. A
        `tiny-imagenet-200.zip` that you put into `data/downloads/` is used as well.
        Otherwise a folder that you have: `tiny-imagenet-200/`, unpacked, or the one
        that holds it. A relative path begins at the repository's folder.

    Returns:
      `data/tin-drawn`, `data/tin-download`, or the folder that holds yours.

    Raises:
      DataError: it could not be fetched or unpacked, or is not there; the message says
        why.

    Source: the records document.
    """
    if source == "drawn":
        return write_tiny_shapes(data_folder() / "tin-drawn").parent
    if source == "download":
        folder = data_folder() / "tin-download"
        return folder if is_whole(folder) else unpack_zip(ARCHIVE.fetch(), folder)
    folder = given_folder(source).resolve()
    folder = folder.parent if folder.name == FOLDER else folder
    if not (folder / FOLDER).is_dir():
        raise DataError(
            f"{folder}: there is no {FOLDER}/ in it. Unpack {ARCHIVE.name} there, and "
            "keep the name of its folder"
        )
    return folder


def grab_tin_records(source: str | os.PathLike = "drawn") -> Path:
    """Returns a folder with Tiny ImageNet as shards, after making it if need be.

    Shards that are damaged, or made from other pictures or lists, are made anew.

    Args:
      source: as for `grab_tin`.

    Returns:
      `data/records/tin-<source>`: the shards `train` (4) and `val` (1), each with its
      manifest and its file of labels; the prefix of a split is `folder / "train"`.
      For a folder of yours, `data/records/tin-<name>-<digits of its path>`.

    Raises:
      DataError: as for `grab_tin`.
    """
    # Drawing and fetching need no TensorFlow, which is slow to import.
    from helpers.records import write_tiny_imagenet_shards

    tin = grab_tin(source)
    name, made_from = _name_and_digest(tin, source)
    folder = data_folder() / "records" / name
    with whole_or_absent(folder, made_by=_MAKER, made_from=made_from) as draft:
        if draft:
            for split, shards in (("train", 4), ("val", 1)):
                write_tiny_imagenet_shards(tin, split, draft / split, shards, seed=7)
    return folder


def _name_and_digest(tin: Path, source: str | os.PathLike) -> tuple[str, str]:
    """Returns the name of a source's records, and a digest of its pictures and lists.

    Those that we made have a manifest; of yours, every byte is read.
    """
    if source == "drawn":
        return "tin-drawn", sha256(tin / FOLDER / MANIFEST)
    if source == "download":
        return "tin-download", sha256(tin / MANIFEST)
    digits = hashlib.sha256(os.fsencode(tin)).hexdigest()[:8]
    return f"tin-{tin.name}-{digits}", contents_digest(tin / FOLDER)


def get_tin_id_maps(
    path: str | os.PathLike,
) -> tuple[dict[int, str], dict[str, int]]:
    """Numbers the classes in the order of `wnids.txt`.

    Args:
      path: the folder that holds `tiny-imagenet-200/`, as `grab_tin` returns it.

    Returns:
      `id_to_synset` from 0..n-1 to names such as "n01443537", and `synset_to_id`,
      its inverse.

    Raises:
      DataError: the list is missing, empty, or names a class twice.

    Source: the records document.
    """
    synset_to_id = TinyLayout(Path(path) / FOLDER).synset_ids()
    return {number: synset for synset, number in synset_to_id.items()}, synset_to_id
