"""JPEG files that training can decode: checked by the very op that it decodes with.

Two decoders never agree about every damaged file. So what is checked here and what
`decode` accepts in a pipeline is the same set: the header's size first, then every
code of the file. Only the pixels are fewer: the check makes an eighth of each side.
"""

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.errors import DataError, first_line

Name = str | os.PathLike

# A picture's header states its size before a byte is decoded. A few kilobytes can
# state gigabytes: this is the most that is decoded (48 MB of RAM).
MAX_PIXELS = 4096 * 4096
GROUP = 128  # pictures checked by one call, side by side in TensorFlow's threads
AHEAD = 4  # groups that are read while one is checked: none waits for the other
GROUP_BYTES = 8 << 20  # or fewer, if they are large
# A file is refused for its codes, which are read whatever the scale. What follows
# them, from numbers to pixels, is half of a decoding; no damaged file failed there.
CHECK_RATIO = 8


def decode(contents: tf.Tensor) -> tf.Tensor:
    """Adds the op that every pipeline decodes a checked picture with.

    Args:
      contents: `string []`, the bytes of a JPEG file, which `tf.io.extract_jpeg_shape`
        has accepted: the op alone would take a PNG or a GIF too.

    Returns:
      `uint8 [height, width, 3]`, of unknown size.
    """
    return tf.io.decode_jpeg(contents, channels=3)


def check_jpeg(contents: bytes, name: Name) -> None:
    """Refuses what is not a whole JPEG of a sane size.

    Args:
      contents: the bytes of the file.
      name: what to call it in the error.

    Raises:
      DataError: names the file and the cause.
    """
    with _Checker(1) as checker:
        checker.check([(name, contents)])


def read_jpegs(paths: Iterable[Name]) -> Iterator[bytes]:
    """Yields the bytes of JPEG files, each checked before it comes.

    One group is decoded in as many threads as there are cores, while the next are
    read; memory holds six groups.

    Args:
      paths: the files.

    Raises:
      DataError: one cannot be read, or is refused; names the first.
    """
    with _Checker() as checker, ThreadPoolExecutor(1) as thread:
        checked: deque[tuple[list, Future]] = deque()
        for group in _groups(paths):
            checked.append((group, thread.submit(checker.check, group)))
            if len(checked) > AHEAD:
                yield from _contents(*checked.popleft())
        for group, future in checked:
            yield from _contents(group, future)


def _contents(group: list[tuple[Name, bytes]], future: Future) -> Iterator[bytes]:
    """Yields the pictures of a group once it was found whole."""
    future.result()
    for _, contents in group:
        yield contents


def _groups(paths: Iterable[Name]) -> Iterator[list[tuple[Name, bytes]]]:
    """Yields files with their bytes in groups that take little memory.

    A file that cannot be read ends the last group; its error follows that group, so
    that of two bad files the first is named.
    """
    group: list[tuple[Name, bytes]] = []
    size = 0
    for path in paths:
        try:
            with open(path, "rb", buffering=0) as file:
                contents = file.read()
        except OSError as error:
            yield group
            raise DataError(f"{path}: cannot be read: {error.strerror}") from error
        group.append((path, contents))
        size += len(contents)
        if len(group) == GROUP or size > GROUP_BYTES:
            yield group
            group, size = [], 0
    yield group


class _Checker:
    """A graph that decodes a group of pictures at once and keeps none of them."""

    def __init__(self, most: int = GROUP):
        """Builds it for groups of at most so many pictures."""
        graph = tf.Graph()
        with graph.as_default():
            # One feed and one fetch for all: one for each costs half of a decoding.
            self._group = tf1.placeholder(tf.string, [None])
            self._check = _checked(self._group, most)
            graph.finalize()
        # Nobody fetches a picture: the optimiser would leave out the decoding.
        config = tf1.ConfigProto()
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        self._session = tf1.Session(graph=graph, config=config)

    def __enter__(self) -> "_Checker":
        return self

    def __exit__(self, *error) -> None:
        self._session.close()

    def check(self, group: Sequence[tuple[Name, bytes]]) -> None:
        """Raises `DataError` for the first of (name, bytes) that is refused."""
        contents = [one for _, one in group]
        try:
            self._run(contents)
        except tf.errors.OpError:
            for name, one in group:
                self._explain(name, one)
            raise  # the group fails, and none of it: say so as it is

    def _run(self, contents: list[bytes]) -> None:
        self._session.run(self._check, {self._group: contents})

    def _explain(self, name: Name, contents: bytes) -> None:
        try:
            self._run([contents])
        except tf.errors.OpError as error:
            cause = first_line(error)
            if "more than" in cause:
                raise DataError(
                    f"{name}: its header asks for more than {MAX_PIXELS} pixels. "
                    "Leave it out: this may be a picture bomb."
                ) from error
            raise DataError(
                f"{name}: not a whole JPEG picture ({cause}). Replace it, or leave "
                "it out."
            ) from error


def _checked(contents: tf.Tensor, most: int) -> tf.Operation:
    """Adds an op that decodes pictures, side by side, and keeps none.

    Args:
      contents: `string [picture]`.
      most: how many there may be; a tiny one stands for each that is missing.
    """
    tiny = tf.io.encode_jpeg(tf.zeros([1, 1, 3], tf.uint8))
    missing = tf.fill([most - tf.size(contents)], tiny)
    pictures = tf.unstack(tf.concat([contents, missing], 0), most)
    shapes = tf.stack([tf.io.extract_jpeg_shape(one, tf.int64) for one in pictures])
    none_large = tf.raw_ops.Assert(
        condition=tf.reduce_all(shapes[:, 0] * shapes[:, 1] <= MAX_PIXELS),
        data=["more than allowed"],
    )
    with tf.control_dependencies([none_large]):
        return tf.group(*[
            tf.io.decode_jpeg(one, channels=3, ratio=CHECK_RATIO) for one in pictures
        ])
