"""Our two pipelines beside the document's and the tutorial's, on the same records.

    python3 course.py bench pipeline            # 64 x 64, then resized to 224
    python3 course.py bench pipeline --quick    # a few batches, at 64 x 64 only

  our queue       helpers.records.image_label_queue, driven by running_queues
  our dataset     helpers.records.image_label_dataset
  document queue  one reader, one record at a time, decode, shuffle_batch
  tutorial        tf.data: parse and decode one by one with AUTOTUNE, then batch
  limit           TensorFlow's decoder alone on pictures in memory: no records

All shuffle with a buffer of 1000 and return float32 in [-1, 1] by batches of 64.
"""

import argparse
import io
import itertools
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.results import Table
from benchmarks.rounds import (
    commands,
    compared,
    compete,
    options_of,
    report,
    verdict,
)

BATCH, BUFFER, SIDE = 64, 1000, 64
OURS = ("our queue", "our dataset")
LIMIT = "limit"
GOALS = [  # one contestant's speed as a part of another's
    ("our queue", "document queue", 1.3), ("our dataset", "tutorial", 1.0),
    ("our dataset", LIMIT, 0.75),
]


def write_data(prefix: Path, count: int) -> None:
    """Writes smooth random pictures of 64 x 64, with a little noise, as two shards."""
    from helpers import records

    rng, contents = np.random.default_rng(7), []
    for _ in range(min(count, 500)):
        coarse = Image.fromarray(rng.integers(0, 256, (8, 8, 3), np.uint8))
        pixels = np.asarray(coarse.resize((SIDE, SIDE)), np.int16)
        pixels = np.clip(pixels + rng.integers(-6, 7, pixels.shape), 0, 255)
        stream = io.BytesIO()
        Image.fromarray(pixels.astype(np.uint8)).save(stream, "JPEG", quality=90)
        contents.append(stream.getvalue())
        prefix.with_name(f"{len(contents)}.jpg").write_bytes(contents[-1])
    records.write_shards(
        (records.make_example(contents[n % len(contents)], n % 200)
         for n in range(count)), prefix, 2, seed=1,
    )


def our_queue(prefix: str, size: int) -> Iterator:
    """Yields batches of labels."""
    from helpers import queues, records

    def build():
        images, labels = records.image_label_queue(
            prefix, BATCH, image_size=SIDE, shuffle_buffer=BUFFER
        )
        if size == SIDE:
            return images, labels
        return ahead(resized(images, size), labels)

    yield from through_session(build, queues.running_queues)


def ahead(images, labels):
    """Makes two batches ahead of the step, in two threads: tf.data's map, prefetch."""
    import tensorflow as tf
    import tensorflow.compat.v1 as tf1

    batch = [images, labels]
    queue = tf.queue.FIFOQueue(2, [one.dtype for one in batch],
                               [one.shape for one in batch], name="ahead")
    tf1.train.add_queue_runner(tf1.train.QueueRunner(queue, [queue.enqueue(batch)] * 2))
    return queue.dequeue()


def document_queue(prefix: str, size: int) -> Iterator:
    """Yields batches of labels; the names are those of the records document."""
    import contextlib

    import tensorflow as tf
    import tensorflow.compat.v1 as tf1

    from helpers import records

    def build():
        names = tf1.train.string_input_producer(records.open_shards(prefix))
        _, record = tf1.TFRecordReader().read(names)
        fields = tf.io.parse_single_example(record, features())
        image = tf.io.decode_jpeg(fields["image"], channels=3)
        image = tf.reshape(image, [SIDE, SIDE, 3])
        image = (tf.cast(image, tf.float32) - 127.5) / 127.5
        images, labels = tf1.train.shuffle_batch(
            [image, fields["label"]], BATCH, BUFFER + 3 * BATCH, BUFFER
        )
        return resized(images, size), labels

    class Bare:
        def __init__(self, session):
            self.session = session

        def steps(self, fetches):
            while True:
                yield self.session.run(fetches)

    @contextlib.contextmanager
    def bare(session):
        coordinator = tf1.train.Coordinator()
        threads = tf1.train.start_queue_runners(session, coordinator)
        yield Bare(session)
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=30)

    yield from through_session(build, bare)


def through_session(build: Callable, drive: Callable) -> Iterator:
    """Yields the labels of each batch of a graph."""
    import tensorflow as tf
    import tensorflow.compat.v1 as tf1

    with tf.Graph().as_default() as graph:
        images, labels = build()
        with tf1.Session(graph=graph) as session, drive(session) as runner:
            # The op of the pictures: they are made, and stay where they are. (Only
            # fetched ops are safe; one that others wait for is optimised away.)
            for found, _ in runner.steps([labels, images.op]):
                yield found


def our_dataset(prefix: str, size: int) -> Iterator:
    """Yields batches of labels."""
    from helpers import records

    yield from through_dataset(records.image_label_dataset(
        prefix, BATCH, image_size=SIDE, shuffle_buffer=BUFFER
    ), size)


def tutorial(prefix: str, size: int) -> Iterator:
    """Yields batches of labels."""
    import tensorflow as tf

    def parse(record):
        fields = tf.io.parse_single_example(record, features())
        image = tf.io.decode_jpeg(fields["image"], channels=3)
        image = tf.ensure_shape(image, [SIDE, SIDE, 3])
        return (tf.cast(image, tf.float32) - 127.5) / 127.5, fields["label"]

    rows = shuffled(prefix).map(parse, tf.data.AUTOTUNE)
    yield from through_dataset(
        rows.batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE), size
    )


def limit(prefix: str, size: int) -> Iterator:
    """Yields batches of labels: decoding side by side, of pictures in memory."""
    import tensorflow as tf
    import tensorflow.compat.v1 as tf1

    rows = next(iter(shuffled(prefix).batch(BATCH)))
    contents = tf.io.parse_example(rows, features())["image"].numpy()
    with tf.Graph().as_default() as graph:
        one = tf.unstack(tf1.placeholder_with_default(contents, [BATCH]))
        images = [tf.io.decode_jpeg(jpeg, channels=3) for jpeg in one]
        decoded = [image.op for image in images]
        if size != SIDE:
            floats = tf.cast(tf.stack(images), tf.float32)
            decoded = resized(tf.ensure_shape(floats, [BATCH, SIDE, SIDE, 3]), size).op
        with tf1.Session(graph=graph) as session:
            while True:
                session.run(decoded)
                yield np.zeros(BATCH)


def shuffled(prefix: str):
    """Returns the records without end, shuffled."""
    import tensorflow as tf

    from helpers import records

    rows = tf.data.TFRecordDataset(records.open_shards(prefix)).repeat()
    return rows.shuffle(BUFFER, seed=1)


def through_dataset(batches, size: int) -> Iterator:
    """Yields the labels of each batch of a dataset."""
    import tensorflow as tf

    if size != SIDE:
        # Two batches at once: the op takes one thread, and twice a decoding.
        batches = batches.map(
            lambda images, labels: (resized(images, size), labels), tf.data.AUTOTUNE
        ).prefetch(tf.data.AUTOTUNE)
    for _, labels in batches:
        yield labels


def resized(images, size: int):
    """Returns the pictures at `size`, or as they are."""
    import tensorflow as tf

    return images if size == SIDE else tf.image.resize(images, [size, size])


def features() -> dict:
    """Returns what the records hold."""
    import tensorflow as tf

    return {"image": tf.io.FixedLenFeature([], tf.string),
            "label": tf.io.FixedLenFeature([], tf.int64)}


CONTESTANTS = {
    "our queue": our_queue, "our dataset": our_dataset,
    "document queue": document_queue, "tutorial": tutorial, LIMIT: limit,
}


def take(batches: Iterator, count: int) -> int:
    """Returns how many pictures `count` batches hold."""
    return sum(len(labels) for labels in itertools.islice(batches, count))


def main(arguments: list[str]) -> list[Table]:
    """Runs all contestants, or the one that `--one` names."""
    parser = options_of("pipeline", CONTESTANTS)
    parser.add_argument("--batches", type=int, default=300)
    parser.add_argument("--sizes", type=int, nargs="+", default=[SIDE, 224])
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--prefix", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        batches = CONTESTANTS[options.one](options.prefix, options.sizes[0])
        take(batches, max(2, options.batches // 10))  # the warm-up
        report(lambda: take(batches, options.batches))
        batches.close()
        return []
    if options.quick:
        options.rounds, options.batches, options.sizes = 1, 2, [SIDE]
        options.records = 2_000
    return tables_of(options, options.records, options.batches, options.sizes)


def tables_of(options: argparse.Namespace, count: int, batches: int, sizes: list[int]):
    """Returns a table per size of the pictures, of `count` records."""
    tables = []
    with tempfile.TemporaryDirectory() as folder:
        prefix = Path(folder, "pictures")
        write_data(prefix, count)
        for size in sizes:
            arguments = ["--batches", max(1, batches * SIDE // size)]
            ways = commands("benchmarks.pipeline", CONTESTANTS,
                            ["--prefix", prefix, "--sizes", size, *arguments])
            results = compete(ways, options.rounds, quick=options.quick)
            title = f"{count:,} pictures of {SIDE}, used at {size}"
            notes = [verdict(results, *goal) for goal in GOALS]
            tables.append(compared(title, results, OURS, notes=notes))
    return tables


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
