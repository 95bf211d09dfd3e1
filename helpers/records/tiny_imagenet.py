"""From Tiny ImageNet's folders of JPEG files to shards."""

import io
import os
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

import tensorflow as tf
from PIL import Image

from helpers.errors import DataError, first_line
from helpers.files import whole_file
from helpers.records.shards import make_example, write_shards

# A picture's header states its size before a byte is decoded. A few kilobytes can
# state gigabytes: this is the most that a conversion decodes (48 MB of RAM).
MAX_PIXELS = 4096 * 4096


def write_tiny_imagenet_shards(
    tin_path: str | os.PathLike,
    split: str,
    path_prefix: str | os.PathLike,
    num_shards: int,
    *,
    synset_to_id: Mapping[str, int],
    seed: int,
) -> list[Path]:
    """Converts one split of Tiny ImageNet to shuffled shards.

    The labels are written beside the shards, to `prefix.labels.txt`: line k holds
    the synset of label k and, after a tab, its words.

    Args:
      tin_path: the folder that holds `tiny-imagenet-200/`, as `grab_tin` returns it.
      split: `"train"` or `"val"`.
      path_prefix: folder and first part of the shards' names.
      num_shards: how many files.
      synset_to_id: label of each synset, as `get_tin_id_maps` returns it: 0 to n-1.
      seed: of the shuffle.

    Returns:
      The shards' paths, in order.

    Raises:
      DataError: a picture is missing, damaged or too large, or a synset is unknown;
        names the file. Older shards and their labels stay as they were.
      ValueError: there is no such split.

    Source: 004, "TFRecords".
    """
    root = Path(tin_path) / "tiny-imagenet-200"
    prefix = Path(path_prefix)
    pictures = _labelled_pictures(root, split, synset_to_id)
    # The labels get their name last: until then the old shards need the old ones.
    with whole_file(prefix.with_name(f"{prefix.name}.labels.txt")) as temporary:
        temporary.write_text(_label_lines(root, synset_to_id), encoding="utf-8")
        return write_shards(_Examples(pictures), prefix, num_shards, seed=seed)


def read_jpeg(path: Path) -> bytes:
    """Returns the bytes of a JPEG file that `check_jpeg` accepts.

    Raises:
      DataError: it cannot be read, or is refused; names the file.
    """
    try:
        contents = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
    check_jpeg(contents, path)
    return contents


def check_jpeg(contents: bytes, name: str | os.PathLike) -> None:
    """Refuses what is not a whole JPEG of a sane size.

    The size stands in the header and is compared before anything is decoded.

    Args:
      contents: the bytes of the file.
      name: what to call it in the error.

    Raises:
      DataError: names the file and the cause.
    """
    try:
        with warnings.catch_warnings():
            # Pillow has a limit of its own, higher than ours.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(contents), formats=["JPEG"])
        width, height = image.size
        if width * height > MAX_PIXELS:
            raise Image.DecompressionBombError(f"{width} x {height} pixels")
        image.load()
    except Image.DecompressionBombError as error:
        raise DataError(
            f"{name}: its header asks for more than {MAX_PIXELS} pixels "
            f"({first_line(error)}). Remove it: this may be a picture bomb."
        ) from error
    except (OSError, SyntaxError) as error:
        raise DataError(
            f"{name}: not a whole JPEG picture ({first_line(error)}). Replace or "
            "remove it."
        ) from error


class _Examples:
    """Examples read one at a time, with a length for the progress bar."""

    def __init__(self, pictures: list[tuple[Path, int]]):
        self._pictures = pictures

    def __len__(self) -> int:
        return len(self._pictures)

    def __iter__(self) -> Iterator[tf.train.Example]:
        for path, label in self._pictures:
            yield make_example(read_jpeg(path), label)


def _labelled_pictures(
    root: Path, split: str, synset_to_id: Mapping[str, int]
) -> list[tuple[Path, int]]:
    """Returns every picture of a split and its label, in a fixed order."""
    if split == "train":
        pairs = [
            (path, folder.name)
            for folder in sorted((root / "train").glob("n*"))
            for path in sorted((folder / "images").glob("*.JPEG"))
        ]
    elif split == "val":
        pairs = list(_validation_pairs(root / "val"))
    else:
        raise ValueError(f"split={split!r}: Tiny ImageNet has 'train' and 'val'")
    unknown = sorted({synset for _, synset in pairs} - set(synset_to_id))
    if unknown:
        raise DataError(f"{root}: {split} has the synset {unknown[0]}, which has no id")
    return [(path, synset_to_id[synset]) for path, synset in pairs]


def _validation_pairs(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yields picture and synset from `val_annotations.txt`: name, synset, box."""
    annotations = folder / "val_annotations.txt"
    try:
        lines = annotations.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise DataError(f"{annotations}: cannot be read: {error.strerror}") from error
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if len(fields) < 2 or not (folder / "images" / fields[0]).exists():
            raise DataError(
                f"{annotations}: line {number} names no picture that is there: "
                f"{line[:40]!r}"
            )
        yield folder / "images" / fields[0], fields[1]


def _label_lines(root: Path, synset_to_id: Mapping[str, int]) -> str:
    words = {}
    if (root / "words.txt").exists():
        lines = (root / "words.txt").read_text(encoding="utf-8").splitlines()
        words = dict(line.split("\t", 1) for line in lines if "\t" in line)
    in_order = sorted(synset_to_id, key=synset_to_id.__getitem__)
    if [synset_to_id[synset] for synset in in_order] != list(range(len(in_order))):
        raise ValueError("synset_to_id: the labels must be 0 to n-1, each once")
    return "".join(f"{synset}\t{words.get(synset, '')}\n" for synset in in_order)
