"""What the guards cost, against the same work without them, in one run.

    python3 course.py bench guards [--quick]

A step inside `running_queues` beside a bare `session.run`; reading records with every
check beside reading them with none; checking a file of 100 MB beside reading it. The
sides take turns and the median of the turns is shown. Promised, on a quiet machine: a
guarded step at most 0.4 ms, checked reading of 64,000 pictures at least 0.9 of
unchecked; what a short pass costs has a line of its own.
"""

import contextlib
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from benchmarks.results import Table
from benchmarks.rounds import options_of
from helpers import records
from helpers.queues import running_queues
from helpers.records import pipeline

SIZE, BATCH = 64, 64


def medians(sides: list[Callable], turns: int) -> list[float]:
    """Returns the median seconds of each side; they take turns."""
    seconds = [[] for _ in sides]
    for _ in range(turns):
        for side, taken in zip(sides, seconds, strict=True):
            start = time.perf_counter()
            side()
            taken.append(time.perf_counter() - start)
    return [statistics.median(taken) for taken in seconds]


def one_step(turns: int) -> Table:
    """Returns what a guarded step costs beside a bare one."""
    steps = 300
    with tf.Graph().as_default() as graph:
        numbers = tf.queue.FIFOQueue(10, [tf.float32], [[]])
        fill = tf1.train.QueueRunner(numbers, [numbers.enqueue(1.0)])
        tf1.train.add_queue_runner(fill)
        weights = tf1.get_variable("weights", [100], initializer=tf.zeros_initializer())
        step = weights.assign_add(tf.ones([100])).op
        init = tf1.global_variables_initializer()
    with tf1.Session(graph=graph) as session:
        session.run(init)
        with running_queues(session) as runner:
            bare, guarded = medians(
                [lambda: [session.run(step) for _ in range(steps)],
                 lambda: [runner.run(step) for _ in range(steps)]], turns,
            )
    rows = {name: {"ms/step": 1e3 * seconds / steps}
            for name, seconds in (("session.run", bare), ("guarded", guarded))}
    note = f"{1e3 * (guarded - bare) / steps:.3f} ms more (promised 0.4)"
    return Table("one step", rows, ("guarded",), (note,))


def write_pictures(folder: Path, number: int) -> Path:
    """Writes shards of small JPEGs and returns their prefix."""
    chance = np.random.default_rng(5)
    pictures = [
        tf.io.encode_jpeg(np.kron(chance.integers(0, 255, (8, 8, 3), np.uint8),
                                  np.ones((8, 8, 1), np.uint8))).numpy()
        for _ in range(40)
    ]
    records.write_shards(
        [records.make_example(pictures[n % 40], n % 20) for n in range(number)],
        folder / "pictures", 3, seed=1,
    )
    return folder / "pictures"


def checked_reading(
    folder: Path, pictures: int, epochs: tuple[int, int], turns: int
) -> Table:
    """Returns how many pictures per second reading keeps with all checks on.

    A pass costs something once, however long it is: its graph is compiled, threads
    start and end. So a long pass is what is compared, and a short one shows the rest.
    """
    shards, rows, notes = write_pictures(folder, pictures), {}, []
    for name, sides in (("queue", queue_sides), ("tf.data", dataset_sides)):
        passes = []
        for number in epochs:
            options = {"image_size": SIZE, "num_epochs": number, "shuffle_buffer": 100}
            passes += sides(shards, options, pictures * number)
        short, short_checked, bare, checked = medians(passes, turns)
        rows[f"{name}, unchecked"] = {"pictures/s": pictures * epochs[1] / bare}
        rows[f"{name}, checked"] = {"pictures/s": pictures * epochs[1] / checked}
        notes += [f"{name}: {bare / checked:.2f} of it checked (promised 0.9)",
                  f"{name}: a pass of only {pictures * epochs[0]} pictures takes "
                  f"{1e3 * (short_checked - short):.0f} ms more checked, most of it "
                  "once"]
    ours = tuple(name for name in rows if name.endswith(" checked"))
    return Table("checked reading", rows, ours, tuple(notes))


def unchecked_decoding(contents, size):
    """Decodes without the comparison of sizes."""
    images = [tf.io.decode_jpeg(one, channels=3) for one in contents]
    for image in images:
        image.set_shape([*size, 3])
    return images


@contextlib.contextmanager
def without_checks():
    """What is built inside reads records with no check of sizes and names no record."""
    with (
        mock.patch.object(pipeline, "_decoded", unchecked_decoding),
        mock.patch.object(pipeline, "NamingQueueRunner",
                          lambda queue, ops, **_: tf1.train.QueueRunner(queue, ops)),
    ):
        yield


def queue_sides(shards: Path, options: dict, read: int) -> list[Callable]:
    """Returns one pass over the records without checks, and one with them."""
    def build():
        with tf.Graph().as_default() as graph:
            batch = records.image_label_queue(shards, BATCH, **options)
            tf.group(tf1.local_variables_initializer(), name="init")
        return graph, batch

    def guarded_pass(graph, batch):
        with tf1.Session(graph=graph) as session:
            session.run(graph.get_operation_by_name("init"))
            with running_queues(session) as runner:
                assert sum(len(labels) for _, labels in runner.steps(batch)) == read

    def bare_pass(graph, batch):
        with tf1.Session(graph=graph) as session:
            session.run(graph.get_operation_by_name("init"))
            coord, count = tf1.train.Coordinator(), 0
            with graph.as_default():
                threads = tf1.train.start_queue_runners(session, coord)
            with coord.stop_on_exception():
                while True:
                    count += len(session.run(batch)[1])
            coord.join(threads)
            assert count == read

    checked = build()
    with without_checks():
        bare = build()
    return [lambda: bare_pass(*bare), lambda: guarded_pass(*checked)]


def dataset_sides(shards: Path, options: dict, read: int) -> list[Callable]:
    """Returns the same two passes, through `tf.data`."""
    def build():
        return records.image_label_dataset(shards, BATCH, **options)

    def one_pass(dataset):
        assert sum(len(labels) for _, labels in dataset) == read

    def checked_pass():
        with records.naming_bad_records(shards, parse):
            one_pass(checked)

    checked, parse = build(), records.image_label_parser(SIZE)
    with without_checks():
        bare = build()
    return [lambda: one_pass(bare), checked_pass]


def checking_a_file(folder: Path, payloads: int, turns: int) -> Table:
    """Returns what checking records costs beside reading their bytes."""
    payload = np.random.default_rng(6).bytes(1800)
    records.write_shards((payload for _ in range(payloads)), folder / "big", 1, seed=1)
    [path] = records.open_shards(folder / "big")
    block = bytearray(1 << 20)

    def plain():
        with open(path, "rb", buffering=0) as file:
            while file.readinto(block):
                pass

    sides = {
        "read the bytes": plain,
        "read the records": lambda: sum(1 for _ in tf1.io.tf_record_iterator(path)),
        "check, with a manifest": lambda: records.check_shards(folder / "big"),
        "check, without one": lambda: records.check_shards([path]),
    }
    seconds = medians(list(sides.values()), turns)
    rows = {
        name: {"s": taken, "to bytes": taken / seconds[0],
               "to records": taken / seconds[1]}
        for name, taken in zip(sides, seconds, strict=True)
    }
    ours = tuple(name for name in rows if name.startswith("check"))
    return Table(f"a file of {payloads * 1816 / 1e6:.0f} MB", rows, ours)


def main(arguments: list[str] | None = None) -> list[Table]:
    """Runs the three comparisons."""
    quick = options_of("guards").parse_args(arguments).quick
    turns = 1 if quick else 5
    reading = (101, (1, 2)) if quick else (2003, (2, 32))
    with tempfile.TemporaryDirectory() as name:
        return [
            one_step(turns),
            checked_reading(Path(name), *reading, turns),
            checking_a_file(Path(name), 550 if quick else 55_000, turns),
        ]
