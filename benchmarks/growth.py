"""How the time grows with the work: milliseconds at 1, 2, 4 and 8 times as much.

python3 course.py bench growth            # some minutes
python3 course.py bench growth --quick    # tiny: does it run?

The exponent is the slope of a line through the logarithms: 1 where twice the work
takes twice the time, 2 where it takes four times. The quickest of the rounds counts:
a machine that does other things beside only adds to a time.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.rounds import Table

TIMES = (1, 2, 4, 8)
GOAL = 1.3  # what an exponent stays under


@contextmanager
def timed(seconds: list[float]) -> Iterator[None]:
    """Appends how long the block took."""
    start = time.perf_counter()
    yield
    seconds.append(time.perf_counter() - start)


def graph_of_ends(count: int):
    """Returns a graph in which one placeholder feeds so many ops."""
    import tensorflow.compat.v1 as tf1

    with tf1.Graph().as_default() as graph:
        x = tf1.placeholder("float32", [], name="x")
        for number in range(count):
            tf1.negative(x, name=f"end_{number}")
    return graph


def frozen_file(folder: Path, count: int) -> Path:
    path = folder / "graph.pb"
    path.write_bytes(graph_of_ends(count).as_graph_def().SerializeToString())
    return path


def describe(folder: Path, count: int, seconds: list[float]) -> None:
    """A frozen graph with so many ends."""
    from helpers import inherited

    path = frozen_file(folder, count)
    with timed(seconds):
        inherited.describe(path)


def open_model(folder: Path, count: int, seconds: list[float]) -> None:
    """A frozen graph that is a chain of so many ops, opened and run once."""
    import tensorflow.compat.v1 as tf1

    from helpers import inherited

    with tf1.Graph().as_default() as graph:
        y = tf1.placeholder("float32", [], name="x")
        for _ in range(count):
            y = tf1.tanh(y)
    path = folder / "chain.pb"
    path.write_bytes(graph.as_graph_def().SerializeToString())
    with timed(seconds), inherited.open_model(path) as model:
        model(x=np.float32(1))


def some_records(count: int) -> Iterator[bytes]:
    from helpers import records

    payload = records.make_example(b"p" * 200, 1).SerializeToString()
    return (payload for _ in range(count))


def write_shards(folder: Path, count: int, seconds: list[float]) -> None:
    """So many records into four shards."""
    from helpers import records

    with timed(seconds):
        records.write_shards(some_records(count), folder / "set", 4, seed=1)


def check_shards(folder: Path, count: int, seconds: list[float]) -> None:
    """Four shards of so many records."""
    from helpers import records

    records.write_shards(some_records(count), folder / "set", 4, seed=1)
    with timed(seconds):
        records.check_shards(folder / "set")


def process_gradient_list(folder: Path, count: int, seconds: list[float]) -> None:
    """The average of four towers with so many variables: its ops are built."""
    import tensorflow.compat.v1 as tf1

    from helpers import towers

    del folder
    with tf1.Graph().as_default():
        variables = [tf1.get_variable(f"v{n}", [2]) for n in range(count)]
        gradients = [[(tf1.ones([2]), v) for v in variables] for _ in range(4)]
        with timed(seconds):
            towers.process_gradient_list(gradients)


def draw_graph(folder: Path, count: int, seconds: list[float]) -> None:
    """A graph of so many ops, collapsed into ten boxes."""
    import tensorflow.compat.v1 as tf1
    from matplotlib import pyplot

    from helpers import plots

    del folder
    with tf1.Graph().as_default() as graph:
        y = tf1.placeholder("float32", [], name="x")
        for box in range(10):
            with tf1.name_scope(f"box_{box}"):
                for _ in range(count // 10):
                    y = tf1.negative(y)
    with timed(seconds):
        pyplot.close(plots.draw_graph(graph))


def vocabulary(folder: Path, count: int, seconds: list[float]) -> None:
    """So many captions, a new word in each, counted and encoded."""
    from helpers.captions import Vocabulary

    del folder
    captions = [f"a grey word{number} waits on a shelf" for number in range(count)]
    with timed(seconds):
        words = Vocabulary.build(captions, min_count=1)
        for caption in captions:
            words.encode(caption)


def port(folder: Path, count: int, seconds: list[float]) -> None:
    """The report on a program of so many functions of TensorFlow 1."""
    import contextlib
    import io

    from tools.port import main as report

    one = "def f{0}(x):\n    with tf.name_scope('s{0}'):\n        return tf.log(x)\n"
    functions = "".join(map(one.format, range(count)))
    path = folder / "program.py"
    path.write_text(f"import tensorflow as tf\n{functions}")
    with timed(seconds), contextlib.redirect_stdout(io.StringIO()):
        report([str(path)])


# What is measured, and how much is the least work: enough that it takes longer than
# what every call begins with.
CONTESTANTS: dict[str, tuple[Callable[[Path, int, list[float]], None], int]] = {
    "describe": (describe, 2000),
    "open_model": (open_model, 1000),
    "write_shards": (write_shards, 10_000),
    "check_shards": (check_shards, 20_000),
    "process_gradient_list": (process_gradient_list, 50),
    "draw_graph": (draw_graph, 2000),
    "vocabulary": (vocabulary, 20_000),
    "port": (port, 500),
}

def exponent(work: list[int], seconds: list[float]) -> float:
    """Returns the slope of the line through the logarithms of both."""
    return float(np.polyfit(np.log(work), np.log(seconds), 1)[0])


def measured(name: str, rounds: int, quick: bool) -> dict[str, float]:
    """Returns the seconds at each size, and the exponent, by column."""
    run, least = CONTESTANTS[name]
    sizes = [max(1, least // 20 if quick else least) * n for n in TIMES]
    found = []
    for size in sizes:
        seconds: list[float] = []
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as folder:
                run(Path(folder), size, seconds)
        found.append(1000 * min(seconds))
    columns = {f"ms at {n}": value for n, value in zip(TIMES, found, strict=True)}
    return {"work": sizes[0], **columns, "exponent": exponent(sizes, found)}


def main(arguments: list[str]) -> Table:
    """Measures what is named, or everything."""
    parser = argparse.ArgumentParser(prog="course.py bench growth")
    parser.add_argument("--quick", action="store_true", help="small: does it run?")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=list(CONTESTANTS), action="append")
    options = parser.parse_args(arguments)
    rows = {}
    for name in options.only or CONTESTANTS:
        with tempfile.TemporaryDirectory() as folder:
            CONTESTANTS[name][0](Path(folder), 20, [])  # imports, once
        rounds = 1 if options.quick else options.rounds
        rows[name] = measured(name, rounds, options.quick)
        print(f"{name}: exponent {rows[name]['exponent']:.2f}", file=sys.stderr)
    worst = max(rows, key=lambda name: rows[name]["exponent"])
    met = "met" if rows[worst]["exponent"] < GOAL else "NOT MET"
    note = f"steepest: {worst}, {rows[worst]['exponent']:.2f}; goal under {GOAL}: {met}"
    return Table("milliseconds at 1, 2, 4 and 8 times the work", rows, (note,))


if __name__ == "__main__":
    print(main(sys.argv[1:]))
