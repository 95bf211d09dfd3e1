"""What filming costs: steps of about 20 ms with a film and without, in one run.

    python3 course.py bench film [--quick]

A pipeline of four queues feeds a step of matrix products. Each turn trains once
without a film and once with one, in sessions of their own, every second turn in
the other order; shown are medians over the turns. The aim: filming costs under 5 %
of a step of 20 ms.
"""

import contextlib
import time

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from benchmarks.results import Table
from benchmarks.rounds import options_of
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


def costs(products: int, steps: int, filmed: bool) -> np.ndarray:
    """Returns the median seconds of a step, and the seconds of cores per step."""
    graph, step = pipeline(products)
    with tf1.Session(graph=graph) as session, contextlib.ExitStack() as block:
        if filmed:
            block.enter_context(film(session, step))
        runner = block.enter_context(running_queues(session))
        list(runner.steps(step, n=3))  # they wait for the pipeline to fill
        seconds, cores = [], time.process_time()
        for _ in range(steps):
            start = time.perf_counter()
            runner.run(step)
            seconds.append(time.perf_counter() - start)
        cores = (time.process_time() - cores) / steps
    return np.array([np.median(seconds), cores])


def main(arguments: list[str] | None = None) -> list[Table]:
    """Compares the two sides."""
    quick = options_of("film").parse_args(arguments).quick
    turns, steps = (1, 5) if quick else (16, 40)
    one = costs(20, steps, filmed=False)[0] / 20
    products = max(1, round(STEP / one))
    sides = np.array([
        [costs(products, steps, filmed) for filmed in order][::1 - 2 * order[0]]
        for order in ((False, True), (True, False)) * (turns // 2 or 1)
    ])  # [turn, without or with a film, seconds or cores]
    more = 100 * (np.median(sides[:, 1] / sides[:, 0], axis=0) - 1)
    medians = 1e3 * np.median(sides, axis=0)
    rows = {
        name: {"ms/step": float(seconds), "core ms/step": float(cores)}
        for name, (seconds, cores) in zip(("bare", "filmed"), medians, strict=True)
    }
    note = (f"filmed: {more[0]:+.1f} % of a step's time (aim: under 5), "
            f"{more[1]:+.1f} % of its cores")
    return [Table("a step of four queues", rows, ("filmed",), (note,))]
