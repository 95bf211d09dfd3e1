"""TFRecord shards of drawn pictures, Tiny ImageNet, or your own picture folder."""

import hashlib
import os
from pathlib import Path

from helpers.datasets.tiny_imagenet import grab_tin
from helpers.files import (
    MANIFEST,
    contents_digest,
    data_folder,
    given_folder,
    sha256,
    whole_or_absent,
)
from helpers.tiny_layout import FOLDER

_MAKER = "helpers.datasets.grab_tin_records, version 1"


def grab_tin_records(source: str | os.PathLike = "drawn") -> Path:
    """Returns a folder with shards of labelled pictures, and creates it if needed.

    Shards that are damaged, or that were made from other pictures or lists, are
    replaced.

    Args:
      source: Source as for `grab_tin`, or a folder with your own pictures. It must
        contain one folder per class, with JPEG or PNG files of any size. A tenth of
        them is held out for `val`.

    Returns:
      The folder `data/records/tin-<source>`, or `data/records/tin-<name>-<digits of its
      path>` for your own pictures. It contains the shards `train` (4) and `val` (1),
      each with its manifest and its file of labels. The prefix of a split is `folder /
      "train"`.

    Raises:
      DataError: If `grab_tin` fails, or if a file in your folder is not a picture. The
        message names it.
    """
    # Drawing and fetching need no TensorFlow, which is slow to import.
    from helpers import records

    mine = _own_pictures(source)
    tin = mine or grab_tin(source)
    name, made_from = _name_and_digest(tin, source)
    folder = data_folder() / "records" / name
    with whole_or_absent(folder, made_by=_MAKER, made_from=made_from) as draft:
        if draft and mine:
            records.write_picture_shards(mine, draft)
        elif draft:
            for split, shards in (("train", 4), ("val", 1)):
                records.write_tiny_imagenet_shards(
                    tin, split, draft / split, shards, seed=7
                )
    return folder


def _own_pictures(source: str | os.PathLike) -> Path | None:
    """Returns the folder `source` if it holds your own pictures, otherwise `None`."""
    if source in ("drawn", "download"):
        return None
    folder = given_folder(source).resolve()
    return None if FOLDER in (folder.name, *os.listdir(folder)) else folder


def _name_and_digest(pictures: Path, source: str | os.PathLike) -> tuple[str, str]:
    """Returns the name and the content digest of a picture source.

    Generated pictures have a manifest, which is hashed. For your own pictures, every
    byte is read.
    """
    if source == "drawn":
        return "tin-drawn", sha256(pictures / FOLDER / MANIFEST)
    if source == "download":
        return "tin-download", sha256(pictures / MANIFEST)
    digits = hashlib.sha256(os.fsencode(pictures)).hexdigest()[:8]
    inside = pictures / FOLDER
    digest = contents_digest(inside if inside.is_dir() else pictures)
    return f"tin-{pictures.name}-{digits}", digest
