"""The check of lesson 09b: one program for many machines."""

import shutil
import tempfile
from pathlib import Path

import tensorflow as tf

from helpers.checks.claims import answering, drawn, exercise, same


@exercise(
    "Exercise 1: read_on",
    "`reader.py` keeps its place: what does it give to `tf.train.Checkpoint`?",
    "begin with `iterator = iter(dataset)` and `place = "
    "tf.train.Checkpoint(iterator=iterator)`. What is left: a manager in the folder, "
    "its restore, `count` elements, and its save.",
)
def check_read_on(attempt):
    """Reads by `(dataset, folder, count)` in several lives, each anew."""
    for counts, make, name in drawn(_reading, how_many=6):
        due, read = [int(value) for value in make()], 0
        with tempfile.TemporaryDirectory() as base:
            folder = Path(base, "new", "place")
            for life, count in enumerate(counts):
                found = _numbers(attempt(make(), str(folder), count))
                yield same("each life goes on where the last one ended",
                           due[read : read + count], found,
                           f"{name}, lives of {counts}, in life {life + 1}")
                read += count
            folder.mkdir(parents=True, exist_ok=True)
            moved = str(shutil.move(folder, Path(base, "moved")))
            yield same("the place is in the folder", due[read : read + 1],
                       _numbers(attempt(make(), moved, 1)), f"{name}, after it moved")
            yield same("the place is in the folder", due[:1],
                       _numbers(attempt(make(), str(folder), 1)),
                       f"{name}, after its folder was gone")


def _reading(rng, size):
    """Draws how many elements each life reads, and what makes the data set."""
    counts = rng.integers(1, 3 + size, 2 + size // 3).tolist()
    order = int(rng.integers(100)) if size > 2 else None
    elements = int(sum(counts) + rng.integers(1, 5))

    def make():
        dataset = tf.data.Dataset.range(elements).map(lambda n: 3 * n % 7)
        return dataset if order is None else dataset.shuffle(5, seed=order)

    return counts, make, f"a data set of {elements} elements, shuffled by {order}"


def _numbers(values):
    with answering("the numbers that you return"):
        return [*map(int, values)] if isinstance(values, list) else values
