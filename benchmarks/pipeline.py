"""Our two pipelines beside the document's and the tutorial's, on the same records.

    python3 course.py bench pipeline
    python3 course.py bench pipeline --quick    # a few batches

  our queue       helpers.records.image_label_queue, driven by running_queues
  our dataset     helpers.records.image_label_dataset
  document queue  one reader, one record at a time, decode, shuffle_batch
  tutorial        tf.data: parse and decode one by one with AUTOTUNE, then batch
  limit           TensorFlow's decoder alone on pictures in memory: no records

All shuffle with a buffer of 1000 and return float32 in [-1, 1] by batches of 64.
"""

import io
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from PIL import Image

from benchmarks import rounds
from helpers import queues, records
from tools import notebook as nb

BATCH, BUFFER, SIDE = 64, 1000, 64
FEATURES = {"image": tf.io.FixedLenFeature([], tf.string),
            "label": tf.io.FixedLenFeature([], tf.int64)}
GOALS = [  # one contestant's speed as a part of another's
    ("our queue", "document queue", 1.3), ("our dataset", "tutorial", 1.0),
    ("our dataset", "limit", 0.75),
]


def write_data(prefix: Path, count: int) -> None:
    """Writes smooth random pictures of 64 x 64, with a little noise, as two shards."""
    rng, contents = np.random.default_rng(7), []
    for _ in range(500):
        coarse = Image.fromarray(rng.integers(0, 256, (8, 8, 3), np.uint8))
        pixels = np.asarray(coarse.resize((SIDE, SIDE)), np.int16)
        pixels = np.clip(pixels + rng.integers(-6, 7, pixels.shape), 0, 255)
        stream = io.BytesIO()
        Image.fromarray(pixels.astype(np.uint8)).save(stream, "JPEG", quality=90)
        contents.append(stream.getvalue())
    records.write_shards(
        (records.make_example(contents[n % len(contents)], n % 200)
         for n in range(count)), prefix, 2, seed=1,
    )


def our_queue(prefix: Path) -> Iterator[int]:
    """Yields the number of pictures of each batch."""
    with tf.Graph().as_default() as graph:
        images, labels = records.image_label_queue(
            prefix, BATCH, image_size=SIDE, shuffle_buffer=BUFFER
        )
        with (tf1.Session(graph=graph) as session,
              queues.running_queues(session) as runner):
            # The op of the pictures: they are made, and stay where they are.
            for found, _ in runner.steps([labels, images.op]):
                yield len(found)


def document_queue(prefix: Path) -> Iterator[int]:
    """Yields the number of pictures; the names are those of the records document."""
    with tf.Graph().as_default() as graph:
        names = tf1.train.string_input_producer(records.open_shards(prefix))
        _, record = tf1.TFRecordReader().read(names)
        image, label = parsed(record)
        images, labels = tf1.train.shuffle_batch(
            [tf.reshape(image, [SIDE, SIDE, 3]), label],
            BATCH, BUFFER + 3 * BATCH, BUFFER,
        )
        with tf1.Session(graph=graph) as session:
            coordinator = tf1.train.Coordinator()
            threads = tf1.train.start_queue_runners(session, coordinator)
            try:
                while True:
                    found, _ = session.run([labels, images.op])
                    yield len(found)
            finally:
                coordinator.request_stop()
                coordinator.join(threads, stop_grace_period_secs=30)


def our_dataset(prefix: Path) -> Iterator[int]:
    """Yields the number of pictures of each batch."""
    for _, labels in records.image_label_dataset(
        prefix, BATCH, image_size=SIDE, shuffle_buffer=BUFFER
    ):
        yield len(labels)


def tutorial(prefix: Path) -> Iterator[int]:
    """Yields the number of pictures of each batch."""
    rows = tf.data.TFRecordDataset(records.open_shards(prefix)).repeat()
    rows = rows.shuffle(BUFFER, seed=1).map(parsed, tf.data.AUTOTUNE)
    rows = rows.batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
    for _, labels in rows:
        yield len(labels)


def parsed(record):
    """Returns picture and label of one record, as the documents parse it."""
    fields = tf.io.parse_single_example(record, FEATURES)
    image = tf.io.decode_jpeg(fields["image"], channels=3)
    image = tf.ensure_shape(image, [SIDE, SIDE, 3])
    return (tf.cast(image, tf.float32) - 127.5) / 127.5, fields["label"]


def limit(prefix: Path) -> Iterator[int]:
    """Yields the number of pictures: decoding side by side, of pictures in memory."""
    rows = tf.data.TFRecordDataset(records.open_shards(prefix))
    rows = next(iter(rows.shuffle(BUFFER, seed=1).batch(BATCH)))
    contents = tf.io.parse_example(rows, FEATURES)["image"].numpy()
    with tf.Graph().as_default() as graph:
        one = tf.unstack(tf1.placeholder_with_default(contents, [BATCH]))
        decoded = [tf.io.decode_jpeg(jpeg, channels=3).op for jpeg in one]
        with tf1.Session(graph=graph) as session:
            while True:
                session.run(decoded)
                yield BATCH


CONTESTANTS = {
    "our queue": our_queue, "our dataset": our_dataset,
    "document queue": document_queue, "tutorial": tutorial, "limit": limit,
}


def read(prefix: Path, count: int, name: str) -> rounds.Result:
    """Returns what a contestant does with the records of a prefix."""
    batches = CONTESTANTS[name](prefix)
    result = rounds.timed(batches, max(2, count // 10), count)
    batches.close()
    return result


def main(arguments: list[str]) -> rounds.Table:
    """Runs all contestants."""
    parser = rounds.options_of("pipeline")
    parser.add_argument("--batches", type=nb.count, default=300)
    parser.add_argument("--records", type=nb.count, default=20_000)
    options = parser.parse_args(arguments)
    if options.quick:
        options.rounds, options.batches, options.records = 1, 2, 2_000
    with tempfile.TemporaryDirectory() as folder:
        prefix = Path(folder, "pictures")
        write_data(prefix, options.records)
        run = partial(read, prefix, options.batches)
        results = rounds.compete(CONTESTANTS, run, options.rounds,
                                 CONTESTANTS if options.quick else ())
    notes = [rounds.verdict(results, *goal) for goal in GOALS]
    return rounds.compared(f"{options.records:,} pictures of {SIDE}", results, notes)
