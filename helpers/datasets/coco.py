"""Downloads the annotations of COCO 2017 and a random selection of its pictures.

The complete dataset takes 20 GB, for which a laptop rarely has room. The annotations
are therefore downloaded as the single archive in which they are published, and each
picture separately.
"""

import json
import random
import shutil
import zipfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from tqdm import tqdm

from helpers.arguments import numbers, whole
from helpers.datasets.downloads import Download, fetch_bytes
from helpers.errors import DataError
from helpers.files import data_folder, whole_file
from helpers.reading import FILE_NAME, read_json

_OFFLINE = 'grab_captions("drawn")'
# Two addresses of one bucket; its own name has no valid certificate for HTTPS.
_SERVERS = (
    "https://s3.amazonaws.com/images.cocodataset.org",
    "http://images.cocodataset.org",
)
ARCHIVE = Download(
    name="annotations_trainval2017.zip",
    urls=tuple(
        f"{server}/annotations/annotations_trainval2017.zip" for server in _SERVERS
    ),
    size=252_907_541,
    digest="sha256:113a836d90195ee1f884e704da6304dfaaecff1f023f49b6ca93c4aaae470268",
    offline=_OFFLINE,
)
TRAIN, VAL = "train2017", "val2017"
MEAN_BYTES = 163_500  # per picture, from the size of the training archive
THREADS = 4  # for parallel downloads


@numbers(pictures=whole())
def fetch_coco(pictures: int) -> Path:
    """Downloads the annotations of COCO and a fixed random sample of pictures.

    The pictures are drawn at random, but always in the same order, so a larger number
    keeps those that exist. The function first prints the size of the download.

    Args:
      pictures: Number of training pictures. A tenth as many validation pictures are
        downloaded too.

    Returns:
      The path `data/coco-download`, which contains `annotations/`, `train2017/`, and
      `val2017/`. The annotations are those of the chosen pictures, without outlines.

    Raises:
      DataError: If something cannot be downloaded. The message names it and the cause.
        Downloaded files are kept.
      ValueError, TypeError: If `pictures` is not a whole number above 0.
    """
    counts = {TRAIN: pictures, VAL: -(-pictures // 10)}
    if not all(_is_chosen(split, count) for split, count in counts.items()):
        _announce(counts)
        archive = ARCHIVE.fetch()
        for split, count in counts.items():
            _choose(archive, split, count)
    chosen = [path for split in counts for path in _listed(split)]
    missing = [path for path in chosen if not path.is_file()]
    if missing:
        print(
            f"{len(missing):,} of {len(chosen):,} COCO pictures are missing. "
            f"Downloading about {len(missing) * MEAN_BYTES:,} bytes."
        )
        _fetch_all(missing, len(chosen))
    return _folder()


def read_notes(path: Path, shape: Any) -> Any:
    """Reads a COCO annotation file and leaves out the outlines of objects.

    COCO's files contain a gigabyte of outlines, which no function here uses.

    Args:
      path: Path of the file.
      shape: Expected structure, as in `read_json`.

    Raises:
      DataError: If the file does not have this structure. The message says where.
    """
    remedy = "Unpack or download the file of COCO again."
    return read_json(path, shape, remedy, _without_outline)


def _without_outline(entry: dict) -> dict:
    entry.pop("segmentation", None)
    return entry


def _folder() -> Path:
    return data_folder() / "coco-download"


def _notes(kind: str, split: str) -> Path:
    return _folder() / "annotations" / f"{kind}_{split}.json"


def _announce(counts: dict[str, int]) -> None:
    """Prints the size of the download, and raises `DataError` if the disk is full."""
    there = data_folder() / "downloads" / ARCHIVE.name
    first = 0 if there.is_file() else ARCHIVE.size
    count = sum(counts.values())
    total = first + MEAN_BYTES * count
    print(
        f"Downloading about {total / 1e6:,.0f} MB: {first:,} bytes of COCO annotations "
        f"and {count:,} images."
    )
    free = shutil.disk_usage(data_folder()).free
    if free < total:
        raise DataError(
            f"Not enough disk space in {_folder()}: {total:,} bytes needed, {free:,} "
            "free. Free some space, or request fewer pictures."
        )


def _is_chosen(split: str, count: int) -> bool:
    """Returns whether the annotations of `count` pictures have been written."""
    try:
        captions = read_notes(_notes("captions", split), {"info": {"chosen": int}})
    except DataError:
        return False
    return captions["info"]["chosen"] == count


def _choose(archive: Path, split: str, count: int) -> None:
    """Writes the annotations of `count` randomly chosen pictures with captions."""
    with zipfile.ZipFile(archive) as file:  # verified, so `read_json` is not needed
        captions, instances = (
            json.loads(file.read(f"annotations/{kind}_{split}.json"),
                       object_hook=_without_outline)
            for kind in ("captions", "instances")
        )
    images = {entry["id"]: entry for entry in captions["images"]}
    with_captions = {entry["image_id"] for entry in captions["annotations"]}
    captioned = sorted(with_captions & set(images))
    random.Random(7).shuffle(captioned)
    chosen = set(captioned[:count])
    # The captions are written last, because they mark the selection as complete.
    for kind, content in (("instances", instances), ("captions", captions)):
        kept = {
            "info": {"description": "chosen from COCO 2017", "chosen": count},
            "images": [entry for number, entry in images.items() if number in chosen],
            "annotations": [
                entry for entry in content["annotations"] if entry["image_id"] in chosen
            ],
            "categories": content.get("categories", []),
        }
        with whole_file(_notes(kind, split)) as temporary:
            temporary.write_text(json.dumps(kept))


def _listed(split: str) -> list[Path]:
    """Returns the paths of a split's chosen pictures, which may not exist yet."""
    shape = {"images": [{"file_name": FILE_NAME}]}
    images = read_notes(_notes("captions", split), shape)["images"]
    return [_folder() / split / image["file_name"] for image in images]


def _fetch_all(missing: list[Path], total: int) -> None:
    """Downloads pictures in parallel, and stops at the first failure."""
    there = total - len(missing)
    with (
        tqdm(total=total, initial=there, desc="COCO", unit=" pictures") as bar,
        ThreadPoolExecutor(THREADS) as pool,
    ):
        waiting = [pool.submit(_fetch, picture) for picture in missing]
        try:
            for future in as_completed(waiting):
                future.result()
                bar.update()
        except DataError as error:
            pool.shutdown(cancel_futures=True)
            have = there + sum(path.is_file() for path in missing)
            raise DataError(
                f"{error} Kept the {have:,} of {total:,} pictures that arrived. Try "
                f"again to resume the download, or use {_OFFLINE}, which needs no "
                "network."
            ) from error
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _fetch(path: Path) -> None:
    """Downloads one picture, and saves it only if it can be decoded."""
    from helpers.jpeg import check_jpeg  # imports TensorFlow

    causes = []
    for server in _SERVERS:
        try:
            contents = fetch_bytes(f"{server}/{path.parent.name}/{path.name}")
            check_jpeg(contents, path.name)
            with whole_file(path) as temporary:
                temporary.write_bytes(contents)
            return
        except DataError as error:
            causes.append(str(error))
    raise DataError(" ".join(causes))
