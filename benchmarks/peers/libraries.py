"""Contestants of other packages, run by the Python of `.venv-rivals`.

  limit OpenCV        decodes pictures in memory, in as many threads as cores
  limit OpenCV files  reads files and decodes them, in as many threads as cores
  grain               shuffles, decodes and batches pictures in memory, by threads
  torch               a DataLoader, in as many processes as cores

OpenCV decodes by libjpeg-turbo; all that decode here use it. None reads records: the
JPEGs are files, read before the clock runs (but for `limit OpenCV files`).
"""

import itertools
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from benchmarks.rounds import options_of, report

BATCH = 64
NEEDS = {
    "limit OpenCV": ["cv2"], "limit OpenCV files": ["cv2"],
    "grain": ["cv2", "grain"], "torch": ["cv2", "torch"],
}


def decoded(contents: bytes, size: int) -> np.ndarray:
    """Returns a picture as float32 [size, size, 3] in [-1, 1]."""
    import cv2

    image = cv2.imdecode(np.frombuffer(contents, np.uint8), cv2.IMREAD_COLOR_RGB)
    if len(image) != size:
        image = cv2.resize(image, (size, size))
    pixels = np.subtract(image, 127.5, dtype=np.float32)
    pixels /= 127.5
    return pixels


def by_threads(contents: list[bytes], size: int) -> Iterator[int]:
    """Yields how many pictures a batch holds."""
    import cv2

    cv2.setNumThreads(1)  # a thread of ours per core, none of OpenCV's
    cores = os.cpu_count() or 1
    order = itertools.cycle(contents)
    batch = np.empty([BATCH, size, size, 3], np.float32)

    def fill(places, rows):
        for place, row in zip(places, rows, strict=True):
            batch[place] = decoded(row, size)

    with ThreadPoolExecutor(cores) as pool:
        while True:
            rows = list(itertools.islice(order, BATCH))
            parts = np.array_split(np.arange(BATCH), cores)
            work = [pool.submit(fill, part, [rows[k] for k in part]) for part in parts]
            for one in work:
                one.result()
            yield BATCH


def by_grain(contents: list[bytes], size: int) -> Iterator[int]:
    """Yields how many pictures a batch holds."""
    import cv2
    import grain

    cv2.setNumThreads(1)
    rows = grain.MapDataset.source(contents).seed(1).shuffle().repeat()
    pictures = rows.map(lambda row: decoded(row, size)).to_iter_dataset(
        grain.ReadOptions(num_threads=os.cpu_count(), prefetch_buffer_size=4 * BATCH)
    )
    for batch in pictures.batch(BATCH, drop_remainder=True):
        yield len(batch)


def by_torch(contents: list[bytes], size: int) -> Iterator[int]:
    """Yields how many pictures a batch holds."""
    from torch.utils.data import DataLoader, Dataset

    class Pictures(Dataset):
        def __len__(self):
            return 1_000_000  # as good as without end

        def __getitem__(self, number):
            return decoded(contents[number % len(contents)], size)

    for batch in DataLoader(Pictures(), BATCH, shuffle=True, drop_last=True,
                            num_workers=os.cpu_count()):
        yield len(batch)


WAYS = {"limit OpenCV": by_threads, "grain": by_grain, "torch": by_torch}


def check_files(paths: list[Path]) -> int:
    """Reads and decodes all files; returns their number."""
    import cv2

    cv2.setNumThreads(1)
    flags = cv2.IMREAD_COLOR_RGB

    def check(path):
        return cv2.imdecode(np.frombuffer(path.read_bytes(), np.uint8), flags).size > 0

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return sum(pool.map(check, paths))


def main(arguments: list[str]) -> None:
    """Runs the contestant that `--one` names."""
    parser = options_of("rivals", NEEDS)
    parser.add_argument("--folder", type=Path, required=True, help="of the JPEGs")
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--batches", type=int, default=1)
    options = parser.parse_args(arguments)
    paths = sorted(options.folder.rglob("*.[jJ][pP]*[gG]"))
    if options.one == "limit OpenCV files":
        import cv2  # noqa: F401  before the clock runs

        report(lambda: check_files(paths))
        return
    contents = [path.read_bytes() for path in paths]
    batches = WAYS[options.one](contents, options.size)
    take(batches, max(2, options.batches // 10))  # the warm-up
    report(lambda: take(batches, options.batches))
    batches.close()


def take(batches: Iterator[int], count: int) -> int:
    """Returns how many pictures `count` batches hold."""
    return sum(itertools.islice(batches, count))


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
