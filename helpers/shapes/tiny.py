"""Synthetic pictures in the folder layout of Tiny ImageNet."""

import itertools
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from tqdm import tqdm

from helpers.arguments import numbers, whole
from helpers.files import whole_or_absent
from helpers.shapes import drawing
from helpers.tiny_layout import FOLDER, TinyLayout

MOST_CLASSES = len(drawing.COLOURS) * len(drawing.SHAPES) * len(drawing.TEXTURES)
_MAKER = "helpers.shapes.write_tiny_shapes, version 2"  # changes with the pictures
_TRAIN, _VAL, _ORDER = range(3)  # separate random streams
_CUES: tuple[Iterable[str], ...] = (drawing.COLOURS, drawing.TEXTURES, drawing.SHAPES)
_SECOND_TONES = ((250, 248, 240), (28, 26, 34))


@numbers(num_classes=whole(1, MOST_CLASSES), train=whole(), val=whole(),
         size=whole(drawing.SMALLEST, 4096), seed=whole(0))
def write_tiny_shapes(
    path: str | os.PathLike,
    *,
    num_classes: int = 20,
    train: int = 200,
    val: int = 25,
    size: int = 64,
    seed: int = 7,
) -> Path:
    """Draws a small picture dataset in the layout of Tiny ImageNet.

    A class is a combination of a colour, a texture, and a shape, such as "red striped
    triangle". The classes are chosen so that no single cue is sufficient: of the 20
    default classes, the best guess from any two of the three cues gets 9 right.

    Args:
      path: Folder in which `tiny-imagenet-200/` is created, in one step when everything
        is drawn. If a complete one with these settings exists, nothing is done. If it
        is damaged or has other settings, it is replaced. Your own files in it are kept.
      num_classes: Number of classes, 1 to 216.
      train: Number of training pictures per class.
      val: Number of validation pictures per class.
      size: Height and width in pixels, at least 8.
      seed: Seed of the pictures. The classes do not depend on it.

    Returns:
      The folder `path/tiny-imagenet-200`, with `wnids.txt`, `words.txt`, `train/`,
      `val/`, and `manifest.json`. Boxes are x0, y0, x1, y1 in pixels, inclusive.

    Raises:
      ValueError: If an argument is out of range.
      DataError: If the folder contains pictures that were not drawn here.
    """
    settings = {
        "num_classes": num_classes,
        "train": train,
        "val": val,
        "size": size,
        "seed": seed,
    }
    folder = Path(path) / FOLDER
    made: dict[str, Any] = {"made_by": _MAKER, "settings": settings}
    with whole_or_absent(folder, **made) as draft:
        if draft:
            _write(draft, **settings)
    return folder


def class_list(num_classes: int) -> list[tuple[str, str, str]]:
    """Returns the colour, texture, and shape of each class.

    Returns:
      A tuple (colour, texture, shape) per class, in the order of the class ids.
    """
    # The smallest number of values per cue for which no two cues identify a class.
    most = min(max(2, math.isqrt(num_classes // 2)), len(drawing.COLOURS))
    while most**3 < num_classes:
        most += 1
    steps = itertools.product(range(most), repeat=3)
    # One Latin square per step, so that every pair of cues occurs before one repeats.
    cells = [(a, (a + b + step) % most, b) for step, a, b in steps]
    colours, textures, shapes = map(list, _CUES)
    return [
        (colours[a], textures[b], shapes[c]) for a, b, c in sorted(cells[:num_classes])
    ]


def _write(folder: Path, num_classes, train, val, size, seed) -> None:
    classes = {_id(names): names for names in class_list(num_classes)}
    layout = TinyLayout(folder)
    _table(layout.wnids, [(wnid,) for wnid in classes])
    _table(layout.words, [(k, " ".join(v)) for k, v in classes.items()])
    with tqdm(total=num_classes * (train + val), desc="drawing", unit=" files") as bar:
        for wnid, names in classes.items():
            images = layout.train_images(wnid)
            files = [images / f"{wnid}_{n}.JPEG" for n in range(train)]
            rows = _draw_all(files, names, size, (seed, _TRAIN), bar)
            _table(layout.boxes(wnid), rows)
        # As in the original, the number of a validation file does not reveal its class.
        numbers = np.random.default_rng([seed, _ORDER]).permutation(num_classes * val)
        rows = []
        for k, (wnid, names) in enumerate(classes.items()):
            mine = numbers[k * val : (k + 1) * val]
            files = [layout.val_images / f"val_{n}.JPEG" for n in mine]
            drawn = _draw_all(files, names, size, (seed, _VAL), bar)
            rows += [(name, wnid, *box) for name, *box in drawn]
        rows = [rows[k] for k in np.argsort(numbers)]
        _table(layout.annotations, rows)


def _draw_all(files: list[Path], names, size, stream, bar) -> list[tuple]:
    """Draws all pictures of one class; returns their names and boxes."""
    rows = []
    for n, file in enumerate(files):
        file.parent.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng([*stream, *_code(names), n])
        picture, box = _draw(names, size, rng)
        file.write_bytes(drawing.jpeg(picture))
        rows.append((file.name, *box))
        bar.update()
    return rows


def _draw(names, size, rng) -> tuple[Image.Image, tuple]:
    """Draws one picture of a class; returns it with the object's box."""
    colour, texture, shape = names
    picture = drawing.backdrop(size, rng)
    radius = size * rng.uniform(0.24, 0.38)
    margin = min(radius * drawing.reach(shape) + 1, size / 2)
    box = drawing.paint(
        picture,
        shape=shape,
        colour=colour,
        texture=texture,
        centre=tuple(rng.uniform(margin, size - margin, 2)),
        radius=radius,
        rotation=rng.uniform(0, 2 * math.pi),
        second=_SECOND_TONES[rng.integers(2)],
        phase=tuple(rng.uniform(-0.3, 0.3, 2)),
    )
    return drawing.photograph(picture, rng), box


def _code(names) -> list[int]:
    """Returns the indices of a class's colour, texture, and shape."""
    return [list(part).index(name) for part, name in zip(_CUES, names, strict=True)]


def _id(names) -> str:
    """Returns a class id in WordNet's format, from a range that is otherwise unused."""
    return "n90{:02d}{:02d}{:02d}".format(*_code(names))


def _table(path: Path, rows) -> None:
    """Writes rows as a tab-separated text file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
