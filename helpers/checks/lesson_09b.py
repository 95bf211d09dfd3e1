"""Exercise check of lesson 09b: a dataset iterator that resumes from a checkpoint."""

import shutil
import tempfile
from pathlib import Path

import tensorflow as tf

from helpers.checks.claims import answering, drawn, exercise, same


@exercise(
    "Exercise 1: read_on",
    "The program `reader.py` keeps its place. What does it pass to "
    "`tf.train.Checkpoint`?",
    "Begin with `iterator = iter(dataset)` and `place = "
    "tf.train.Checkpoint(iterator=iterator)`. What is left is a manager in the folder, "
    "its restore, `count` elements, and its save.",
    about={
        "continues where the last call ended": (
            "Restore before you read, and save after it. A new iterator that skips "
            "elements is no help, because a shuffle may give it another order."),
        "keeps its place in the folder, and nowhere else": (
            "A new process knows none of your variables, and the folder may have "
            "another name by then. So all files belong into the folder, and none of "
            "them may contain its path."),
    },
)
def check_read_on(attempt):
    """Checks that each call continues to read where the last one ended.

    Each call stands for a new process. In every second case, all calls get the same
    dataset object, which shuffles anew for each iterator that starts from the
    beginning.
    """
    for case, (counts, make, name) in enumerate(drawn(_reading, how_many=6)):
        due, read = [int(value) for value in make()], 0
        once = make()
        name += ", the same object in each life" if case % 2 else ""
        with tempfile.TemporaryDirectory() as base:
            folder = Path(base, "new", "place")
            for life, count in enumerate(counts):
                dataset = once if case % 2 else make()
                with answering(f"for {name}, in call {life + 1}"):
                    found = _numbers(attempt(dataset, str(folder), count))
                yield same("continues where the last call ended",
                           due[read : read + count], found,
                           f"for {name}, with calls for {counts} elements, in call "
                           f"{life + 1}")
                read += count
            folder.mkdir(parents=True, exist_ok=True)
            moved = str(shutil.move(folder, Path(base, "moved")))
            with answering(f"for {name}, after the folder was moved"):
                found = _numbers(attempt(make(), moved, 1))
            yield same("keeps its place in the folder, and nowhere else",
                       due[read : read + 1], found,
                       f"for {name}, after the folder was moved")
            yield same("keeps its place in the folder, and nowhere else", due[:1],
                       _numbers(attempt(make(), str(folder), 1)),
                       f"for {name}, with a folder that does not exist yet")


def _reading(rng, size):
    """Draws the numbers of elements per call, and a function that makes the dataset."""
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
