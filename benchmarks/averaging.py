"""The average of VGG-19's gradients over four towers, beside the memory's bandwidth.

    python3 course.py bench averaging            # 4 gradients of 575 MB each
    python3 course.py bench averaging --quick    # the net a sixteenth as wide

  ours          helpers.towers.process_gradient_list: checks that all is finite
  add_n         tf.add_n over four, unchecked
  stack         the source's way: stack, then the mean
  numpy         adds up in place, in one thread
  limit triad   STREAM's triad, a + 3 b, by NumPy in as many threads as cores
  limit sum     a + b by TensorFlow, whose result is new memory each time

An average must read every gradient and write the result; those bytes are counted,
whatever else is moved. Peak memory is that of the process; gradients and one result
are the least that it can hold.
"""

import argparse
import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from benchmarks.results import Table
from benchmarks.rounds import commands, compared, compete, options_of, report

TOWERS, FLOAT, GIGA = 4, 4, 1e9
OURS, GOAL = ("ours",), 0.7
BLOCK = 1 << 15  # values: three such blocks lie in a core's own cache


def shapes_of(base_width: int) -> list[list[int]]:
    """Returns the shapes of VGG-19's variables, for pictures of 224."""
    import tensorflow as tf
    import tensorflow.compat.v1 as tf1

    from helpers.vgg import vgg_net

    with tf.Graph().as_default():
        vgg_net(tf1.placeholder(tf.float32, [1, 224, 224, 3]), base_width=base_width)
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


def in_graph(average: Callable, base_width: int, calls: int) -> None:
    """Averages gradients that a session holds, and prints a `Result`."""
    import tensorflow as tf
    import tensorflow.compat.v1 as tf1

    shapes = shapes_of(base_width)
    with tf.Graph().as_default() as graph:
        variables = [variable(shape, 0.0) for shape in shapes]
        # In variables, which are read without a copy. Tower k's are all k + 1.
        held = [[variable(s, k + 1.0) for s in shapes] for k in range(TOWERS)]
        averages = average([[v.read_value() for v in tower] for tower in held],
                           variables)
        fill = [v.initializer for tower in held for v in tower]
    with tf1.Session(graph=graph) as session:
        session.run(fill)
        for found in session.run([averages[0], averages[-1]]):
            assert (found == 2.5).all(), "this is not the average"
        # The ops: fetched values would be handed on to Python.
        run = session.make_callable([one.op for one in averages])
        timed(run, base_width, calls)


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


def triad(base_width: int, calls: int) -> None:
    """Moves as many bytes by STREAM's triad, and prints a `Result`."""
    size = moved_bytes(base_width) // FLOAT // 3  # read two, write one
    one, other, out = (np.full(size, k, np.float32) for k in (1, 2, 0))
    share = -(-size // (os.cpu_count() or 1))

    def part(start):
        scaled = np.empty(BLOCK, np.float32)
        for at in range(start, min(start + share, size), BLOCK):
            block = slice(at, min(at + BLOCK, start + share, size))
            length = block.stop - at
            np.multiply(other[block], 3, out=scaled[:length])
            np.add(one[block], scaled[:length], out=out[block])

    with ThreadPoolExecutor() as pool:
        timed(lambda: list(pool.map(part, range(0, size, share))), base_width, calls)
    assert (out == 7).all()


def sum_of_two(base_width: int, calls: int) -> None:
    """Moves as many bytes by one sum of TensorFlow, and prints a `Result`."""
    import tensorflow as tf

    size = moved_bytes(base_width) // FLOAT // 3
    one, other = tf.fill([size], 1.0), tf.fill([size], 2.0)
    timed(lambda: one + other, base_width, calls)


CONTESTANTS = {
    "ours": functools.partial(in_graph, ours),
    "add_n": functools.partial(in_graph, add_n),
    "stack": functools.partial(in_graph, stack),
    "numpy": in_numpy, "limit triad": triad, "limit sum": sum_of_two,
}


def main(arguments: list[str]) -> list[Table]:
    """Runs all contestants, or the one that `--one` names."""
    parser = options_of("averaging", CONTESTANTS)
    parser.add_argument("--base-width", type=int, default=64, help="of VGG-19")
    parser.add_argument("--calls", type=int, default=3, help="averages per round")
    options = parser.parse_args(arguments)
    if options.quick:
        options.rounds, options.base_width, options.calls = 1, 4, 1
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
    table = compared(f"an average moves {moved / GIGA:.2f} GB", results, OURS,
                     unit="GB")
    reached = table.rows["ours"]["to limit"]
    notes.append(f"of the bandwidth: {reached:.2f} (goal {GOAL}), "
                 f"{'reached' if reached >= GOAL else 'NOT REACHED'}")
    return table._replace(notes=tuple(notes))


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
