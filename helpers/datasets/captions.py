"""Captioned pictures in the format of COCO: drawn scenes, or the real dataset.

Used in lessons 08a to 08c and 12b.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from helpers.datasets import coco
from helpers.errors import DataError
from helpers.files import data_folder, given_folder
from helpers.shapes import write_scenes

_PREFIX = "captions_"
_CAPTIONS = {"images": [{"id": int, "file_name": str}],
             "annotations": [{"image_id": int, "caption": str}]}
_INSTANCES = {"categories": [{"id": int, "name": str}],
              "annotations": [{"image_id": int, "category_id": int, "bbox": [float]}]}


class PicturedObject(NamedTuple):
    """Object in a picture, with its category and its bounding box.

    Attributes:
      category: Number of the category.
      name: Name of the category, such as "red circle".
      box: Bounding box as x, y, width, and height in pixels.
    """

    category: int
    name: str
    box: tuple[float, ...]


class CaptionedPicture(NamedTuple):
    """Picture with its captions and the objects that it shows.

    Attributes:
      id: Number of the picture in the annotation files.
      path: Path of the JPEG file.
      captions: One or more captions, in the order of the file.
      objects: Objects in `instances_<split>.json`, in its order. Empty without this
        file.
    """

    id: int
    path: Path
    captions: tuple[str, ...]
    objects: tuple[PicturedObject, ...]


def grab_captions(
    source: str | os.PathLike = "drawn", *, pictures: int = 2000
) -> dict[str, list[CaptionedPicture]]:
    """Loads captioned pictures from annotation files in the format of COCO.

    Args:
      source: `"drawn"` draws scenes of two objects. This needs no network, and it takes
        some seconds the first time. `"download"` downloads COCO 2017: its annotations
        (253 MB) and some of its pictures. Otherwise, the path of a COCO folder that you
        have. It must contain `annotations/captions_<split>.json`, for example
        `captions_train2014.json`, and the pictures in `images/`, in `<split>/`, or in
        `images/<split>/`. A relative path starts at the repository's folder.
      pictures: For `"download"`, the number of training pictures (0.16 MB each). A
        tenth as many validation pictures are downloaded too.

    Returns:
      The pictures of each split, in the order of its file. A split without pictures is
      left out. The drawn splits are `train`, `val`, and `unseen`, whose pairs of
      objects never appear together in training.

    Raises:
      DataError: If a file is missing, is not in COCO's format, or cannot be downloaded.
        The message names the file. Downloaded files are kept, and the next call
        continues.
    """
    drawn = source == "drawn"
    if drawn:
        folder = write_scenes(data_folder() / "scenes-drawn")
    else:
        download = source == "download"
        folder = coco.fetch_coco(pictures) if download else given_folder(source)
    files = sorted((folder / "annotations").glob(f"{_PREFIX}*.json"))
    if not files:
        raise DataError(
            f"No annotations/{_PREFIX}<split>.json found in {folder}. Unpack the COCO "
            'annotations there, or use grab_captions("drawn").'
        )
    if drawn:  # in the order in which they are used
        files.sort(key=lambda path: ["train", "val", "unseen"].index(_split(path)))
    splits = {}
    for path in files:
        with _of_coco(path):
            splits[_split(path)] = _load(folder, path)
    found = {split: pictures for split, pictures in splits.items() if pictures}
    if not found:
        names = ", ".join(splits)
        raise DataError(
            f"None of the annotated pictures were found in {folder}. Unpack them into "
            f"folders named {names}."
        )
    return found


@contextlib.contextmanager
def _of_coco(path: Path) -> Iterator[None]:
    try:
        yield
    except LookupError as error:
        raise DataError(
            f"{path} is not a valid COCO annotation file: id {error} is used but not "
            "defined. Unpack or download the file again."
        ) from error


def _split(path: Path) -> str:
    return path.stem.removeprefix(_PREFIX)


def _load(folder: Path, path: Path) -> list[CaptionedPicture]:
    """Loads the pictures of one annotation file that have at least one caption.

    The result is empty if no picture is there: COCO's annotations of all splits come
    together, and a reader with the pictures of one split does not need the others.

    None where no picture is there: COCO's annotations of all splits come together,
    and a reader with the pictures of one has no use for the others.
    """
    split = _split(path)
    content = coco.read_notes(path, _CAPTIONS)
    images = {image["id"]: image["file_name"] for image in content["images"]}
    places = _places(folder, split)
    if not places.keys() & images.values():
        return []
    captions: dict[int, list[str]] = {number: [] for number in images}
    for annotation in content["annotations"]:
        captions[annotation["image_id"]].append(annotation["caption"].strip())
    objects = _objects(folder / "annotations" / f"instances_{split}.json", images)
    pictures = []
    for number, name in images.items():
        if name not in places:
            raise DataError(
                f"Picture {name} is listed in {path} but was not found in "
                f"{folder.name}/images, {split}, or images/{split}. Unpack the "
                "pictures of this split there."
            )
        if texts := tuple(text for text in captions[number] if text):
            pictures.append(
                CaptionedPicture(number, places[name], texts, tuple(objects[number]))
            )
    if not pictures:
        raise DataError(
            f"No captioned pictures found in {path}. Check that it is the right file."
        )
    return pictures


def _objects(path: Path, images: dict[int, str]) -> dict[int, list[PicturedObject]]:
    """Returns the objects of each picture, or none if there is no such file."""
    objects: dict[int, list[PicturedObject]] = {number: [] for number in images}
    if not os.path.lexists(path):
        return objects
    with _of_coco(path):
        content = coco.read_notes(path, _INSTANCES)
        names = {entry["id"]: entry["name"] for entry in content["categories"]}
        for entry in content["annotations"]:
            category = entry["category_id"]
            objects[entry["image_id"]].append(
                PicturedObject(category, names[category], tuple(entry["bbox"]))
            )
    return objects


def _places(folder: Path, split: str) -> dict[str, Path]:
    """Maps the name of each picture file of a split to its path."""
    places: dict[str, Path] = {}
    for sub in (folder / "images" / split, folder / split, folder / "images"):
        if sub.is_dir():
            places.update((entry.name, sub / entry.name) for entry in os.scandir(sub))
    return places
