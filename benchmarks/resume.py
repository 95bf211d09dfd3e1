"""Saving and restoring VGG-19: ours with its checks, beside TensorFlow's own ways.

    python3 course.py bench resume            # 575 MB
    python3 course.py bench resume --quick    # the net a sixteenth as wide

  ours        helpers.checkpoints: refuses NaN; reads all of it before it restores
  Saver       tf1.train.Saver, as the towers document uses it
  Checkpoint  tf.train.Checkpoint, the way of TensorFlow 2
  limit       the same bytes written to one file, and read into memory, unchecked

What a disk takes from memory it writes later: so does what is saved here, in all of
the ways.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.averaging import shapes_of
from benchmarks.results import Table
from benchmarks.rounds import commands, compared, compete, options_of, report

OURS, MEGA, STEP = ("ours",), 1e6, 1
Shapes = list[list[int]]


def value_of(shapes: Shapes, number: int) -> np.ndarray:
    """Returns the random value of one variable."""
    return np.random.default_rng(number).random(shapes[number], np.float32)


class Graph:
    """Variables in a session, and a `Saver`."""

    def __init__(self, shapes: Shapes):
        import tensorflow as tf
        import tensorflow.compat.v1 as tf1

        with tf.Graph().as_default() as graph:
            self.variables = [
                tf1.get_variable(f"value_{number}", shape, use_resource=True)
                for number, shape in enumerate(shapes)
            ]
            self.saver = tf1.train.Saver(self.variables)
        self.session = tf1.Session(graph=graph)

    def set(self, number: int, value: np.ndarray) -> None:
        start = self.variables[number].initializer
        self.session.run(start, {start.inputs[1]: value})

    def get(self, number: int) -> np.ndarray:
        return self.session.run(self.variables[number])


class Ours(Graph):
    """Our way: numbered, checked, the newest whole one."""

    def save(self, folder: Path) -> None:
        from helpers.checkpoints import save_numbered

        save_numbered(self.saver, self.session, folder, STEP)

    def restore(self, folder: Path) -> None:
        from helpers.checkpoints import restore_latest

        assert restore_latest(self.saver, self.session, folder) == STEP


class Bare(Graph):
    """A `Saver` alone."""

    def save(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        with self.session.graph.as_default():  # else a Saver thinks it is eager
            self.saver.save(self.session, str(folder / "bare"), global_step=STEP,
                            write_meta_graph=False)

    def restore(self, folder: Path) -> None:
        import tensorflow.compat.v1 as tf1

        with self.session.graph.as_default():
            self.saver.restore(self.session, tf1.train.latest_checkpoint(str(folder)))


class Eager:
    """Variables without a graph, and a `Checkpoint`."""

    def __init__(self, shapes: Shapes):
        import tensorflow as tf

        self.variables = [tf.Variable(tf.zeros(shape)) for shape in shapes]
        self.checkpoint = tf.train.Checkpoint(values=self.variables)

    def set(self, number: int, value: np.ndarray) -> None:
        self.variables[number].assign(value)

    def get(self, number: int) -> np.ndarray:
        return self.variables[number].numpy()

    def save(self, folder: Path) -> None:
        self.checkpoint.write(str(folder / "eager"))

    def restore(self, folder: Path) -> None:
        self.checkpoint.read(str(folder / "eager")).assert_consumed()


class Plain:
    """Arrays, and one file of their bytes."""

    def __init__(self, shapes: Shapes):
        self.values = [np.empty(shape, np.float32) for shape in shapes]

    def set(self, number: int, value: np.ndarray) -> None:
        self.values[number][:] = value

    def get(self, number: int) -> np.ndarray:
        return self.values[number]

    def save(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        with open(folder / "plain", "wb") as file:
            for value in self.values:
                file.write(value)

    def restore(self, folder: Path) -> None:
        with open(folder / "plain", "rb") as file:
            for value in self.values:
                file.readinto(value)


CONTESTANTS = {"ours": Ours, "Saver": Bare, "Checkpoint": Eager, "limit": Plain}


def run_one(name: str, way: str, base_width: int, folder: Path) -> None:
    """Saves, or restores what another process saved, and prints a `Result` in MB."""
    shapes = shapes_of(base_width)
    size = size_of(shapes)
    one, last = CONTESTANTS[name](shapes), len(shapes) - 1
    if way == "save":
        for number in range(len(shapes)):
            one.set(number, value_of(shapes, number))

    def run():
        getattr(one, way)(folder / name)
        return size

    report(run)
    assert (one.get(last) == value_of(shapes, last)).all(), "this is not what was saved"


def size_of(shapes: Shapes) -> float:
    """Returns the MB of all values."""
    return sum(4 * int(np.prod(shape)) for shape in shapes) / MEGA


def main(arguments: list[str]) -> list[Table]:
    """Runs all contestants, or the one that `--one` names."""
    parser = options_of("resume", CONTESTANTS)
    parser.add_argument("--base-width", type=int, default=64, help="of VGG-19")
    parser.add_argument("--folder", type=Path, help="where to save; default: temporary")
    parser.add_argument("--way", choices=("save", "restore"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        run_one(options.one, options.way, options.base_width, options.folder)
        return []
    if options.quick:
        options.rounds, options.base_width = 1, 4
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        return [table_of(way, options, folder) for way in ("save", "restore")]


def table_of(way: str, options: argparse.Namespace, folder: str) -> Table:
    """Returns the table of saving, or of restoring what was saved."""
    arguments = ["--way", way, "--base-width", options.base_width, "--folder", folder]
    results = compete(commands("benchmarks.resume", CONTESTANTS, arguments),
                      options.rounds, quick=options.quick)
    size = size_of(shapes_of(options.base_width))
    table = compared(f"{way} {size:,.0f} MB", results, OURS, unit="MB")
    for row in table.rows.values():
        row["s"] = size / row["MB/s"]
    return table


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
