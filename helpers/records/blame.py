"""Finds the unreadable record behind an error of an input pipeline.

Taught in lesson 04b, 'Errors that name the record'.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.errors import DataError, first_line
from helpers.records import wire
from helpers.records.shards import PathPrefix, open_shards


@contextlib.contextmanager
def naming_bad_records(
    path_prefix: PathPrefix, parse: Callable[[tf.Tensor], object]
) -> Iterator[None]:
    """Context manager whose reading errors name the file and the record.

    Args:
      path_prefix: Prefix or files that the block reads.
      parse: Function with which the block parses one record, such as
        `image_label_parser(64)`.

    Raises:
      DataError: If a record cannot be read. TensorFlow's error is its cause.
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
    """Returns a description of the first record that cannot be parsed.

    The records are parsed one by one, in a separate graph.

    Args:
      path_prefix: Prefix of shards from `write_shards`, or a list of files.
      parse: Function from one serialised record, string `[]`, to tensors.

    Returns:
      One line with the file, the record, and the cause, or `None` if every record can
      be parsed.
    """
    try:
        for path in open_shards(path_prefix):
            message = _search(path, parse)
            if message:
                return message
    except DataError as error:
        return str(error)
    return None


class NamingQueueRunner(tf1.train.QueueRunner):
    """Queue runner whose errors name the file and the bad record.

    When one of its threads has failed, the files are parsed record by record.
    """

    def __init__(self, queue, enqueue_ops, *, paths, parse):
        """Creates a queue runner that can look up bad records.

        The arguments are those of `tf1.train.QueueRunner`, with `paths` and `parse` as
        in `find_bad_record`.
        """
        super().__init__(queue, enqueue_ops)
        self._paths, self._parse = paths, parse

    def create_threads(
        self,
        sess: tf1.Session,
        coord: tf1.train.Coordinator | None = None,
        daemon: bool = False,
        start: bool = False,
    ) -> list[threading.Thread]:
        """Creates the threads as in the base class, with better error messages."""
        if coord is not None:
            coord = _BlamingCoordinator(coord, self._paths, self._parse)
        return super().create_threads(sess, coord, daemon, start)


class _BlamingCoordinator:
    """Coordinator that replaces each error by one that names the record."""

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
                    # Without a tuple, the coordinator would use the current error.
                    error = (DataError, named, error.__traceback__)
            self._coordinator.request_stop(error)


def _named(error: Exception, path_prefix, parse) -> Exception:
    """Returns a `DataError` that names the bad record, or the original error."""
    ends = (tf.errors.OutOfRangeError, tf.errors.CancelledError)
    # TensorFlow raises UnicodeDecodeError when it quotes bytes that are no Example.
    unreadable = (tf.errors.OpError, UnicodeDecodeError)
    if isinstance(error, ends) or not isinstance(error, unreadable):
        return error
    message = find_bad_record(path_prefix, parse)
    return DataError(message) if message else error


def _search(path: str, parse: Callable[[tf.Tensor], object]) -> str | None:
    """Describes the first record of a file that cannot be parsed."""
    count = 0
    with tf.Graph().as_default(), tf1.Session() as session:
        parsed = wire.dataset([path]).map(parse, 2, deterministic=True)
        following = tf1.data.make_one_shot_iterator(parsed).get_next()
        try:
            while True:
                session.run(following)
                count += 1
        except tf.errors.OutOfRangeError:
            return None
        except UnicodeDecodeError:  # TensorFlow could not quote the bytes
            cause = "the payload is not a tf.train.Example"
        except tf.errors.OpError as error:
            cause = first_line(error).removeprefix("Name: <unknown>, ").rstrip(".")
            wire.check_payloads(path)
    return (
        f"{path}: record {count}: {cause}. Write the file again without it, or fix it "
        "at the source."
    )
