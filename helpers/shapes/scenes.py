"""Synthetic scenes of two objects with captions, in the format of COCO."""

import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from helpers.arguments import numbers, whole
from helpers.files import whole_or_absent
from helpers.shapes import drawing

COLOURS, SHAPES = 6, 3  # numbers of names to use from `drawing`
# Each relation with its mirror: "A left of B" says the same as "B right of A".
RELATIONS = {"left of": "right of", "above": "below"}
SPLITS = ("train", "val", "unseen")
SMALLEST_SCENE = 32  # pixels; two objects must fit side by side
_MAKER = "helpers.shapes.write_scenes, version 1"  # changes with the pictures


@numbers(train=whole(), val=whole(), unseen=whole(),
         size=whole(SMALLEST_SCENE, 4096), seed=whole(0))
def write_scenes(
    path: str | os.PathLike,
    *,
    train: int = 8000,
    val: int = 500,
    unseen: int = 500,
    size: int = 64,
    seed: int = 7,
) -> Path:
    """Draws scenes of two objects and writes their captions in COCO's format.

    A quarter of the pairs of objects never appear in the splits `train` and `val`. The
    split `unseen` contains these pairs and no others. Each single object appears in all
    splits.

    Args:
      path: Folder to create, in one step when everything is drawn. If a complete folder
        with these settings exists, nothing is done.
      train: Number of training pictures.
      val: Number of validation pictures with the same pairs.
      unseen: Number of test pictures with pairs that never appear together in training.
      size: Height and width in pixels, at least 32.
      seed: Seed of the scenes.

    Returns:
      `path`, which contains `images/`, `manifest.json`, and for each split
      `annotations/captions_<split>.json` and `annotations/instances_<split>.json`
      (boxes `[x, y, width, height]` in pixels, in the order in which the first caption
      names the objects).

    Raises:
      ValueError: If an argument is out of range.
      DataError: If the folder exists and contains files that were not drawn here.
    """
    counts = {"train": train, "val": val, "unseen": unseen}
    folder = Path(path)
    settings = {**counts, "colours": COLOURS, "shapes": SHAPES, "size": size,
                "seed": seed}
    made: dict[str, Any] = {"made_by": _MAKER, "settings": settings}
    with whole_or_absent(folder, **made) as draft:
        if draft:
            objects = phrases(COLOURS, SHAPES)

            def drawn(split: str, count: int) -> Iterator[tuple]:
                return _drawn(split, count, objects, size, seed)

            write_splits(draft, "SCENES", size, counts, drawn)
    return folder


def phrases(colours: int, shapes: int) -> list[tuple[str, str]]:
    """Returns all combinations of the first colours and shapes.

    Each object is a tuple (colour, shape).
    """
    names = list(drawing.COLOURS)[:colours], list(drawing.SHAPES)[:shapes]
    return list(itertools.product(*names))


def is_unseen(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Returns whether two objects never appear together in training.

    This holds for about a quarter of the pairs. Each object still appears with itself
    and with most others, and each colour and each shape appears with every other. The
    split therefore tests new pairs of phrases, and not new pairs of words.
    """
    colours, shapes = list(drawing.COLOURS), list(drawing.SHAPES)
    places = [colours.index(c) + shapes.index(s) for c, s in (one, other)]
    return sum(places) % 4 == 3


def captions_of(
    objects: Sequence[tuple[str, str]], relations: Sequence[str]
) -> tuple[str, str]:
    """Returns two equivalent captions of a scene, one from each end of the chain.

    Args:
      objects: Colour and shape of each object.
      relations: Relation of each object to the next one, a key of `RELATIONS`. There is
        one relation fewer than objects.
    """
    names = [
        f"{'an' if colour[0] in 'aeiou' else 'a'} {colour} {shape}"
        for colour, shape in objects
    ]
    forth, back = names[0], names[-1]
    for name, relation in zip(names[1:], relations, strict=True):
        forth += f" {relation} {name}"
    for name, relation in zip(names[-2::-1], relations[::-1], strict=True):
        back += f" {RELATIONS[relation]} {name}"
    return forth, back


def draw(
    size: int, placed: Iterable[tuple], rng: np.random.Generator
) -> tuple[bytes, list[tuple[int, int, int, int]]]:
    """Draws objects on a random background; returns a JPEG and their boxes.

    Args:
      size: Height and width in pixels.
      placed: For each object, its (colour, shape), centre, and radius. The iterable is
        consumed after the background is drawn.
      rng: Generator that determines the background, angles, lighting, and noise.

    Returns:
      A JPEG file, and for each object the box x0, y0, x1, y1 in pixels, inclusive.
    """
    picture = drawing.backdrop(size, rng)
    boxes = []
    for (colour, shape), centre, radius in placed:
        boxes.append(drawing.paint(
            picture, shape=shape, colour=colour, centre=centre, radius=radius,
            rotation=rng.uniform(-0.3, 0.3),
        ))
    return drawing.jpeg(drawing.photograph(picture, rng)), boxes


def _places(objects, relation, size, rng):
    """Yields both objects with centre and radius, without overlaps."""
    radii = size * rng.uniform(0.15, 0.185, 2)
    reaches = [
        radius * drawing.reach(shape) + 1
        for radius, (_, shape) in zip(radii, objects, strict=True)
    ]
    room = size - sum(reaches)
    apart = rng.uniform(sum(reaches), room)
    across = apart * rng.uniform(-0.4, 0.4)
    step = (apart, across) if relation == "left of" else (across, apart)
    first = [
        rng.uniform(max(reaches[0], reaches[1] - move),
                    min(size - reaches[0], size - reaches[1] - move))
        for move in step
    ]
    second = [start + move for start, move in zip(first, step, strict=True)]
    yield objects[0], tuple(first), float(radii[0])
    yield objects[1], tuple(second), float(radii[1])


def _drawn(split, count, objects, size, seed) -> Iterator[tuple]:
    """Yields the pictures of a split, in the form that `write_splits` expects."""
    pairs = [
        pair for pair in itertools.product(objects, repeat=2)
        if is_unseen(*pair) == (split == "unseen")
    ]
    for n in range(count):
        rng = np.random.default_rng([seed, SPLITS.index(split), n])
        pair = pairs[rng.integers(len(pairs))]
        relation = list(RELATIONS)[rng.integers(len(RELATIONS))]
        picture, boxes = draw(size, _places(pair, relation, size, rng), rng)
        yield picture, captions_of(pair, [relation]), zip(pair, boxes, strict=True)


def write_splits(
    folder: Path,
    stem: str,
    size: int,
    counts: Mapping[str, int],
    drawn: Callable[[str, int], Iterable[tuple]],
) -> None:
    """Writes the pictures and the COCO annotations of all splits.

    Args:
      folder: Folder for `images/` and `annotations/`.
      stem: First part of the names of the pictures.
      size: Height and width in pixels.
      counts: Number of pictures of each split.
      drawn: Function from a split and its count to the pictures. Each picture consists
        of the JPEG file, its captions, and its objects with their boxes x0, y0, x1, y1,
        inclusive.
    """
    (folder / "images").mkdir()
    (folder / "annotations").mkdir()
    for number, (split, count) in enumerate(counts.items()):
        pictures = tqdm(drawn(split, count), split, count, unit=" files")
        first = number * 10_000_000 + 1
        _write_split(folder, f"{stem}_{split}", first, size, pictures)


def _write_split(folder: Path, stem: str, first: int, size: int, drawn) -> None:
    """Writes one split, with picture ids that start at `first`."""
    objects = phrases(COLOURS, SHAPES)
    split = stem.split("_")[1]
    images, captions, instances = [], [], []
    for number, (picture, texts, seen) in enumerate(drawn, start=first):
        name = f"{stem}_{number:012d}.jpg"
        (folder / "images" / name).write_bytes(picture)
        images.append({"id": number, "file_name": name, "height": size, "width": size})
        captions += [{"image_id": number, "caption": text} for text in texts]
        for what, (x0, y0, x1, y1) in seen:
            box = [x0, y0, x1 - x0 + 1, y1 - y0 + 1]
            instances.append({
                "image_id": number, "category_id": objects.index(what) + 1,
                "bbox": box, "area": box[2] * box[3], "iscrowd": 0,
            })
    categories = [
        {"id": k, "name": " ".join(names), "supercategory": names[1]}
        for k, names in enumerate(objects, start=1)
    ]
    for kind, entries, more in (("captions", captions, {}),
                                ("instances", instances, {"categories": categories})):
        numbered = [{"id": k, **entry} for k, entry in enumerate(entries, start=1)]
        content = {"info": {"description": _MAKER}, "licenses": [], "images": images,
                   "annotations": numbered, **more}
        path = folder / "annotations" / f"{kind}_{split}.json"
        path.write_text(json.dumps(content) + "\n")
