"""Tiny ImageNet: the real dataset, or drawn pictures in the same layout."""

import os
import zipfile
from pathlib import Path

from helpers.datasets.downloads import Download
from helpers.errors import DataError
from helpers.files import data_folder, given_folder, whole_or_absent
from helpers.shapes.tiny import write_tiny_shapes
from helpers.tiny_layout import FOLDER, TinyLayout

ARCHIVE = Download(
    name="tiny-imagenet-200.zip",
    urls=(
        "https://cs231n.stanford.edu/tiny-imagenet-200.zip",
        "http://cs231n.stanford.edu/tiny-imagenet-200.zip",
    ),
    size=248_100_043,
    # The only published hash. MD5 detects damage, but not a deliberate forgery.
    digest="md5:90528d7ca1a48142e341f4ef8d21d0de",
    offline='grab_tin(source="drawn")',
)
_UNPACKER = "helpers.datasets.grab_tin, version 1"


def grab_tin(source: str | os.PathLike = "drawn") -> Path:
    """Returns a folder that contains `tiny-imagenet-200/`, and creates it if needed.

    Args:
      source: `"drawn"` draws 20 classes with 200 training and 25 validation pictures
        each. This needs no network, and it takes some seconds the first time.
        `"download"` downloads the real 200 classes with 500 and 50 pictures each (248
        MB, about 500 MB unpacked). A file `tiny-imagenet-200.zip` that you put into
        `data/downloads/` is used as well. Otherwise, the path of an unpacked folder
        `tiny-imagenet-200/`, or of the folder that contains it. A relative path starts
        at the repository's folder.

    Returns:
      The folder `data/tin-drawn`, `data/tin-download`, or the one that contains yours.

    Raises:
      DataError: If the dataset cannot be downloaded or unpacked, or is not there. The
        message gives the reason.

    Source: the records document.
    """
    if source == "drawn":
        return write_tiny_shapes(data_folder() / "tin-drawn").parent
    if source == "download":
        return _unpacked(ARCHIVE, data_folder() / "tin-download")
    folder = given_folder(source).resolve()
    folder = folder.parent if folder.name == FOLDER else folder
    if not (folder / FOLDER).is_dir():
        raise DataError(
            f"{folder} does not contain {FOLDER}/. Unpack {ARCHIVE.name} there without "
            "renaming its folder."
        )
    return folder


def _unpacked(known: Download, folder: Path) -> Path:
    """Downloads and unpacks an archive, unless the folder is already complete."""
    made = {"made_by": _UNPACKER, "made_from": known.digest}
    with whole_or_absent(folder, **made) as draft:
        if draft:
            with zipfile.ZipFile(known.fetch()) as archive:
                archive.extractall(draft)
    return folder


def get_tin_id_maps(
    path: str | os.PathLike,
) -> tuple[dict[int, str], dict[str, int]]:
    """Returns two mappings between class numbers and WordNet ids.

    The classes are numbered in the order of `wnids.txt`.

    Args:
      path: Folder that contains `tiny-imagenet-200/`, as returned by `grab_tin`.

    Returns:
      The dictionary `id_to_synset`, from 0..n-1 to names such as "n01443537", and its
      inverse `synset_to_id`.

    Raises:
      DataError: If the list is missing, empty, or names a class twice.

    Source: the records document.
    """
    synset_to_id = TinyLayout(Path(path) / FOLDER).synset_ids()
    return {number: synset for synset, number in synset_to_id.items()}, synset_to_id
