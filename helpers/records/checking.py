"""Verifies every byte of a set of shards, and reads the size of its pictures."""

import os
from pathlib import Path

import tensorflow as tf

from helpers.errors import DataError
from helpers.files import sha256
from helpers.records import wire
from helpers.records.shards import PathPrefix, open_shards, read_manifest


def check_shards(path_prefix: PathPrefix) -> int:
    """Verifies every byte of a set of shards and returns the number of records.

    Args:
      path_prefix: Prefix as passed to `write_shards`, or a list of other record files.
        Because these have no manifest, their headers are read and every checksum is
        compared.

    Returns:
      The number of records.

    Raises:
      DataError: If a file is damaged. The message names the file, the record, the
        cause, and the fix.
    """
    if not isinstance(path_prefix, (str, os.PathLike)):
        return sum(map(wire.check_payloads, open_shards(path_prefix)))  # reads headers
    manifest = read_manifest(path_prefix)
    for path in open_shards(path_prefix):
        written = manifest["shards"][Path(path).name]
        if sha256(path) != written["sha256"]:
            wire.walk(path)  # names the damaged record if possible
            wire.check_payloads(path)
            raise DataError(
                f"{path} does not match its SHA-256 hash in the manifest, although its "
                f"records are intact. {wire.REMEDY}"
            )
    return sum(shard["records"] for shard in manifest["shards"].values())


def picture_size(path_prefix: PathPrefix) -> tuple[int, int]:
    """Returns the height and width, in pixels, of the picture in the first record.

    Args:
      path_prefix: Prefix or files, as for `check_shards`.

    Raises:
      DataError: If a file is missing, damaged, or was never completed.
    """
    paths = open_shards(path_prefix)
    [record] = wire.dataset(paths).take(1)
    encoded = tf.train.Example.FromString(record.numpy())
    [picture] = encoded.features.feature["image"].bytes_list.value
    height, width, _ = tf.io.extract_jpeg_shape(picture).numpy().tolist()
    return height, width
