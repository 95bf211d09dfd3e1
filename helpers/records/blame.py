"""Which record is to blame: an error of a pipeline becomes one with file and record."""

import contextlib
import threading
from collections.abc import Callable, Iterator

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.errors import DataError, first_line
from helpers.records import wire
from helpers.records.shards import PathPrefix, open_shards

SCAN_RECORDS = 128  # parsed by one call, until one of them fails


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

    def create_threads(
        self,
        sess: tf1.Session,
        coord: tf1.train.Coordinator | None = None,
        daemon: bool = False,
        start: bool = False,
    ) -> list[threading.Thread]:
        """As in the base class, which says nothing about the record."""
        if coord is not None:
            coord = _BlamingCoordinator(coord, self._paths, self._parse)
        return super().create_threads(sess, coord, daemon, start)


class _BlamingCoordinator:
    """A coordinator that explains an error before it passes it on."""

    def __init__(self, coordinator, paths, parse):
        self._coordinator, self._paths, self._parse = coordinator, paths, parse
        self._one_search = threading.Lock()

    def __getattr__(self, name):
        return getattr(self._coordinator, name)

    def request_stop(self, error: BaseException | tuple | None = None) -> None:
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
                            "file again without it, or fix it at the source."
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
