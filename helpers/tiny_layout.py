"""Where Tiny ImageNet keeps what: the one place that knows its folders and files.

It imports no TensorFlow, so that drawing and fetching pictures stays quick.
"""

import os
from pathlib import Path

from helpers.errors import DataError

FOLDER = "tiny-imagenet-200"
SPLITS = ("train", "val")
_SUFFIXES = (".jpeg", ".jpg")
_LITTER = ("thumbs.db", "desktop.ini")  # and what begins with a dot


class TinyLayout:
    """The names of one Tiny ImageNet, and what its lists say.

    Attributes:
      root: the folder `tiny-imagenet-200/`.
    """

    def __init__(self, root: str | os.PathLike):
        """As the class says; `root` need not be there yet."""
        self.root = Path(root)
        self.wnids = self.root / "wnids.txt"
        self.words = self.root / "words.txt"
        self.annotations = self.root / "val" / "val_annotations.txt"
        self.val_images = self.root / "val" / "images"

    def train_images(self, synset: str) -> Path:
        """Returns the folder of one class's training pictures."""
        return self.root / "train" / synset / "images"

    def boxes(self, synset: str) -> Path:
        """Returns the list of one class's training pictures and their boxes."""
        return self.root / "train" / synset / f"{synset}_boxes.txt"

    def synset_ids(self) -> dict[str, int]:
        """Numbers the classes in the order of `wnids.txt`: name to 0..n-1.

        Raises:
          DataError: the list is missing, empty, no text, or names a class twice.
        """
        synsets = [name for line in _lines(self.wnids) for name in line.split()]
        if not synsets or len(set(synsets)) != len(synsets):
            raise DataError(
                f"{self.wnids}: {len(synsets)} names, {len(set(synsets))} different "
                "ones: it must name each class once. grab_tin() gives a whole set"
            )
        return {synset: number for number, synset in enumerate(synsets)}

    def synset_words(self) -> dict[str, str]:
        """Returns what each synset means; nothing where there is no `words.txt`.

        Raises:
          DataError: the list is no text.
        """
        lines = _lines(self.words) if self.words.exists() else []
        return dict(line.split("\t", 1) for line in lines if "\t" in line)

    def pictures(self, split: str) -> list[tuple[str, str]]:
        """Returns the path of every picture and its synset, in a fixed order.

        What the lists name and what the folders hold must be the same: every class
        of `wnids.txt` has training pictures, every picture of `val` has its line.
        Boxes are asked for nowhere: nothing reads one.
        (Paths are text: pathlib would take as long as reading the files.)

        Args:
          split: `"train"` or `"val"`.

        Raises:
          DataError: something is missing, or is there and in no list; names it.
          ValueError: there is no such split.
        """
        if split not in SPLITS:
            raise ValueError(f"split={split!r}: Tiny ImageNet has 'train' and 'val'")
        return self._train() if split == "train" else self._val()

    def _train(self) -> list[tuple[str, str]]:
        train = self.root / "train"
        synsets = {name for name in _entries(train) if (train / name).is_dir()}
        listed = set(self.synset_ids()) if self.wnids.exists() else synsets
        for odd, what in ((listed - synsets, "has no folder of"),
                          (synsets - listed, "has a folder of a class that "
                                             "wnids.txt does not name,")):
            if odd:
                raise DataError(f"{train}: {what} {min(odd)}. {_WHOLE}")
        return [
            (path, synset) for synset in sorted(synsets)
            for path in _joined(self.train_images(synset), self._train_class(synset))
        ]

    def _train_class(self, synset: str) -> list[str]:
        """Returns the names of the pictures of one class."""
        folder = self.train_images(synset)
        names = _pictures(folder)
        if not names:
            raise DataError(f"{folder}: there is no picture in it. {_WHOLE}")
        return names

    def _val(self) -> list[tuple[str, str]]:
        names = _pictures(self.val_images)
        there = set(names)
        rows = [line.split() for line in _lines(self.annotations)]
        for number, row in enumerate(rows, 1):
            if len(row) < 2 or row[0] not in there:
                raise DataError(
                    f"{self.annotations}: line {number} names no picture that is "
                    f"there: {' '.join(row)[:40]!r}. {_WHOLE}"
                )
        listed = [row[0] for row in rows]
        _same_names(self.annotations, listed, names)
        paths = _joined(self.val_images, listed)
        return [(path, row[1]) for path, row in zip(paths, rows, strict=True)]


_WHOLE = "Nothing was changed; complete the folder, or use grab_tin()"


def _entries(folder: Path) -> list[str]:
    """Returns the names in a folder, sorted, without what systems leave there."""
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise DataError(
            f"{folder}: cannot be read ({error.strerror}). {_WHOLE}"
        ) from error
    return [name for name in names
            if not name.startswith(".") and name.lower() not in _LITTER]


def _pictures(folder: Path) -> list[str]:
    """Returns the names of the pictures in a folder, which holds nothing else."""
    names = _entries(folder)
    for name in names:
        if not name.lower().endswith(_SUFFIXES):
            raise DataError(
                f"{folder / name}: only JPEG files belong here. Move it away"
            )
    return names


def _joined(folder: Path, names: list[str]) -> list[str]:
    """Returns the path of each name."""
    start = os.path.join(folder, "")
    return [start + name for name in names]


def _same_names(file: Path, listed: list[str], names: list[str]) -> None:
    """Raises `DataError` unless a list names each picture that is there, once."""
    there = set(names)
    for odd, what in ((there - set(listed), "does not name"),
                      (set(listed) - there, "names a picture that is not there,"),
                      ({n for n in there if listed.count(n) > 1}
                       if len(set(listed)) < len(listed) else (), "names twice")):
        if odd:
            raise DataError(f"{file}: it {what} {min(odd)}. {_WHOLE}")


def _lines(file: Path) -> list[str]:
    """Returns the lines of a UTF-8 file; a byte order mark is none of its text."""
    try:
        return file.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise DataError(
            f"{file}: cannot be read ({error.strerror}): pass the folder that "
            "grab_tin() returns"
        ) from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"{file}: this is not text in UTF-8 (UTF-16?): save it as UTF-8"
        ) from error
