"""The average of VGG-19's gradients over four towers, beside the memory's bandwidth.

    python3 course.py bench averaging            # 4 gradients of 575 MB each
    python3 course.py bench averaging --quick    # VGG-11, a sixteenth as wide

  ours          helpers.towers.process_gradient_list: checks that all is finite
  ours, kept    the same in a session that leaves add_n as it is
  add_n         tf.add_n over four, unchecked
  stack         the source's way: stack, then the mean
  numpy         adds up in place, in one thread
  limit triad   STREAM's triad, a + 3 b, by NumPy in as many threads as cores
  limit mean    the average itself, in blocks that stay in the cores' caches

An average must read every gradient and write the result; those bytes are counted,
whatever else is moved. Peak memory is that of the process; gradients and one result
are the least that it can hold. What the ops of one average allocate is traced.

Kept: where a graph may need more than 200 MB, TensorFlow's optimizer of memory makes
a variable of each add_n, fills it with zeros and adds each input in a pass of its own.
"""

import argparse
import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from benchmarks.results import Table
from benchmarks.rounds import commands, compared, compete, options_of, report

TOWERS, FLOAT, GIGA, SMALL = 4, 4, 1e9, 4
OURS, GOAL = ("ours", "ours, kept"), 0.7
BLOCK = 1 << 15  # values: three such blocks lie in a core's own cache


@functools.lru_cache
def shapes_of(base_width: int) -> list[list[int]]:
    """Returns the shapes of VGG-19's variables, for pictures of 224.

    The width `SMALL`, of `--quick` and of traces, takes VGG-11: fewer ops.
    """
    import tensorflow as tf
    import tensorflow.compat.v1 as tf1

    from helpers.vgg import vgg_net

    with tf.Graph().as_default():
        vgg_net(tf1.placeholder(tf.float32, [1, 224, 224, 3]),
                configuration="A" if base_width == SMALL else "E",
                base_width=base_width)
        return [v.shape.as_list() for v in tf1.trainable_variables()]


def moved_bytes(base_width: int) -> int:
    """Returns what one average must read and write."""
    values = sum(int(np.prod(shape)) for shape in shapes_of(base_width))
    return (TOWERS + 1) * values * FLOAT


def ours(gradients, variables):
    """Returns the averages."""
    from helpers.towers import process_gradient_list

    pairs = [list(zip(tower, variables, strict=True)) for tower in gradients]
    return [average for average, _ in process_gradient_list(pairs)]


def add_n(gradients, variables):
    """Returns the averages."""
    import tensorflow as tf

    return [tf.add_n(list(of)) / TOWERS for of in zip(*gradients, strict=True)]


def stack(gradients, variables):
    """Returns the averages."""
    import tensorflow as tf

    return [tf.reduce_mean(tf.stack(of), 0) for of in zip(*gradients, strict=True)]


def averaging(average: Callable, base_width: int, kept: bool = False):
    """Returns a session that holds gradients, and the ops of their averages."""
    import tensorflow as tf
    import tensorflow.compat.v1 as tf1

    shapes, held, read = shapes_of(base_width), [], []
    config = tf1.ConfigProto(device_count={"CPU": TOWERS})
    if kept:
        options = config.graph_options.rewrite_options
        options.memory_optimization = options.NO_MEM_OPT
    with tf.Graph().as_default() as graph:
        with tf.device("/cpu:0"):
            variables = [variable(shape, 0.0) for shape in shapes]
        for tower in range(TOWERS):
            # In variables, which are read without a copy. Tower k's are all k + 1.
            with tf.device(f"/cpu:{tower}"):
                held += [variable(shape, tower + 1.0) for shape in shapes]
                read.append([v.read_value() for v in held[-len(shapes):]])
        with tf.device("/cpu:0"):
            averages = average(read, variables)
        fill = [v.initializer for v in held]
    session = tf1.Session(graph=graph, config=config)
    session.run(fill)
    for found in session.run([averages[0], averages[-1]]):
        assert (found == 2.5).all(), "this is not the average"
    # The ops: fetched values would be handed on to Python.
    return session, [one.op for one in averages]


def in_graph(
    average: Callable, base_width: int, calls: int, kept: bool = False
) -> None:
    """Averages gradients that a session holds, and prints a `Result`."""
    session, averages = averaging(average, base_width, kept)
    with session:
        timed(session.make_callable(averages), base_width, calls)


def allocated(average: Callable, base_width: int = SMALL) -> float:
    """Returns what the ops of one average allocate, in sizes of its result."""
    from helpers.tracing import run_traced

    session, averages = averaging(average, base_width)
    with session:
        _, metadata = run_traced(session, averages)
    total = sum(
        memory.total_bytes for device in metadata.step_stats.dev_stats
        for node in device.node_stats for memory in node.memory
    )
    return total / (moved_bytes(base_width) / (TOWERS + 1))


def variable(shape: list[int], value: float):
    """Returns a variable that is read without a copy."""
    import tensorflow as tf
    import tensorflow.compat.v1 as tf1

    name = tf1.get_default_graph().unique_name("value")
    return tf1.get_variable(name, shape, tf.float32, trainable=False,
                            initializer=tf1.constant_initializer(value),
                            use_resource=True)


def timed(run: Callable, base_width: int, calls: int) -> None:
    """Prints the `Result` of some calls, in GB, after one to warm up."""
    run()

    def all_calls():
        for _ in range(calls):
            run()
        return calls * moved / GIGA

    moved = moved_bytes(base_width)
    report(all_calls)


def in_numpy(base_width: int, calls: int) -> None:
    """Averages arrays in one thread, and prints a `Result`."""
    shapes = shapes_of(base_width)
    held = [[np.full(s, k + 1, np.float32) for s in shapes] for k in range(TOWERS)]

    def run():
        averages = []
        for first, *others in zip(*held, strict=True):
            averages.append(first + others[0])
            for other in others[1:]:
                averages[-1] += other
            averages[-1] /= TOWERS
        return averages

    assert (run()[0] == 2.5).all()
    timed(run, base_width, calls)


def in_blocks(inputs: int, work: Callable, base_width: int, calls: int) -> None:
    """Moves as many bytes, a block after the other in each core; prints a `Result`.

    Args:
      inputs: arrays that are read; array k is all k + 1. One more is written.
      work: computes a block of the result, of blocks of the inputs.
      base_width: of VGG-19.
      calls: per round.
    """
    size = moved_bytes(base_width) // FLOAT // (inputs + 1)
    arrays = [np.full(size, k + 1, np.float32) for k in range(inputs)]
    out = np.zeros(size, np.float32)
    share = -(-size // (os.cpu_count() or 1))

    def part(start):
        for at in range(start, min(start + share, size), BLOCK):
            block = slice(at, min(at + BLOCK, start + share, size))
            work(out[block], *(array[block] for array in arrays))

    with ThreadPoolExecutor() as pool:
        timed(lambda: list(pool.map(part, range(0, size, share))), base_width, calls)
    assert (out == out[0]).all() and out[0] > 2


def triad(out, one, other):
    """Computes a block of STREAM's triad."""
    np.add(one, other * 3, out=out)


def mean(out, one, *others):
    """Computes a block of an average."""
    np.add(one, others[0], out=out)
    for other in others[1:]:
        out += other
    out /= TOWERS


CONTESTANTS = {
    "ours": functools.partial(in_graph, ours),
    "ours, kept": functools.partial(in_graph, ours, kept=True),
    "add_n": functools.partial(in_graph, add_n),
    "stack": functools.partial(in_graph, stack),
    "numpy": in_numpy, "limit triad": functools.partial(in_blocks, 2, triad),
    "limit mean": functools.partial(in_blocks, TOWERS, mean),
}


def main(arguments: list[str]) -> list[Table]:
    """Runs all contestants, or the one that `--one` names."""
    parser = options_of("averaging", CONTESTANTS)
    parser.add_argument("--base-width", type=int, default=64, help="of VGG-19")
    parser.add_argument("--calls", type=int, default=3, help="averages per round")
    options = parser.parse_args(arguments)
    if options.quick:
        options.rounds, options.base_width, options.calls = 1, SMALL, 1
    if options.one:
        CONTESTANTS[options.one](options.base_width, options.calls)
        return []
    return [table_of(options)]


def table_of(options: argparse.Namespace) -> Table:
    """Returns the table of all contestants."""
    arguments = ["--base-width", options.base_width, "--calls", options.calls]
    results = compete(commands("benchmarks.averaging", CONTESTANTS, arguments),
                      options.rounds, quick=options.quick)
    moved = moved_bytes(options.base_width)
    one = moved / (TOWERS + 1)
    notes = [f"gradients of four towers and one result: {moved / 1e6:,.0f} MB; "
             f"one result: {one / 1e6:,.0f} MB"]
    notes += [f"{average.__name__} allocates {allocated(average):.2f} results"
              for average in (ours, add_n, stack)]
    table = compared(f"an average moves {moved / GIGA:.2f} GB", results, OURS,
                     unit="GB")
    for name in OURS:
        reached = table.rows[name]["to limit"]
        notes.append(f"{name}: {reached:.2f} of the bandwidth (goal {GOAL}), "
                     f"{'reached' if reached >= GOAL else 'NOT REACHED'}")
    return table._replace(notes=tuple(notes))


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
