"""Converts picture folders, such as Tiny ImageNet, to TFRecord shards.

Taught in lesson 04a, 'From folders to shards'.
"""

import io
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from helpers.arguments import numbers, real, whole
from helpers.errors import DataError, first_line
from helpers.jpeg import read_jpegs
from helpers.reading import regular_file
from helpers.records.writing import (
    ShardSet,
    make_example,
    shuffled_places,
    write_sets,
)
from helpers.tiny_layout import FOLDER, TinyLayout, names_in

_SEED = 7  # for the held-out pictures and the shuffle


@numbers(num_shards=whole(), seed=whole(0))
def write_tiny_imagenet_shards(
    tin_path: str | os.PathLike,
    split: str,
    path_prefix: str | os.PathLike,
    num_shards: int,
    *,
    seed: int,
) -> list[Path]:
    """Converts one split of Tiny ImageNet to shuffled shards.

    The label of a class is its position in `wnids.txt`. The labels are also written to
    `prefix.labels.txt`: line k contains the synset of label k and, after a tab, its
    description.

    Args:
      tin_path: Folder that contains `tiny-imagenet-200/`, as returned by `grab_tin`.
      split: `"train"` or `"val"`.
      path_prefix: Folder and first part of the names of the shards.
      num_shards: Number of files.
      seed: Seed of the shuffle.

    Returns:
      The paths of the shards, in order.

    Raises:
      DataError: If a class or a picture is missing, damaged, or too large, or if a
        synset is unknown. The message names the file, and older shards and labels are
        unchanged.
      ValueError: If there is no such split.

    Source: the records document.
    """
    layout = TinyLayout(Path(tin_path) / FOLDER)
    prefix = Path(path_prefix)
    pairs = layout.pictures(split)
    ids = layout.synset_ids()
    unknown = sorted({synset for _, synset in pairs} - set(ids))
    if unknown:
        raise DataError(
            f"Split {split} of {layout.root} contains the synset {unknown[0]}, which "
            "is not listed in wnids.txt. Add it to wnids.txt, or remove its pictures."
        )
    labels = _label_lines(layout.synset_words(), sorted(ids, key=ids.__getitem__))
    pairs = [pairs[place] for place in shuffled_places(len(pairs), seed)]
    pictures = read_jpegs(path for path, _ in pairs)
    examples = (make_example(picture, ids[synset])
                for picture, (_, synset) in zip(pictures, pairs, strict=True))
    return write_sets([ShardSet(prefix, examples, len(pairs), num_shards, labels)])[0]


@numbers(image_size=whole(most=4096), held_out=real(0, 1))
def write_picture_shards(
    folder: str | os.PathLike,
    to_folder: str | os.PathLike,
    *,
    image_size: int = 64,
    held_out: float = 0.1,
) -> dict[str, int]:
    """Converts your own pictures, one folder per class, to shards.

    Pictures are rotated according to their EXIF data, cropped to the central square,
    resized, converted to 8-bit RGB with transparency replaced by white, and stored as
    JPEG. `train` has up to four shards, and `val` has one. The labels are the names of
    the folders in alphabetical order; they are also written to `train.labels.txt` and
    `val.labels.txt`.

    Args:
      folder: Folder with one subfolder per class, which contains JPEG or PNG files of
        any size.
      to_folder: Folder for the shards. Read them with the prefix `to_folder / "train"`.
      image_size: Height and width in pixels.
      held_out: Share of each class's pictures that goes to `val`, at least one picture.

    Returns:
      The number of pictures in `"train"` and `"val"`.

    Raises:
      DataError: If a file is not a picture, or if a class has fewer than two pictures.
        The message names them.
    """
    root, home = Path(folder), Path(to_folder)
    classes = {name: [root / name / file for file in names_in(root / name)]
               for name in names_in(root) if (root / name).is_dir()}
    few = [name for name, paths in classes.items() if len(paths) < 2]
    if few or not classes:
        problem = f"fewer in {', '.join(few)}" if few else "no folders"
        raise DataError(
            f"{root} must contain one folder for each class, and each folder at least "
            f"two pictures, but found {problem}."
        )
    splits: dict[str, list] = {"train": [], "val": []}
    for label, paths in enumerate(classes.values()):
        paths = [paths[place] for place in shuffled_places(len(paths), _SEED)]
        held = max(1, min(len(paths) - 1, round(held_out * len(paths))))
        splits["val"] += [(path, label) for path in paths[:held]]
        splits["train"] += [(path, label) for path in paths[held:]]
    bad = [message for path, _ in splits["val"] + splits["train"]
           if (message := _refused(path))]
    if bad:
        more = f" and {len(bad) - 3} more" if len(bad) > 3 else ""
        names = "; ".join(bad[:3]) + more
        raise DataError(
            f"Some files are not complete pictures: {names}. Move them away, and run "
            "this again."
        )
    labels = _label_lines({name: name for name in classes}, classes)
    sets = []
    for split, pairs in splits.items():
        pairs = [pairs[place] for place in shuffled_places(len(pairs), _SEED)]
        examples = (make_example(_as_jpeg(path, image_size), label)
                    for path, label in pairs)
        most = min(4, len(pairs)) if split == "train" else 1
        sets.append(ShardSet(home / split, examples, len(pairs), most, labels))
    write_sets(sets)
    return {split: len(pairs) for split, pairs in splits.items()}


def _as_jpeg(path: Path, image_size: int) -> bytes:
    """Returns a picture as the bytes of a square JPEG of the given size."""
    stream = io.BytesIO()
    with Image.open(regular_file(path), formats=("JPEG", "PNG")) as picture:
        whole = _coloured(ImageOps.exif_transpose(picture))
    ImageOps.fit(whole, (image_size, image_size)).save(stream, "JPEG", quality=95)
    return stream.getvalue()


def _coloured(picture: Image.Image) -> Image.Image:
    """Converts a picture to RGB and replaces transparency with white.

    Raises:
      ValueError: If the picture has a colour mode that does not exist in JPEG or PNG.
    """
    if picture.mode in ("I", "I;16", "I;16B", "I;16L"):  # 16-bit greyscale
        values = np.asarray(picture).astype(np.float64) / 257
        picture = Image.fromarray(np.rint(values).astype(np.uint8))
    if picture.mode in ("LA", "PA", "RGBA") or "transparency" in picture.info:
        paper = Image.new("RGBA", picture.size, "white")
        picture = Image.alpha_composite(paper, picture.convert("RGBA"))
    if picture.mode not in ("1", "L", "P", "RGB", "RGBA", "CMYK", "YCbCr"):
        raise ValueError(
            f"Colour mode {picture.mode} is not supported. Save the picture in RGB "
            "mode."
        )
    return picture.convert("RGB")


def _refused(path: Path) -> str | None:
    """Returns the reason why a file is no valid picture, or `None`."""
    try:
        _as_jpeg(path, 1)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError,
            DataError) as error:
        return f"{path} ({first_line(error)})"
    return None


def _label_lines(words: Mapping[str, str], labels: Iterable[str]) -> str:
    """Returns the text of the label file, one line per class.

    Raises:
      DataError: If a name is not valid text or contains a tab or a line break.
    """
    lines = [f"{name}\t{words.get(name, '')}" for name in labels]
    for name, line in zip(labels, lines, strict=True):
        text = line.encode("utf-8", "replace").decode()  # invalid text becomes "?"
        if "\t" in name or text != line or len(f"{line}.".splitlines()) != 1:
            raise DataError(
                f"Invalid class name {name!r}: it must be valid text without tabs or "
                "line breaks. Rename the folder."
            )
    return "".join(f"{line}\n" for line in lines)
