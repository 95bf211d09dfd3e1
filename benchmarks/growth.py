"""How the time grows with the work: milliseconds at 1, 2, 4 and 8 times as much.

python3 course.py bench growth            # some minutes
python3 course.py bench growth --quick    # tiny: does it run?

The exponent is the slope of a line through the logarithms: 1 where twice the work
takes twice the time, 2 where it takes four times. The quickest of the rounds counts:
a machine that does other things beside only adds to a time.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import tensorflow.compat.v1 as tf1
from matplotlib import pyplot

from benchmarks.rounds import Table, options_of
from helpers import inherited, plots, records, towers
from helpers.captions import Vocabulary
from helpers.files import ROOT

TIMES = (1, 2, 4, 8)
GOAL = 1.3  # what an exponent stays under


def graph_of_ends(count: int) -> tf1.Graph:
    """Returns a graph in which one placeholder feeds so many ops."""
    with tf1.Graph().as_default() as graph:
        x = tf1.placeholder("float32", [], name="x")
        for number in range(count):
            tf1.negative(x, name=f"end_{number}")
    return graph


def chain(count: int, boxes: int = 1) -> tf1.Graph:
    """Returns a graph of so many ops, one after the other, in some scopes."""
    with tf1.Graph().as_default() as graph:
        y = tf1.placeholder("float32", [], name="x")
        for box in range(boxes):
            with tf1.name_scope(f"box_{box}"):
                for _ in range(count // boxes):
                    y = tf1.tanh(y)
    return graph


def frozen(graph: tf1.Graph, folder: Path) -> Path:
    path = folder / "graph.pb"
    path.write_bytes(graph.as_graph_def().SerializeToString())
    return path


def describe(folder: Path, count: int) -> Callable:
    """A frozen graph with so many ends."""
    return partial(inherited.describe, frozen(graph_of_ends(count), folder))


def open_model(folder: Path, count: int) -> Callable:
    """A frozen graph that is a chain of so many ops, opened and run once."""
    path = frozen(chain(count), folder)

    def work():
        with inherited.open_model(path) as model:
            model(x=np.float32(1))

    return work


def write_shards(folder: Path, count: int) -> Callable:
    """So many records into four shards."""
    payload = records.make_example(b"p" * 200, 1).SerializeToString()
    return lambda: records.write_shards(
        (payload for _ in range(count)), folder / "set", 4, seed=1)


def check_shards(folder: Path, count: int) -> Callable:
    """Four shards of so many records."""
    write_shards(folder, count)()
    return partial(records.check_shards, folder / "set")


def process_gradient_list(_: Path, count: int) -> Callable:
    """The average of four towers with so many variables: its ops are built."""
    with tf1.Graph().as_default() as graph:
        variables = [tf1.get_variable(f"v{n}", [2]) for n in range(count)]
        gradients = [[(tf1.ones([2]), v) for v in variables] for _ in range(4)]

    def work():
        with graph.as_default():
            towers.process_gradient_list(gradients)

    return work


def draw_graph(_: Path, count: int) -> Callable:
    """A graph of so many ops, collapsed into ten boxes."""
    graph = chain(count, boxes=10)
    return lambda: pyplot.close(plots.draw_graph(graph))


def vocabulary(_: Path, count: int) -> Callable:
    """So many captions, a new word in each, counted and encoded."""
    captions = [f"a grey word{number} waits on a shelf" for number in range(count)]

    def work():
        words = Vocabulary.build(captions, min_count=1)
        for caption in captions:
            words.encode(caption)

    return work


def port(folder: Path, count: int) -> Callable:
    """Returns a report on a program with so many functions of TensorFlow 1."""
    one = "def f{0}(x):\n    with tf.name_scope('s{0}'):\n        return tf.log(x)\n"
    functions = "".join(map(one.format, range(count)))
    path = folder / "program.py"
    path.write_text(f"import tensorflow as tf\n{functions}")

    # A process of its own, since the course does not import the tools for old code.
    command = [sys.executable, "-S", ROOT / "legacy" / "tf1.py", "port", path]
    return partial(subprocess.run, command, check=True, stdout=subprocess.DEVNULL)


# What is measured, given a folder and how much work, and how much is the least work:
# enough that it takes longer than what every call begins with.
CONTESTANTS: dict[str, tuple[Callable[[Path, int], Callable], int]] = {
    "describe": (describe, 2000),
    "open_model": (open_model, 1000),
    "write_shards": (write_shards, 10_000),
    "check_shards": (check_shards, 20_000),
    "process_gradient_list": (process_gradient_list, 50),
    "draw_graph": (draw_graph, 2000),
    "vocabulary": (vocabulary, 20_000),
    "port": (port, 2000),
}


def exponent(work: list[int], seconds: list[float]) -> float:
    """Returns the slope of the line through the logarithms of both."""
    return float(np.polyfit(np.log(work), np.log(seconds), 1)[0])


def seconds(name: str, size: int) -> float:
    """Returns how long one call takes; what it needs is made before."""
    with tempfile.TemporaryDirectory() as folder:
        work = CONTESTANTS[name][0](Path(folder), size)
        start = time.perf_counter()
        work()
        return time.perf_counter() - start


def measured(name: str, least: int, rounds: int) -> dict[str, float]:
    """Returns the milliseconds at each size, and the exponent, by column."""
    seconds(name, 20)  # imports, once
    sizes = [least * n for n in TIMES]
    found = [1000 * min(seconds(name, size) for _ in range(rounds)) for size in sizes]
    columns = {f"ms at {n}": value for n, value in zip(TIMES, found, strict=True)}
    return {"work": least, **columns, "exponent": exponent(sizes, found)}


def main(arguments: list[str]) -> Table:
    """Measures what is named, or everything."""
    parser = options_of("growth", rounds=3)
    parser.add_argument("--only", choices=list(CONTESTANTS), action="append")
    options = parser.parse_args(arguments)
    rows = {}
    for name in options.only or CONTESTANTS:
        least, rounds = CONTESTANTS[name][1], options.rounds
        if options.quick:
            least, rounds = max(1, least // 20), 1
        rows[name] = measured(name, least, rounds)
        print(f"{name}: exponent {rows[name]['exponent']:.2f}", file=sys.stderr)
    worst = max(rows, key=lambda name: rows[name]["exponent"])
    met = "met" if rows[worst]["exponent"] < GOAL else "NOT MET"
    note = f"steepest: {worst}, {rows[worst]['exponent']:.2f}; goal under {GOAL}: {met}"
    return Table("milliseconds at 1, 2, 4 and 8 times the work", rows, (note,))
