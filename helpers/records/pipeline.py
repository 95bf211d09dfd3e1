"""From shards to batches of pictures: the queue pipeline and its tf.data twin."""

import contextlib
import threading
from collections.abc import Callable, Iterator

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.errors import DataError, first_line
from helpers.records import wire
from helpers.records.shards import PathPrefix, open_shards

CROP_MARGIN = 4
SCAN_RECORDS = 128


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
    height, width = _height_width(image_size)

    def parse(serialized):
        fields = tf.io.parse_single_example(
            serialized,
            {
                "image": tf.io.FixedLenFeature([], tf.string),
                "label": tf.io.FixedLenFeature([], tf.int64),
            },
        )
        shape = tf.io.extract_jpeg_shape(fields["image"])
        # The bare op: tf.debugging.Assert wraps it in a tf.cond, for each picture.
        right_size = tf.raw_ops.Assert(
            condition=tf.reduce_all(tf.equal(shape[:2], [height, width])),
            data=["the picture has the shape", shape,
                  f"but image_size asks for {height} x {width}"],
        )
        with tf.control_dependencies([right_size]):
            contents = tf.identity(fields["image"])
        image = tf.io.decode_jpeg(contents, channels=3)
        image.set_shape([height, width, 3])
        return image, tf.cast(fields["label"], tf.int32)

    return parse


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
      shuffle_buffer: decoded pictures to draw from, `height * width * 3` bytes
        each; 0 gives the order of the files, with one thread.
      num_threads: threads that read and decode.
      augment: mirror at random and shift by up to 4 pixels.
      seed: of the order and the augmentation. Threads reorder all the same.

    Returns:
      Pictures `float32 [batch, height, width, 3]` in [-1, 1] and labels
      `int32 [batch]`.

    Raises:
      DataError: a file is missing, damaged or was never finished.
      ValueError: an argument is not possible.

    Source: 004, "Queues".
    """
    _check_numbers(batch_size, num_epochs, shuffle_buffer, num_threads)
    paths = open_shards(path_prefix)
    parse = image_label_parser(image_size)
    with tf.name_scope("input_queue"):
        image, label = parse(
            _next_record(paths, num_epochs, seed if shuffle_buffer else None)
        )
        if augment:
            image = _augmented(image, seed)
        queue = _batch_queue(image, label, shuffle_buffer, batch_size, seed)
        enqueue = queue.enqueue([image, label])
        threads = num_threads if shuffle_buffer else 1
        tf1.train.add_queue_runner(
            NamingQueueRunner(queue, [enqueue] * threads, paths=paths, parse=parse)
        )
        # A finite number of epochs ends with what is left; an endless one always
        # has a full batch, and then its static shape says so.
        dequeue = queue.dequeue_many if num_epochs is None else queue.dequeue_up_to
        images, labels = dequeue(batch_size)
        return _normalised(images), labels


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
      shuffle_buffer: records to draw from, still encoded here; 0 keeps the order.
      num_threads: pictures decoded at the same time.
      augment: mirror at random and shift by up to 4 pixels.
      seed: of the order, which repeats exactly here, and of the augmentation.

    Returns:
      A dataset of pictures `float32 [batch, height, width, 3]` in [-1, 1] and
      labels `int32 [batch]`.

    Raises:
      DataError: a file is missing, damaged or was never finished.
      ValueError: an argument is not possible.
    """
    _check_numbers(batch_size, num_epochs, shuffle_buffer, num_threads)
    paths = open_shards(path_prefix)
    parse = image_label_parser(image_size)

    def move(picture, draw):
        image, label = picture
        return _augmented_by(image, [seed, draw]), label

    files = tf.data.Dataset.from_tensor_slices(paths)
    if shuffle_buffer:
        files = files.shuffle(len(paths), seed=seed)
    records = tf.data.TFRecordDataset(files, wire.compression_of(paths[0]))
    records = records.repeat(num_epochs)
    if shuffle_buffer:
        records = records.shuffle(shuffle_buffer, seed=seed)
    pictures = records.map(parse, num_threads, deterministic=True)
    if augment:
        # One number per picture: random ops with a state repeat only in one thread.
        draws = tf.data.Dataset.random(seed, rerandomize_each_iteration=True)
        numbered = tf.data.Dataset.zip(pictures, draws)
        pictures = numbered.map(move, num_threads, deterministic=True)
    batches = pictures.batch(batch_size, drop_remainder=num_epochs is None)
    return batches.map(lambda images, labels: (_normalised(images), labels)).prefetch(2)


@contextlib.contextmanager
def naming_bad_records(
    path_prefix: PathPrefix, parse: Callable[[tf.Tensor], object]
) -> Iterator[None]:
    """Turns an error of reading into one that names the file and the record.

    Args:
      path_prefix: what the block reads.
      parse: the function that the block parses one record with, such as
        `image_label_parser(64)`.

    Raises:
      DataError: in place of TensorFlow's error, which becomes its cause.
    """
    try:
        yield
    except Exception as error:
        named = _named(error, path_prefix, parse)
        if named is error:
            raise
        raise named from error


def find_bad_record(
    path_prefix: PathPrefix, parse: Callable[[tf.Tensor], object]
) -> str | None:
    """Parses record by record and says which is the first that cannot be read.

    Args:
      path_prefix: shards from `write_shards`, or a list of files.
      parse: from one serialised record, `string []`, to tensors; run in a graph of
        its own, away from the pipeline.

    Returns:
      One line with file, record and cause; `None` if every record parses.
    """
    try:
        paths = open_shards(path_prefix)
        with tf.Graph().as_default() as graph, tf1.Session(graph=graph) as session:
            one = tf1.placeholder(tf.string, [])
            # A number that needs the whole tensor: its static size would not be read.
            many = tf1.placeholder(tf.string, [None])
            parsed = tf.nest.flatten(parse(one), expand_composites=True)
            scan = tf.map_fn(
                lambda record: [
                    tf.strings.length(tf.io.serialize_tensor(t))
                    for t in tf.nest.flatten(parse(record), expand_composites=True)
                ],
                many,
                fn_output_signature=[tf.int32] * len(parsed),
            )
            for path in paths:
                message = _scan_file(path, session, (many, scan), (one, parsed))
                if message:
                    return message
    except DataError as error:
        return str(error)
    return None


class NamingQueueRunner(tf1.train.QueueRunner):
    """A queue runner whose coordinator hears which file and record was bad.

    When one of its threads fails, the files are parsed record by record before the
    error is handed on, whoever drives the queue. Normal running costs nothing more.
    """

    def __init__(self, queue, enqueue_ops, *, paths, parse):
        """As `tf1.train.QueueRunner`; `paths` and `parse` as in `find_bad_record`."""
        super().__init__(queue, enqueue_ops)
        self._paths, self._parse = paths, parse

    def create_threads(self, sess, coord=None, daemon=False, start=False):
        """As in the base class, which says nothing about the record."""
        if coord is not None:
            coord = _NamingCoordinator(coord, self._paths, self._parse)
        return super().create_threads(sess, coord, daemon, start)


class _NamingCoordinator:
    """A coordinator that explains an error before it passes it on."""

    def __init__(self, coordinator, paths, parse):
        self._coordinator, self._paths, self._parse = coordinator, paths, parse
        self._one_search = threading.Lock()

    def __getattr__(self, name):
        return getattr(self._coordinator, name)

    def request_stop(self, error=None):
        with self._one_search:
            if isinstance(error, Exception) and not self._coordinator.should_stop():
                named = _named(error, self._paths, self._parse)
                if named is not error:
                    named.__cause__ = error
                    # Given an exception alone, a coordinator takes the current one.
                    error = (DataError, named, error.__traceback__)
            self._coordinator.request_stop(error)


def _named(error: Exception, path_prefix, parse) -> Exception:
    """Returns a `DataError` with the record's name, or `error` if none is to blame."""
    ends = (tf.errors.OutOfRangeError, tf.errors.CancelledError)
    # Bytes that are no Example become a UnicodeDecodeError: TensorFlow puts them
    # into its own message and fails on that.
    unreadable = (tf.errors.OpError, UnicodeDecodeError)
    if isinstance(error, ends) or not isinstance(error, unreadable):
        return error
    try:
        message = find_bad_record(path_prefix, parse)
    except Exception:  # a parser that runs only where it was built, a session closed
        return error
    return DataError(message) if message else error


def _scan_file(path: str, session, scan, one) -> str | None:
    """Parses one file in groups; in the group that fails, one record at a time."""
    group, number = [], 0
    records = wire.payloads(path)
    while True:
        try:
            record = next(records, None)
        except tf.errors.DataLossError:
            record = None  # the records before it come first
        if record is not None:
            group.append(record)
        if len(group) == SCAN_RECORDS or (record is None and group):
            if _error_of(session, scan, group):
                for offset, bad in enumerate(group):
                    if cause := _error_of(session, one, bad):
                        return (
                            f"{path}: record {number + offset}: {cause}. Write the "
                            "file again without it, or mend it at the source."
                        )
            number += len(group)
            group = []
        if record is None:
            wire.check_payloads(path)
            return None


def _error_of(session, graph_ends, value) -> str | None:
    """Returns the cause in a few words, or `None` if the value parses."""
    placeholder, fetches = graph_ends
    try:
        session.run(fetches, {placeholder: value})
    except UnicodeDecodeError:
        return "its payload is not a tf.train.Example"
    except tf.errors.OpError as error:
        return first_line(error).removeprefix("Name: <unknown>, ").rstrip(".")
    return None


def _next_record(paths: list[str], num_epochs: int | None, seed: int | None):
    """Returns the next serialised record, `string []`."""
    names = tf1.train.string_input_producer(
        paths, num_epochs, shuffle=seed is not None, seed=seed
    )
    kinds = tf1.io.TFRecordCompressionType
    kind = kinds.GZIP if wire.compression_of(paths[0]) else kinds.NONE
    reader = tf1.TFRecordReader(options=tf1.io.TFRecordOptions(kind))
    _, serialized = reader.read(names)
    return serialized


def _batch_queue(image, label, shuffle_buffer, batch_size, seed):
    dtypes, shapes = [image.dtype, label.dtype], [image.shape, label.shape]
    capacity = shuffle_buffer + 3 * batch_size
    if not shuffle_buffer:
        return tf.queue.FIFOQueue(capacity, dtypes, shapes, name="batches")
    return tf.queue.RandomShuffleQueue(
        capacity, shuffle_buffer, dtypes, shapes, seed=seed, name="batches"
    )


def _augmented(image: tf.Tensor, seed: int) -> tf.Tensor:
    """Mirrors and shifts one picture at random; `uint8 [height, width, 3]`."""
    shifted = tf.image.random_crop(_with_margin(image), image.shape, seed=seed)
    return tf.image.random_flip_left_right(shifted, seed=seed)


def _augmented_by(image: tf.Tensor, numbers) -> tf.Tensor:
    """As `_augmented`, but the two numbers decide, whichever thread comes first."""
    shift, mirror = tf.unstack(tf.random.split(tf.cast(numbers, tf.int64)))
    shifted = tf.image.stateless_random_crop(_with_margin(image), image.shape, shift)
    return tf.image.stateless_random_flip_left_right(shifted, mirror)


def _with_margin(image: tf.Tensor) -> tf.Tensor:
    """Adds mirrored pixels around a picture, for a crop to move in."""
    margin = [[CROP_MARGIN, CROP_MARGIN], [CROP_MARGIN, CROP_MARGIN], [0, 0]]
    return tf.pad(image, margin, "REFLECT")


def _normalised(images: tf.Tensor) -> tf.Tensor:
    """From uint8 to float32 in [-1, 1]: late, because floats are four times as big."""
    return (tf.cast(images, tf.float32) - 127.5) / 127.5


def _height_width(image_size: int | tuple[int, int]) -> tuple[int, int]:
    height, width = (
        (image_size, image_size) if isinstance(image_size, int) else image_size
    )
    if height < 1 or width < 1:
        raise ValueError(f"image_size={image_size!r}: sizes start at 1 pixel")
    return height, width


def _check_numbers(batch_size, num_epochs, shuffle_buffer, num_threads) -> None:
    least = {
        "batch_size": (batch_size, 1),
        "num_epochs": (1 if num_epochs is None else num_epochs, 1),
        "shuffle_buffer": (shuffle_buffer, 0),
        "num_threads": (num_threads, 1),
    }
    for name, (value, smallest) in least.items():
        if value < smallest:
            raise ValueError(f"{name}={value}: must be at least {smallest}")
