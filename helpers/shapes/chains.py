"""Drawn scenes of two and three objects in a chain, in the files of COCO.

The pictures of lesson 12b, "Three objects".
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from helpers.arguments import whole_number
from helpers.files import whole_or_absent
from helpers.shapes import drawing
from helpers.shapes.scenes import RELATIONS, phrases, write_json

COLOURS, SHAPES, SIZE = 6, 3, 64
LENGTHS = (2, 3)  # objects per scene, by turns
# Share of the picture's side that an object's radius takes, by objects per scene.
RADII = {2: (0.15, 0.185), 3: (0.105, 0.13)}
SPLITS = ("train", "val")
_MAKER = "helpers.shapes.write_chains, version 1"  # changes with the pictures


def write_chains(
    path: str | os.PathLike, *, train: int = 8000, val: int = 1000, seed: int = 12
) -> Path:
    """Draws scenes of two and of three objects, by turns, with their captions.

    Each object stands left of the next one or above it, so a scene has two true
    captions: the chain from its beginning, and from its end.

    Args:
      path: the folder to make, in one step when all is drawn. If it is there with
        these settings, whole, nothing is done.
      train: pictures to learn from.
      val: held-out pictures.
      seed: another seed gives other scenes.

    Returns:
      `path`, which holds `images/`, for each split `annotations/captions_<split>.json`
      and `annotations/instances_<split>.json` (boxes `[x, y, width, height]` in
      pixels, in the order of the first caption), and `manifest.json`. Pictures are 64
      by 64 pixels, of the objects of `phrases(6, 3)`.

    Raises:
      ValueError: an argument is out of its range.
      DataError: the folder is there and holds something that was not drawn by us.
    """
    counts = {"train": train, "val": val}
    for name, value in counts.items():
        counts[name] = whole_number(f"write_chains: {name}", value, 1)
    seed = whole_number("write_chains: seed", seed, 0)
    folder = Path(path)
    made: dict[str, Any] = {"made_by": _MAKER, "settings": {**counts, "seed": seed}}
    with whole_or_absent(folder, **made) as draft:
        if draft:
            (draft / "images").mkdir()
            (draft / "annotations").mkdir()
            with tqdm(total=sum(counts.values()), desc="drawing", unit=" files") as bar:
                for split, count in counts.items():
                    _write_split(draft, split, count, seed, bar)
    return folder


def chain_captions(
    objects: list[tuple[str, str]], relations: list[str]
) -> tuple[str, str]:
    """Returns the two true captions of a chain: from its beginning, and from its end.

    Args:
      objects: colour and shape of each.
      relations: of each object to the next one, a key of `RELATIONS`; one fewer.
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


def _write_split(folder, split, count, seed, bar) -> None:
    names = phrases(COLOURS, SHAPES)
    images, captions, instances = [], [], []
    for n in range(count):
        rng = np.random.default_rng([seed, SPLITS.index(split), n])
        length = LENGTHS[n % len(LENGTHS)]
        objects = [names[k] for k in rng.integers(len(names), size=length)]
        relations = [list(RELATIONS)[k] for k in rng.integers(2, size=length - 1)]
        picture, boxes = _draw(objects, relations, rng)
        number = SPLITS.index(split) * 10_000_000 + n + 1
        name = f"CHAINS_{split}_{number:012d}.jpg"
        (folder / "images" / name).write_bytes(picture)
        images.append({"id": number, "file_name": name, "height": SIZE, "width": SIZE})
        captions += [
            {"image_id": number, "caption": text}
            for text in chain_captions(objects, relations)
        ]
        instances += [
            {"image_id": number, "category_id": names.index(what) + 1, "bbox": box,
             "area": box[2] * box[3], "iscrowd": 0}
            for what, box in zip(objects, boxes, strict=True)
        ]
        bar.update()
    categories = [
        {"id": k, "name": " ".join(name), "supercategory": name[1]}
        for k, name in enumerate(names, start=1)
    ]
    for kind, entries, more in (("captions", captions, {}),
                                ("instances", instances, {"categories": categories})):
        numbered = [{"id": k, **one} for k, one in enumerate(entries, start=1)]
        write_json(folder, f"{kind}_{split}", images, numbered, **more)


def _draw(objects, relations, rng) -> tuple[bytes, list[list[int]]]:
    """Returns a JPEG file, and a box `[x, y, width, height]` per object."""
    picture = drawing.backdrop(SIZE, rng)
    centres, radii = _places([shape for _, shape in objects], relations, rng)
    boxes = []
    for (colour, shape), centre, radius in zip(objects, centres, radii, strict=True):
        x0, y0, x1, y1 = drawing.paint(
            picture, shape=shape, colour=colour, centre=tuple(centre),
            radius=float(radius), rotation=rng.uniform(-0.3, 0.3),
        )
        boxes.append([x0, y0, x1 - x0 + 1, y1 - y0 + 1])
    return drawing.jpeg(drawing.photograph(picture, rng)), boxes


def _places(shapes, relations, rng) -> tuple[np.ndarray, np.ndarray]:
    """Returns centres [object, 2] and radii; none touches another or the edge."""
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
