"""From shards to batches of pictures: the queue pipeline and its tf.data twin."""

import math
from collections.abc import Callable

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.arguments import whole_number
from helpers.jpeg import decode
from helpers.pictures import shifted_and_mirrored
from helpers.records import wire
from helpers.records.blame import NamingQueueRunner
from helpers.records.shards import PathPrefix, open_counted

CROP_MARGIN = 4
GROUP = 64  # records that are parsed, decoded and handed on by one call
READ = 4 * GROUP  # that the queue's one reader takes from a file by one call
MOST_PIXELS = 65_535  # of one side: a JPEG's header holds no more
MOST_PICTURES, MOST_THREADS = 1 << 20, 256  # beyond, the process would die
_FEATURES = {
    "image": tf.io.FixedLenFeature([], tf.string),
    "label": tf.io.FixedLenFeature([], tf.int64),
}


def image_label_parser(
    image_size: int | tuple[int, int],
) -> Callable[[tf.Tensor], tuple[tf.Tensor, tf.Tensor]]:
    """Returns the function that both pipelines turn one record into a picture with.

    The size in the JPEG's header is compared before anything is decoded, so a
    picture of another size, however large, is an error and never takes the memory.

    Args:
      image_size: pixels of every picture: a number, or (height, width).

    Returns:
      A function from `string []`, one serialised `Example`, to the picture
      `uint8 [height, width, 3]` and the label `int32 []`.
    """
    size = _height_width(image_size)

    def parse(serialized):
        fields = tf.io.parse_single_example(serialized, _FEATURES)
        return _decoded([fields["image"]], size)[0], _int32(fields["label"])

    return parse


def picture_size(path_prefix: PathPrefix) -> tuple[int, int]:
    """Returns the height and width, in pixels, of the picture in the first record.

    Args:
      path_prefix: as for `image_label_queue`.

    Raises:
      DataError: a file is missing, damaged or was never finished.
    """
    paths, _ = open_counted(path_prefix)
    [record] = wire.dataset(paths).take(1)
    encoded = tf.io.parse_single_example(record, _FEATURES)["image"]
    height, width, _ = tf.io.extract_jpeg_shape(encoded).numpy().tolist()
    return height, width


def image_label_queue(
    path_prefix: PathPrefix,
    batch_size: int,
    *,
    image_size: int | tuple[int, int],
    num_epochs: int | None = None,
    shuffle_buffer: int = 1000,
    num_threads: int = 2,
    augment: bool = False,
    seed: int = 0,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Adds the queues that read, decode and batch labelled pictures.

    Drive it with `helpers.queues.running_queues`. An error in a record reaches the
    coordinator as a `DataError` that names the file and the record.

    Args:
      path_prefix: shards from `write_shards`; or a list of files written elsewhere.
      batch_size: pictures per batch. The last batch of a limited number of epochs
        may be smaller; none is lost.
      image_size: pixels of every picture in the files: a number, or (height,
        width). To train at another size, resize the batch afterwards.
      num_epochs: how often each record is read; without end if `None`. A number
        needs `tf1.local_variables_initializer()`.
      shuffle_buffer: records to draw from, still encoded; more than there are is as
        good as all. 0 gives the order of the files, with one thread.
      num_threads: threads that decode; each decodes a group of pictures at once.
      augment: mirror at random and shift by up to 4 pixels.
      seed: of the order and the augmentation. Threads reorder all the same.

    Returns:
      Pictures `float32 [batch, height, width, 3]` in [-1, 1] and labels
      `int32 [batch]`.

    Raises:
      DataError: a file is missing, damaged or was never finished.
      ValueError: an argument is not possible.

    Source: the queue documents and the records document.
    """
    numbers = _checked(batch_size, num_epochs, shuffle_buffer, num_threads, seed)
    batch_size, num_epochs, shuffle_buffer, num_threads, seed = numbers
    size = _height_width(image_size)
    paths, count = open_counted(path_prefix)
    shuffle_buffer = min(shuffle_buffer, count)
    naming = {"paths": paths, "parse": image_label_parser(image_size)}
    with tf.name_scope("input_queue"):
        encoded = _encoded_queue(shuffle_buffer, seed)
        records = _next_records(paths, num_epochs, seed if shuffle_buffer else None)
        read = encoded.enqueue_many([records])
        tf1.train.add_queue_runner(NamingQueueRunner(encoded, [read], **naming))

        decoded = _picture_queue(size, batch_size)
        draws = None
        if augment:
            draws = tf.random.uniform([GROUP], maxval=2**40, dtype=tf.int64, seed=seed)
        take = encoded.dequeue_many if num_epochs is None else encoded.dequeue_up_to
        given = [take(GROUP)] if draws is None else [take(GROUP), draws]

        def parse(records, draws=None):
            return _parsed_group(records, GROUP, draws, size)

        decode_all = [decoded.enqueue_many(_in_one_thread(parse, given))]
        if shuffle_buffer:  # otherwise one thread, which keeps the order of the files
            decode_all *= num_threads
        tf1.train.add_queue_runner(NamingQueueRunner(decoded, decode_all, **naming))
        # A finite number of epochs ends with what is left; an endless one always
        # has a full batch, and then its static shape says so.
        dequeue = decoded.dequeue_many if num_epochs is None else decoded.dequeue_up_to
        images, labels = dequeue(batch_size)
        # A part stays in a core's cache from the first pass over it to the last.
        parts = 1 if num_epochs is not None else math.gcd(batch_size, 8)
        [images] = _in_one_thread(_floats, [images], parts)
        return images, labels


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
    """Returns the batches of `image_label_queue` as a `tf.data.Dataset`.

    The stages stand in the same order, one method call for each queue. Wrap the loop
    in `naming_bad_records` to learn the file and the record of an error.

    Args:
      path_prefix: as for `image_label_queue`, like all arguments.
      batch_size: pictures per batch.
      image_size: pixels of every picture in the files.
      num_epochs: how often each record is read; without end if `None`.
      shuffle_buffer: records to draw from; 0 keeps the order.
      num_threads: groups of pictures decoded at the same time.
      augment: mirror at random and shift by up to 4 pixels.
      seed: of the order, which repeats exactly here, and of the augmentation.

    Returns:
      A dataset of pictures `float32 [batch, height, width, 3]` in [-1, 1] and
      labels `int32 [batch]`. It does not tune itself, nor do stages behind it.

    Raises:
      DataError: a file is missing, damaged or was never finished.
      ValueError: an argument is not possible.
    """
    numbers = _checked(batch_size, num_epochs, shuffle_buffer, num_threads, seed)
    batch_size, num_epochs, shuffle_buffer, num_threads, seed = numbers
    size = _height_width(image_size)
    paths, count = open_counted(path_prefix)
    shuffle_buffer = min(shuffle_buffer, count)
    group, endless = min(GROUP, batch_size), num_epochs is None

    def parse(records, draws=None):
        return _parsed_group(records, group, draws, size)

    records = wire.dataset(paths, seed if shuffle_buffer else None).repeat(num_epochs)
    if shuffle_buffer:
        records = records.shuffle(shuffle_buffer, seed=seed)
    if augment:
        # One number per picture: random ops with a state repeat only in one thread.
        draws = tf.data.Dataset.random(seed, rerandomize_each_iteration=True)
        records = tf.data.Dataset.zip(records, draws)
    groups = records.batch(group, drop_remainder=endless)
    batches = groups.map(parse, num_threads, deterministic=True)
    if batch_size > group:
        batches = batches.rebatch(batch_size, drop_remainder=endless)
    batches = batches.map(lambda images, labels: (_floats(images), labels))
    return batches.prefetch(2)


def _next_records(paths: list[str], num_epochs: int | None, seed: int | None):
    """Returns the next serialised records of one file, `string [record]`."""
    names = tf1.train.string_input_producer(
        paths, num_epochs, shuffle=seed is not None, seed=seed
    )
    return wire.reader(paths).read_up_to(names, READ)[1]


def _encoded_queue(shuffle_buffer: int, seed: int) -> tf.queue.QueueBase:
    """Returns the queue of serialised records: shuffled while they are small."""
    capacity = shuffle_buffer + READ
    if not shuffle_buffer:
        return tf.queue.FIFOQueue(capacity, [tf.string], [[]], name="records")
    return tf.queue.RandomShuffleQueue(
        capacity, shuffle_buffer, [tf.string], [[]], seed=seed, name="records"
    )


def _picture_queue(size: tuple[int, int], batch_size: int) -> tf.queue.QueueBase:
    """Returns the queue of decoded pictures and labels, a few batches long."""
    capacity = 2 * (GROUP + batch_size)
    return tf.queue.FIFOQueue(
        capacity, [tf.uint8, tf.int32], [[*size, 3], []], name="batches"
    )


def _in_one_thread(
    function: Callable, tensors: list[tf.Tensor], parts: int = 1
) -> list[tf.Tensor]:
    """Calls a function of tensors; each op in it takes one thread, as in tf.data.

    A session has a pool of threads that run ops and another that large ops split
    their work in. Where decoders keep all cores busy, the two push each other off.

    Args:
      function: of the tensors, or of a part of their rows.
      tensors: `[row, ...]` each.
      parts: side by side; their number divides that of the rows.
    """
    count = tensors[0].shape[0]  # often known, and then it stays so
    each = -1 if count is None else count // parts
    rows = [tf.reshape(one, [parts, each, *one.shape[1:]]) for one in tensors]
    signature = [tf.TensorSpec(one.shape[1:], one.dtype) for one in rows]
    traced = tf.function(function, signature).get_concrete_function()
    results = tf.raw_ops.MapDefun(
        arguments=rows, captured_inputs=traced.captured_inputs,
        output_types=[one.dtype for one in traced.outputs],
        output_shapes=[one.shape for one in traced.outputs],
        f=traced, max_intra_op_parallelism=1,
    )
    whole = -1 if count is None else count
    return [tf.reshape(one, [whole, *one.shape[2:]]) for one in results]


def _parsed_group(records: tf.Tensor, most: int, draws: tf.Tensor | None, size):
    """Parses records at once and decodes them side by side, in as many threads as run.

    Args:
      records: `string [record]`.
      most: how many there may be; so many ops stand side by side.
      draws: `int64 [record]`, random numbers for the augmentation; none if `None`.
      size: height and width in pixels.

    Returns:
      `uint8 [record, height, width, 3]` and `int32 [record]`.
    """
    fields = tf.io.parse_example(records, _FEATURES)
    contents, short = fields["image"], records.shape[0] != most
    if short:  # it is filled up with its last record, which is cut off again
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
    images = tf.stack(images)
    return images[:count] if short else images, _int32(fields["label"])


def _decoded(contents: list[tf.Tensor], size: tuple[int, int]) -> list[tf.Tensor]:
    """Decodes pictures, each `string []`, once the headers of all have this size."""
    shapes = tf.stack([tf.io.extract_jpeg_shape(one) for one in contents])
    right = tf.reduce_all(tf.equal(shapes[:, :2], size), axis=1)
    first_wrong = tf.argmin(tf.cast(right, tf.int32))  # the first, if all are right
    # The bare op: tf.debugging.Assert wraps it in a tf.cond, for each group.
    right_size = tf.raw_ops.Assert(
        condition=tf.reduce_all(right),
        data=["the picture has the shape", tf.gather(shapes, first_wrong),
              f"but image_size asks for {size[0]} x {size[1]}"],
    )
    with tf.control_dependencies([right_size]):
        images = [decode(one) for one in contents]
    for image in images:
        image.set_shape([*size, 3])
    return images


def _floats(images: tf.Tensor) -> tf.Tensor:
    """Returns what `pictures.from_bytes` makes of uint8, in a pass less."""
    quantized = tf.bitcast(images, tf.quint8)
    return tf.quantization.dequantize(quantized, -127.5, 127.5) / 127.5


def _int32(labels: tf.Tensor) -> tf.Tensor:
    """Returns int64 labels as int32; one that does not fit is an error, not another."""
    narrow = tf.cast(labels, tf.int32)
    fits = tf.raw_ops.Assert(
        condition=tf.reduce_all(tf.equal(tf.cast(narrow, tf.int64), labels)),
        data=["a label is beyond int32:", labels],
    )
    with tf.control_dependencies([fits]):
        return tf.identity(narrow)


def _height_width(image_size: int | tuple[int, int]) -> tuple[int, int]:
    sides = image_size if isinstance(image_size, (tuple, list)) else [image_size] * 2
    if len(sides) != 2:
        raise ValueError(f"image_size={image_size!r}: one number, or height and width")
    height, width = (whole_number("image_size", side, 1, MOST_PIXELS) for side in sides)
    return height, width


def _checked(batch_size, num_epochs, shuffle_buffer, num_threads, seed) -> list:
    """Returns the arguments as numbers that TensorFlow and the machine can take."""
    epochs = None if num_epochs is None else whole_number("num_epochs", num_epochs)
    return [
        whole_number("batch_size", batch_size, 1, MOST_PICTURES),
        epochs,
        whole_number("shuffle_buffer", shuffle_buffer, 0),
        whole_number("num_threads", num_threads, 1, MOST_THREADS),
        whole_number("seed", seed, tf.int64.min, tf.int64.max),
    ]
