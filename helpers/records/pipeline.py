"""Input pipelines from shards to batches, with queues or with `tf.data`.

Taught in lesson 04b, 'A pipeline on queues' and 'Group before you parse'.
"""

from collections.abc import Callable

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.arguments import numbers, sides, whole
from helpers.pictures import from_bytes, shifted_and_mirrored
from helpers.records import wire
from helpers.records.blame import NamingQueueRunner
from helpers.records.shards import PathPrefix, open_counted

CROP_MARGIN = 4
GROUP = 64  # records that are parsed and decoded per run
READ = 256  # records that the reader takes from a file per call
_NUMBERS = {
    "batch_size": whole(), "image_size": sides(), "num_epochs": whole(),
    "shuffle_buffer": whole(0), "num_threads": whole(most=1024), "seed": whole(0),
}
_FEATURES = {
    "image": tf.io.FixedLenFeature([], tf.string),
    "label": tf.io.FixedLenFeature([], tf.int64),
}


@numbers(image_size=sides())
def image_label_parser(
    image_size: int | tuple[int, int],
) -> Callable[[tf.Tensor], tuple[tf.Tensor, tf.Tensor]]:
    """Returns the function with which both pipelines parse a record.

    The size in the header of a JPEG is checked first, so a picture of another size
    never takes memory, however large it is.

    Args:
      image_size: Size of every picture in pixels, as a number or (height, width).

    Returns:
      A function from one serialised `Example`, string `[]`, to the picture, uint8
      `[height, width, 3]`, and the label, int32 `[]`.
    """
    size = _height_width(image_size)

    def parse(serialized):
        images, labels = _parsed_group(serialized[None], 1, None, size)
        return images[0], labels[0]

    return parse


@numbers(**_NUMBERS)
def image_label_queue(
    path_prefix: PathPrefix,
    batch_size: int,
    *,
    image_size: int | tuple[int, int],
    num_epochs: int | None = None,
    shuffle_buffer: int = 1000,
    num_threads: int = 2,
    seed: int = 0,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Builds a queue pipeline that reads, decodes, and batches labelled pictures.

    Run the pipeline with `helpers.queues.running_queues`. An error in a record reaches
    the coordinator as a `DataError` that names the file and the record.

    Args:
      path_prefix: Prefix of shards from `write_shards`, or a list of other record
        files.
      batch_size: Number of pictures per batch. With a limited number of epochs, the
        last batch may be smaller, and no picture is lost.
      image_size: Size of every picture in the files in pixels, as a number or (height,
        width). To train at another size, resize the batches.
      num_epochs: Number of times that each record is read, or `None` for no limit. A
        number requires `tf1.local_variables_initializer()`.
      shuffle_buffer: Number of encoded records from which to draw. A buffer larger than
        the dataset shuffles all of it. With 0, the order of the files is kept, and one
        thread decodes.
      num_threads: Number of decoding threads. Each decodes a group of pictures at once.
      seed: Seed of the order. The threads reorder the pictures nevertheless.

    Returns:
      Pictures, float32 `[batch, height, width, 3]` in [-1, 1], and labels, int32
      `[batch]`.

    Raises:
      DataError: If a file is missing, damaged, or was never completed.

    Source: the queue documents and the records document.
    """
    size = _height_width(image_size)
    paths, count = open_counted(path_prefix)
    shuffle_buffer = min(shuffle_buffer, count)
    naming = {"paths": paths, "parse": image_label_parser(image_size)}
    with tf.name_scope("input_queue"):
        file_names = tf1.train.string_input_producer(
            paths, num_epochs, shuffle=shuffle_buffer > 0, seed=seed
        )
        _, several = wire.reader(paths).read_up_to(file_names, READ)
        encoded = _encoded_queue(shuffle_buffer, seed)
        read = [encoded.enqueue_many([several])]
        tf1.train.add_queue_runner(NamingQueueRunner(encoded, read, **naming))

        group = _take(encoded, GROUP, num_epochs)
        decoded = tf.queue.FIFOQueue(
            2 * (GROUP + batch_size), [tf.uint8, tf.int32], [[*size, 3], []],
            name="batches",
        )
        decode = [decoded.enqueue_many(_parsed_group(group, GROUP, None, size))]
        if shuffle_buffer:  # a single thread would keep the order
            decode *= num_threads
        tf1.train.add_queue_runner(NamingQueueRunner(decoded, decode, **naming))
        images, labels = _take(decoded, batch_size, num_epochs)
        return from_bytes(images), labels


@numbers(**_NUMBERS)
def image_label_dataset(
    path_prefix: PathPrefix,
    batch_size: int,
    *,
    image_size: int | tuple[int, int],
    num_epochs: int | None = None,
    shuffle_buffer: int = 1000,
    num_threads: int = 2,
    augment: bool = False,
    seed: int = 0,
) -> tf.data.Dataset:
    """Builds a `tf.data` pipeline with the batches of `image_label_queue`.

    The stages have the same order as the queues, with one method call for each queue.
    To find the file and the record of an error, wrap the loop in `naming_bad_records`.

    Args:
      path_prefix: Prefix or files, as for `image_label_queue`. All other arguments
        except `augment` are also the same.
      batch_size: Number of pictures per batch.
      image_size: Size of every picture in the files in pixels.
      num_epochs: Number of times that each record is read, or `None` for no limit.
      shuffle_buffer: Number of records from which to draw. With 0, the order is kept.
      num_threads: Number of groups of pictures that are decoded at the same time.
      augment: Whether to mirror pictures at random and to shift them by up to 4 pixels.
      seed: Seed of the order, which is exactly reproducible here, and of the
        augmentation.

    Returns:
      A dataset of pictures, float32 `[batch, height, width, 3]` in [-1, 1], and labels,
      int32 `[batch]`. Automatic tuning is turned off for it and for later stages.

    Raises:
      DataError: If a file is missing, damaged, or was never completed.
    """
    size = _height_width(image_size)
    paths, count = open_counted(path_prefix)
    shuffle_buffer = min(shuffle_buffer, count)
    group, endless = min(GROUP, int(batch_size)), num_epochs is None

    def parse(records, draws=None):
        return _parsed_group(records, group, draws, size)

    records = wire.dataset(paths, seed if shuffle_buffer else None).repeat(num_epochs)
    if shuffle_buffer:
        records = records.shuffle(shuffle_buffer, seed=seed)
    if augment:
        # One number per picture, because stateful random ops need a single thread.
        draws = tf.data.Dataset.random(seed, rerandomize_each_iteration=True)
        records = tf.data.Dataset.zip(records, draws)
    groups = records.batch(group, drop_remainder=endless)
    batches = groups.map(parse, num_threads, deterministic=True)
    if batch_size > group:
        batches = batches.rebatch(batch_size, drop_remainder=endless)
    batches = batches.map(lambda images, labels: (from_bytes(images), labels))
    return batches.prefetch(2)


def _encoded_queue(shuffle_buffer: int, seed: int) -> tf.queue.QueueBase:
    """Creates the queue of serialised records, in which shuffling is cheap."""
    capacity = shuffle_buffer + READ
    if not shuffle_buffer:
        return tf.queue.FIFOQueue(capacity, [tf.string], [[]], name="records")
    return tf.queue.RandomShuffleQueue(
        capacity, shuffle_buffer, [tf.string], [[]], seed=seed, name="records"
    )


def _take(queue: tf.queue.QueueBase, count: int, num_epochs: int | None):
    """Dequeues a batch, which may be smaller at the end of the last epoch."""
    dequeue = queue.dequeue_many if num_epochs is None else queue.dequeue_up_to
    return dequeue(count)


def _parsed_group(records: tf.Tensor, most: int, draws: tf.Tensor | None, size):
    """Parses a group of records at once and decodes its pictures in parallel.

    Args:
      records: Serialised records, string `[record]`.
      most: Maximum number of records, which is also the number of parallel decoders.
      draws: Random numbers for the augmentation, int64 `[record]`, or `None`.
      size: Height and width in pixels.
    """
    fields = tf.io.parse_example(records, _FEATURES)
    contents, count = fields["image"], records.shape[0]
    if count != most:  # pad with the last record; the padding is cut off below
        count = tf.size(records)
        places = tf.minimum(tf.range(most), count - 1)
        contents = tf.gather(contents, places)
        draws = None if draws is None else tf.gather(draws, places)
    images = _decoded(tf.unstack(contents, most), size)
    if draws is not None:
        images = [
            shifted_and_mirrored(image, CROP_MARGIN, number)
            for image, number in zip(images, tf.unstack(draws, most), strict=True)
        ]
    return tf.stack(images)[:count], _int32(fields["label"])


def _decoded(contents: list[tf.Tensor], size: tuple[int, int]) -> list[tf.Tensor]:
    """Decodes JPEG pictures after checking that all have the expected size."""
    shapes = tf.stack([tf.io.extract_jpeg_shape(encoded) for encoded in contents])
    # The raw op, because tf.debugging.Assert would add a tf.cond for each group.
    right_size = tf.raw_ops.Assert(
        condition=tf.reduce_all(tf.equal(shapes[:, :2], size)),
        data=["image_size is", f"{size}", "pictures are from",
              tf.reduce_min(shapes, axis=0), "to", tf.reduce_max(shapes, axis=0)],
    )
    with tf.control_dependencies([right_size]):
        images = [tf.io.decode_jpeg(encoded, channels=3) for encoded in contents]
    return [tf.ensure_shape(image, [*size, 3]) for image in images]


def _int32(labels: tf.Tensor) -> tf.Tensor:
    """Converts int64 labels to int32, and fails if a label does not fit."""
    narrow = tf.cast(labels, tf.int32)
    fits = tf.raw_ops.Assert(
        condition=tf.reduce_all(tf.equal(tf.cast(narrow, tf.int64), labels)),
        data=["A label does not fit into int32:", labels],
    )
    with tf.control_dependencies([fits]):
        return tf.identity(narrow)


def _height_width(image_size: int | tuple[int, int]) -> tuple[int, int]:
    return (image_size, image_size) if isinstance(image_size, int) else image_size
