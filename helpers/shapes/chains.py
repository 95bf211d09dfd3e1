"""Synthetic scenes with chains of two or three objects, in the format of COCO.

The pictures of lesson 12b, "Three objects".
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from helpers.arguments import numbers, whole
from helpers.files import whole_or_absent
from helpers.shapes import drawing
from helpers.shapes.scenes import (
    COLOURS,
    RELATIONS,
    SHAPES,
    SPLITS,
    captions_of,
    draw,
    phrases,
    write_splits,
)

SIZE = 64
LENGTHS = (2, 3)  # objects per scene, alternating
# Share of the picture's side that an object's radius takes, by objects per scene.
RADII = {2: (0.15, 0.185), 3: (0.105, 0.13)}
_MAKER = "helpers.shapes.write_chains, version 1"  # changes with the pictures


@numbers(train=whole(), val=whole(), seed=whole(0))
def write_chains(
    path: str | os.PathLike, *, train: int = 8000, val: int = 1000, seed: int = 12
) -> Path:
    """Draws scenes with chains of two or three objects, and writes their captions.

    Scenes with two and with three objects alternate. Each object is left of the next
    one or above it, so a scene has two true captions: the chain from its first object,
    and from its last.

    Args:
      path: Folder to create, in one step when everything is drawn. If a complete folder
        with these settings exists, nothing is done.
      train: Number of training pictures.
      val: Number of validation pictures.
      seed: Seed of the scenes.

    Returns:
      `path`, which contains `images/`, `manifest.json`, and for each split
      `annotations/captions_<split>.json` and `annotations/instances_<split>.json`
      (boxes `[x, y, width, height]` in pixels, in the order of the first caption).
      Pictures have 64 by 64 pixels and show the objects of `phrases(6, 3)`.

    Raises:
      ValueError: If an argument is out of range.
      DataError: If the folder exists and contains files that were not drawn here.
    """
    counts = {"train": train, "val": val}
    folder = Path(path)
    made: dict[str, Any] = {"made_by": _MAKER, "settings": {**counts, "seed": seed}}
    with whole_or_absent(folder, **made) as draft:
        if draft:
            write_splits(draft, "CHAINS", SIZE, counts,
                         lambda split, count: _drawn(split, count, seed))
    return folder


def _drawn(split: str, count: int, seed: int) -> Iterator[tuple]:
    """Yields the pictures of a split, in the form that `write_splits` expects."""
    names = phrases(COLOURS, SHAPES)
    for n in range(count):
        rng = np.random.default_rng([seed, SPLITS.index(split), n])
        length = LENGTHS[n % len(LENGTHS)]
        objects = [names[k] for k in rng.integers(len(names), size=length)]
        relations = [list(RELATIONS)[k] for k in rng.integers(2, size=length - 1)]
        picture, boxes = draw(SIZE, _placed(objects, relations, rng), rng)
        yield (picture, captions_of(objects, relations),
               zip(objects, boxes, strict=True))


def _placed(objects, relations, rng) -> Iterator[tuple]:
    """Yields each object with its centre and radius, without overlaps."""
    centres, radii = _places([shape for _, shape in objects], relations, rng)
    for item, centre, radius in zip(objects, centres, radii, strict=True):
        yield item, tuple(centre), float(radius)


def _places(shapes, relations, rng) -> tuple[np.ndarray, np.ndarray]:
    """Draws centres `[object, 2]` and radii that fit into the picture."""
    while True:
        radii = SIZE * rng.uniform(*RADII[len(shapes)], len(shapes))
        reaches = [r * drawing.reach(s) + 1 for r, s in zip(radii, shapes, strict=True)]
        centres = np.zeros([len(shapes), 2])
        for k, relation in enumerate(relations):
            apart = reaches[k] + reaches[k + 1] + rng.uniform(0, 0.3 * SIZE)
            move = np.array([apart, apart * rng.uniform(-0.4, 0.4)])
            move = move if relation == "left of" else move[::-1]
            centres[k + 1] = centres[k] + move
        reach = np.array(reaches)[:, None]
        low, high = (centres - reach).min(0), (centres + reach).max(0)
        ends_apart = np.hypot(*(centres[0] - centres[-1]))
        if (high - low > SIZE).any() or ends_apart < reaches[0] + reaches[-1]:
            continue
        return centres - low + rng.uniform(0, SIZE - (high - low)), radii
