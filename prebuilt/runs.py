"""Makes the finished runs of this folder: short trainings, logged as the lessons log.

A run trains in one thread, so that on one machine it always writes the same, but for
what a clock measured: the compute times and the memory of one traced step. The clock
of its events counts steps, one second each.
"""

import functools
import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.shapes import drawing
from helpers.towers import build_towers, cpu_devices, process_gradient_list, split_batch
from helpers.vgg import vgg_net

RUN_FILE = "events.out.tfevents.run"
SIDE, BATCH = 32, 32  # pixels; pictures per step
STEPS = 60
FULL = 400  # rows of a full queue, four batches
SHAPES = list(drawing.SHAPES)[:4]
CONFIG = tf1.ConfigProto(
    device_count={"CPU": 2}, intra_op_parallelism_threads=1,
    inter_op_parallelism_threads=1,
)


def rate(learning_rate: float, *, all_kinds: bool = True) -> list[tf1.Event]:
    """A narrow VGG-A on two towers, trained by Adam at one rate, as in lesson 07a.

    Args:
      learning_rate: of Adam.
      all_kinds: whether to log more than scalars.
    """
    with tf.Graph().as_default() as graph:
        tf1.set_random_seed(7)
        images = tf1.placeholder(tf.float32, [BATCH, SIDE, SIDE, 3], "images")
        labels = tf1.placeholder(tf.int32, [BATCH], "labels")
        step = tf1.train.get_or_create_global_step()
        optimizer = tf1.train.AdamOptimizer(learning_rate)
        slices = split_batch((images, labels), 2)
        towers = build_towers(
            functools.partial(_tower, optimizer), cpu_devices(2), slices
        )
        losses, logits, gradients = zip(*towers, strict=True)
        averages = process_gradient_list(gradients, losses=losses)
        with tf1.name_scope("update"):
            train = optimizer.apply_gradients(averages, step)
        loss, answers = tf.reduce_mean(losses), tf.argmax(tf.concat(logits, 0), 1)
        shown = _pictures_and_words(images, tf.gather(tf.constant(SHAPES), answers))
        shown += _histograms(averages, train)
        init = tf1.global_variables_initializer()
    feeds = ({images: pictures, labels: kinds} for pictures, kinds in drawn_shapes())
    fetches = {"train": train, "train/loss": loss}
    with tf1.Session(graph=graph, config=CONFIG) as session:
        session.run(init)
        return _logged(
            session, fetches, shown if all_kinds else [],
            itertools.islice(itertools.cycle(feeds), STEPS),
            {"train/learning_rate": learning_rate}, with_graph=all_kinds,
        )


def _tower(optimizer, images, labels):
    """Builds the net, its loss and its gradients on one slice."""
    with tf1.variable_scope("vgg"):
        logits = vgg_net(images, configuration="A", num_classes=4, base_width=4)
    with tf1.name_scope("loss"):
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits
        ))
    return loss, logits, optimizer.compute_gradients(loss)


def queue_run() -> list[tf1.Event]:
    """A regression on two towers that a queue feeds, as in lesson 05c.

    The queue is filled to the brim whenever it cannot give the next batch.
    """
    rng = np.random.default_rng(7)
    x = rng.normal(1.0, 1.0, [FULL, 2]).astype(np.float32)
    noise = rng.normal(0.0, 1.5, [FULL, 1]).astype(np.float32)
    y = x @ np.float32([[3.0], [2.0]]) + 1.0 + noise
    with tf.Graph().as_default() as graph:
        rows = tf.queue.FIFOQueue(FULL, [tf.float32] * 2, [[2], [1]], name="rows")
        into = [tf1.placeholder(tf.float32, [None, width]) for width in (2, 1)]
        fill = rows.enqueue_many(into, name="fill")
        step = tf1.train.get_or_create_global_step()
        descent = tf1.train.GradientDescentOptimizer(0.1)
        taken = rows.dequeue_many(100, name="batch")
        towers = build_towers(functools.partial(_regression, descent), cpu_devices(2),
                              split_batch(taken, 2))
        losses, gradients = zip(*towers, strict=True)
        averages = process_gradient_list(gradients, losses=losses)
        with tf1.name_scope("update"):
            train = descent.apply_gradients(averages, step)
        with tf.control_dependencies(taken):
            left = rows.size()
        shown, loss = _histograms(averages, train), tf.reduce_mean(losses)
        init = tf1.global_variables_initializer()

    def filled():
        for at in range(STEPS):
            if at % (FULL // 100) == 0:
                session.run(fill, dict(zip(into, (x, y), strict=True)))
            yield {}

    fetches = {"train": train, "train/loss": loss, "queue/rows": left}
    with tf1.Session(graph=graph, config=CONFIG) as session:
        session.run(init)
        return _logged(session, fetches, shown, filled(), with_graph=True, every=1,
                       constants={"train/learning_rate": 0.1})


def _regression(optimizer, x, y):
    """Builds a line, its loss and its gradients on one slice."""
    weights = tf1.get_variable("w", [2, 1], initializer=tf1.zeros_initializer())
    bias = tf1.get_variable("b", [1], initializer=tf1.zeros_initializer())
    loss = tf.reduce_mean(tf.square(x @ weights + bias - y))
    return loss, optimizer.compute_gradients(loss)


def _pictures_and_words(images: tf.Tensor, words: tf.Tensor) -> list[tf.Tensor]:
    """Returns summaries of four pictures, and of what the net says of each."""
    return [tf1.summary.image("pictures", images[:4], 4),
            tf1.summary.text("answers", words[:4])]


def _histograms(averages: Iterable, train: tf.Operation) -> list[tf.Tensor]:
    """Returns summaries of averaged gradients, and of the variables after a step."""
    summaries = []
    for gradient, variable in averages:
        name = variable.op.name
        summaries.append(tf1.summary.histogram(f"gradient/{name}", gradient))
        with tf.control_dependencies([train]):
            after = variable.read_value()
        summaries.append(tf1.summary.histogram(f"weight/{name}", after))
    return summaries


def _logged(
    session: tf1.Session, fetches: dict[str, Any], shown: list[tf.Tensor],
    feeds: Iterable[dict], constants: dict[str, float], *, with_graph: bool,
    every: int = 15,
) -> list[tf1.Event]:
    """Trains, and returns what a writer would have written.

    Args:
      session: its variables are initialised.
      fetches: of each step; names with a slash are logged as scalars.
      shown: summaries that are logged now and then.
      feeds: of the steps.
      constants: scalars that stay the same.
      with_graph: whether to log the graph, and compute times and memory of a step.
      every: steps from one time that `shown` is logged to the next.
    """
    events = [tf1.Event(file_version="brain.Event:2")]
    if with_graph:
        graph_def = session.graph.as_graph_def(add_shapes=True)
        graph_bytes = graph_def.SerializeToString(deterministic=True)
        events.append(tf1.Event(graph_def=graph_bytes))
    for at, feed in enumerate(feeds, 1):
        due, traced = at % every == 0, with_graph and at == 30
        metadata = tf1.RunMetadata()
        values = session.run(
            {**fetches, "shown": shown if due else ()}, feed,
            _TRACE if traced else None, metadata if traced else None,
        )
        scalars = {k: v for k, v in values.items() if "/" in k} | constants
        events.append(_event(at, [
            tf1.Summary.Value(tag=tag, simple_value=value)
            for tag, value in scalars.items()
        ]))
        for summary in values["shown"]:
            events.append(_event(at, tf1.Summary.FromString(summary).value))
        if traced:
            event = tf1.Event(wall_time=at, step=at)
            event.tagged_run_metadata.tag = f"step {at}"
            measured = _measured(metadata).SerializeToString()
            event.tagged_run_metadata.run_metadata = measured
            events.append(event)
    return events


_TRACE = tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE)


def _event(at: int, values: Iterable) -> tf1.Event:
    return tf1.Event(wall_time=at, step=at, summary=tf1.Summary(value=values))


def _measured(metadata: tf1.RunMetadata) -> tf1.RunMetadata:
    """Keeps what the Graphs page draws: compute time and memory by op.

    The starts count from the first op's, which is 1: one that is 0 is not written,
    and the page then has no compute time at all.
    """
    kept = tf1.RunMetadata()
    devices = metadata.step_stats.dev_stats
    first = min(node.all_start_micros
                for device in devices for node in device.node_stats) - 1
    for device in devices:
        new = kept.step_stats.dev_stats.add(device=device.device)
        for node in sorted(device.node_stats, key=lambda node: node.node_name):
            stats = new.node_stats.add(
                node_name=node.node_name,
                all_start_micros=node.all_start_micros - first,
                all_end_rel_micros=node.all_end_rel_micros,
                op_start_rel_micros=node.op_start_rel_micros,
                op_end_rel_micros=node.op_end_rel_micros,
            )
            for memory in node.memory:
                stats.memory.add(total_bytes=memory.total_bytes)
    return kept


def drawn_shapes() -> list[tuple[np.ndarray, np.ndarray]]:
    """Draws eight batches of pictures of one shape each.

    Returns:
      Per batch float32 `[batch, height, width, 3]` in [-1, 1] and int32 `[batch]`.
    """
    rng = np.random.default_rng(7)
    kinds = rng.integers(0, len(SHAPES), [8, BATCH])
    return [
        (np.stack([_one_shape(SHAPES[kind], rng) for kind in row]),
         row.astype(np.int32))
        for row in kinds
    ]


def _one_shape(shape: str, rng: np.random.Generator) -> np.ndarray:
    picture = drawing.backdrop(SIDE, rng)
    drawing.paint(
        picture, shape=shape, colour=list(drawing.COLOURS)[rng.integers(6)],
        centre=tuple(rng.uniform(13, 19, 2)), radius=float(rng.uniform(8, 11)),
        rotation=float(rng.uniform(-0.3, 0.3)),
    )
    return np.asarray(picture, np.float32) / 127.5 - 1.0


# Folder of each run, and the function that trains it.
RUNS: dict[str, Callable[[], list[tf1.Event]]] = {
    "queue_run": queue_run,
    "rate_0.002": functools.partial(rate, 0.002),
    "rate_0.05": functools.partial(rate, 0.05, all_kinds=False),
}
