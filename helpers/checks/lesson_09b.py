"""The check of lesson 09b: one program for many machines."""

import shutil
import tempfile
from pathlib import Path

import tensorflow as tf

from helpers.checks.report import answering, drawn, exercise, shown


@exercise(
    "Exercise 1: read_on",
    "`reader.py` keeps its place: what does it give to `tf.train.Checkpoint`, and what "
    "is the first thing that it does with its manager?",
    "iterator = iter(dataset)",
)
def check_read_on(attempt):
    """Reads in several lives, from data sets that are built anew for each.

    Args:
      attempt: `(dataset, folder, count)` to the next `count` numbers.
    """
    for case in drawn(_reading, how_many=6):
        with tempfile.TemporaryDirectory() as folder:
            yield from _lives(attempt, Path(folder), *case)


def _reading(rng, size):
    """How the data set is made, and how many elements each life reads."""
    counts = rng.integers(1, 3 + size, 2 + size // 3).tolist()
    order = int(rng.integers(100)) if size > 2 else None
    return _dataset(int(sum(counts) + rng.integers(1, 5)), order), counts


def _dataset(elements, order):
    def make():
        dataset = tf.data.Dataset.range(elements).map(lambda n: 3 * n + 1)
        return dataset if order is None else dataset.shuffle(5, seed=order)

    kind = "" if order is None else f".shuffle(5, seed={order})"
    return make, f"a data set of {elements} elements{kind}"


def _lives(attempt, folder, dataset, counts):
    make, name = dataset
    due, read = [int(value) for value in make()], 0
    for life, count in enumerate(counts):
        found = _numbers(attempt(make(), str(folder / "new" / "place"), count))
        yield ("each life goes on where the last one ended",
               found == due[read : read + count],
               f"{name}, lives of {counts}: in life {life + 1} "
               f"{shown(due[read:read + count], found)}.")
        read += count
    other = _numbers(attempt(make(), str(folder / "other"), 1))
    yield ("another folder is another place", other == due[:1],
           f"a new folder began with {other}, {name} with {due[:1]}.")
    shutil.rmtree(folder / "new", ignore_errors=True)
    again = _numbers(attempt(make(), str(folder / "new" / "place"), 1))
    yield ("the place is in the folder", again == due[:1],
           f"the folder was removed, and reading began with {again}: the place was "
           "kept elsewhere.")


def _numbers(values) -> list[int]:
    with answering("the numbers that you return"):
        return [int(value) for value in values]
