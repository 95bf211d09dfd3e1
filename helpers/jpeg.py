"""Validation of JPEG files with the same op that decodes them in training.

Two decoders never agree about every damaged file. The files that this module accepts
are therefore exactly those that `decode` accepts in a pipeline: both check the size in
the header first, and then every code of the file. Only the number of pixels differs,
because the check decodes to an eighth of each side.
"""

import functools
import os
from collections.abc import Callable, Iterable, Iterator

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.errors import DataError, first_line
from helpers.reading import regular_file

Name = str | os.PathLike

# The header of a picture states its size before a byte is decoded. A few kilobytes
# may decode to gigabytes, so this is the largest size that is decoded (48 MB).
MAX_PIXELS = 4096 * 4096
GROUP = 128  # pictures per session call
# Damage appears in the codes of a file, which are read at any scale. The conversion
# to pixels takes half of the decoding time, and no damaged file failed in it.
CHECK_RATIO = 8


def decode(contents: tf.Tensor) -> tf.Tensor:
    """Decodes a validated JPEG picture to RGB.

    Every pipeline uses this op.

    Args:
      contents: Bytes of a JPEG file, string `[]`, which `tf.io.extract_jpeg_shape` has
        accepted. The decoder alone would also accept PNG and GIF files.

    Returns:
      uint8 `[height, width, 3]`, of unknown size.
    """
    return tf.io.decode_jpeg(contents, channels=3)


def check_jpeg(contents: bytes, name: Name) -> None:
    """Raises `DataError` unless the bytes are a complete JPEG of a reasonable size.

    Args:
      contents: Bytes of the file.
      name: Name of the file for the message.

    Raises:
      DataError: If the picture is damaged or too large. The message names the file and
        the cause.
    """
    try:
        _check()(contents)
    except tf.errors.OpError as error:
        cause = first_line(error)
        if "more than" in cause:
            raise DataError(
                f"{name} exceeds the limit of {MAX_PIXELS} pixels and may be a "
                "decompression bomb. Use a smaller picture."
            ) from error
        raise DataError(
            f"{name} is not a complete JPEG file ({cause}). Replace or remove it."
        ) from error


@functools.cache
def _check() -> Callable:
    """Returns a cached function that validates the bytes of one picture."""
    with tf.Graph().as_default() as graph:
        contents = tf1.placeholder(tf.string, [])
        checked = _checked(contents)
    return tf1.Session(graph=graph).make_callable(checked, [contents])


def read_jpegs(paths: Iterable[Name]) -> Iterator[bytes]:
    """Yields the bytes of JPEG files in order, after validating each of them.

    Args:
      paths: Paths of the files.

    Raises:
      DataError: If a file cannot be read or is invalid. The message names the first
        one.
    """
    names = [os.fspath(regular_file(path)) for path in paths]
    with tf.Graph().as_default() as graph:
        all_names = tf1.placeholder(tf.string, [None])

        @tf.autograph.experimental.do_not_convert
        def read_group(start: tf.Tensor) -> tf.Tensor:
            # Sequential, because the groups already run in parallel.
            return tf.map_fn(
                lambda name: _checked(tf.io.read_file(name)),
                all_names[start : start + GROUP],
                fn_output_signature=tf.string, parallel_iterations=1,
            )

        starts = tf.data.Dataset.range(0, len(names), GROUP)
        read = starts.map(read_group, os.cpu_count() or 1, deterministic=True)
        untuned = tf.data.Options()
        untuned.autotune.enabled = False
        groups = read.prefetch(2).with_options(untuned)
        iterator = tf1.data.make_initializable_iterator(groups)
        following = iterator.get_next()
    with tf1.Session(graph=graph) as session:
        session.run(iterator.initializer, {all_names: names})
        for start in range(0, len(names), GROUP):
            try:
                contents = session.run(following)
            except tf.errors.OpError:
                _name_the_first(names[start : start + GROUP])
                raise  # every single picture is valid, so raise the original error
            yield from contents


def _name_the_first(names: list[str]) -> None:
    """Raises `DataError` for the first invalid file in a list."""
    for name in names:
        try:
            with open(name, "rb") as file:
                contents = file.read()
        except OSError as error:
            raise DataError(f"{name} cannot be read: {error.strerror}.") from error
        check_jpeg(contents, name)


def _checked(contents: tf.Tensor) -> tf.Tensor:
    """Returns the bytes of a picture after an op has decoded them.

    TensorFlow's optimiser removes ops whose results are not used, so a decoder alone
    would not run. An `Assert` is kept, and this one depends on the pixels.
    """
    shape = tf.io.extract_jpeg_shape(contents, tf.int64)
    none_large = tf.raw_ops.Assert(
        condition=tf.reduce_prod(shape[:2]) <= MAX_PIXELS, data=["more than allowed"]
    )
    with tf.control_dependencies([none_large]):
        pixels = tf.io.decode_jpeg(contents, channels=3, ratio=CHECK_RATIO)
    some = tf.raw_ops.Assert(condition=tf.size(pixels) > 0, data=["no pixels"])
    with tf.control_dependencies([some]):
        return tf.identity(contents)
