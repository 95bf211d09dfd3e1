"""Pictures as shards: drawn ones, Tiny ImageNet's, or those of a folder of yours."""

import hashlib
import os
from pathlib import Path

from helpers.datasets.tiny_imagenet import grab_tin
from helpers.files import (
    MANIFEST,
    contents_digest,
    data_folder,
    sha256,
    whole_or_absent,
)
from helpers.tiny_layout import FOLDER

_MAKER = "helpers.datasets.grab_tin_records, version 1"


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
