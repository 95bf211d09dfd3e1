"""The layout of the Tiny ImageNet folder, defined in one place.

The module does not import TensorFlow, so that drawing and downloading stay fast.
"""

import os
from collections import Counter
from pathlib import Path

from helpers.errors import DataError
from helpers.reading import read_text

FOLDER = "tiny-imagenet-200"
SPLITS = ("train", "val")
_SUFFIXES = (".jpeg", ".jpg")
_LITTER = ("thumbs.db", "desktop.ini")  # in addition to hidden files


class TinyLayout:
    """Paths and class lists of a Tiny ImageNet folder.

    Attributes:
      root: Path of the folder `tiny-imagenet-200/`.
    """

    def __init__(self, root: str | os.PathLike):
        """Creates the layout of `root`, which need not exist yet."""
        self.root = Path(root)
        self.wnids = self.root / "wnids.txt"
        self.words = self.root / "words.txt"
        self.annotations = self.root / "val" / "val_annotations.txt"
        self.val_images = self.root / "val" / "images"

    def train_images(self, synset: str) -> Path:
        """Returns the folder with the training pictures of a class."""
        return self.root / "train" / synset / "images"

    def boxes(self, synset: str) -> Path:
        """Returns the path of the list of bounding boxes of a class."""
        return self.root / "train" / synset / f"{synset}_boxes.txt"

    def synset_ids(self) -> dict[str, int]:
        """Maps each class in `wnids.txt` to its position in the file, from 0.

        Raises:
          DataError: If the list is missing.
        """
        synsets = [name for line in _lines(self.wnids) for name in line.split()]
        return {synset: number for number, synset in enumerate(synsets)}

    def synset_words(self) -> dict[str, str]:
        """Maps each class to its description, if `words.txt` exists."""
        lines = _lines(self.words) if os.path.lexists(self.words) else []
        return dict(line.split("\t", 1) for line in lines if "\t" in line)

    def pictures(self, split: str) -> list[tuple[str, str]]:
        """Returns the path and the class of every picture, in a fixed order.

        The lists and the folders must agree: every class of `wnids.txt` has training
        pictures, and every picture of `val` has its line. Bounding boxes are not
        checked, because nothing reads them. (Paths are strings, because pathlib would
        take as long as reading the files.)

        Args:
          split: `"train"` or `"val"`.

        Raises:
          DataError: If a picture or a class is missing, or is not listed. The message
            names it.
        """
        return self._train() if split == "train" else self._val()

    def _train(self) -> list[tuple[str, str]]:
        train = self.root / "train"
        synsets = [name for name in names_in(train) if (train / name).is_dir()]
        if self.wnids.exists():
            _same_names(self.wnids, list(self.synset_ids()), synsets)
        pictures = []
        for synset in synsets:
            folder = self.train_images(synset)
            names = _pictures(folder)
            if not names:
                raise DataError(f"{folder} contains no pictures. {_WHOLE}")
            pictures += [(os.path.join(folder, name), synset) for name in names]
        return pictures

    def _val(self) -> list[tuple[str, str]]:
        rows = [(*line.split(), "", "")[:2] for line in _lines(self.annotations)]
        _same_names(self.annotations, [name for name, _ in rows],
                    _pictures(self.val_images))
        return [(os.path.join(self.val_images, name), synset) for name, synset in rows]


_WHOLE = "Nothing was changed. Complete the folder, or use grab_tin()."


def names_in(folder: Path) -> list[str]:
    """Returns the sorted names in a folder, without system files.

    Raises:
      DataError: If the folder cannot be read.
    """
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise DataError(
            f"{folder} cannot be read: {error.strerror}. {_WHOLE}"
        ) from error
    return [name for name in names
            if not name.startswith(".") and name.lower() not in _LITTER]


def _pictures(folder: Path) -> list[str]:
    """Returns the names of the JPEG files in a folder that has no other files."""
    names = names_in(folder)
    for name in names:
        if not name.lower().endswith(_SUFFIXES):
            raise DataError(
                f"{folder} must contain only JPEG files, but it contains {name}. Move "
                "this file elsewhere."
            )
    return names


def _same_names(file: Path, listed: list[str], there: list[str]) -> None:
    """Raises `DataError` unless a list names every existing item exactly once."""
    counts = Counter(listed)
    for odd, fault in (
        (set(there) - counts.keys(), "does not list {}, which exists"),
        (counts.keys() - set(there), "lists {}, which does not exist"),
        ({name for name, count in counts.items() if count > 1}, "lists {} twice"),
    ):
        if odd:
            raise DataError(f"{file} {fault.format(min(odd))}. {_WHOLE}")


def _lines(file: Path) -> list[str]:
    return read_text(file, "Pass the folder that grab_tin() returns.").splitlines()
