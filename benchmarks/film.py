"""What filming costs: steps of about 20 ms with a film and without, in one run.

    python3 course.py bench film [--quick]

A pipeline of four queues feeds a step of matrix products. Each turn trains once
without a film and once with one, in sessions of their own; the median step of each
side is shown. Promised: filming costs under 5 % of a step of 20 ms.
"""

import argparse
import statistics
import time

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.queues import film, running_queues

SIDE, STEP = 400, 0.02  # of a matrix; seconds of a step


def pipeline(products: int) -> tuple[tf.Graph, tf.Tensor]:
    """Returns a graph of four queues, and a step that takes from the last."""
    with tf.Graph().as_default() as graph:
        item = tf.random.uniform([SIDE])
        for capacity in (40, 30, 20):
            item = tf1.train.batch([item], 1, capacity=capacity)[0]
        matrix = tf1.train.shuffle_batch([item], SIDE // 10, 200, 100)
        matrix = tf.tile(matrix, [10, 1])
        for _ in range(products):
            matrix = tf.nn.l2_normalize(matrix @ matrix)
        return graph, tf.reduce_sum(matrix)


def step_seconds(products: int, steps: int, filmed: bool) -> float:
    """Returns the median seconds of a step."""
    graph, step = pipeline(products)
    seconds = []
    with tf1.Session(graph=graph) as session:
        if filmed:
            with film(session, step), running_queues(session) as runner:
                seconds = timed(runner, step, steps)
        else:
            with running_queues(session) as runner:
                seconds = timed(runner, step, steps)
    return statistics.median(seconds)


def timed(runner, step: tf.Tensor, steps: int) -> list[float]:
    """Returns the seconds of each step; the first ones, which fill, are left out."""
    seconds = []
    for k in range(steps + 3):
        start = time.perf_counter()
        runner.run(step)
        if k >= 3:
            seconds.append(time.perf_counter() - start)
    return seconds


def main(arguments: list[str] | None = None) -> None:
    """Compares the two sides and prints one line."""
    parser = argparse.ArgumentParser(prog="course.py bench film",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small: does it run?")
    quick = parser.parse_args(arguments).quick
    turns, steps = (1, 5) if quick else (9, 60)
    one = step_seconds(20, steps, filmed=False) / 20
    products = max(1, round(STEP / one))
    sides = [(step_seconds(products, steps, filmed=False),
              step_seconds(products, steps, filmed=True)) for _ in range(turns)]
    bare, filmed = (statistics.median(side) for side in zip(*sides, strict=True))
    ratio = statistics.median(after / before for before, after in sides)
    print(f"a step of {1e3 * bare:.1f} ms, filmed {1e3 * filmed:.1f} ms: "
          f"{100 * (ratio - 1):+.1f} % (promised: under 5 %)")


if __name__ == "__main__":
    main()
