"""The TFRecord wire format: headers, checksums, and what a walk over them finds.

A record is a header (length as uint64, masked CRC-32C of the length as uint32), the
payload, and the payload's masked CRC-32C, all little-endian. The format has no end
marker and no count, and TensorFlow's readers take a file that ends inside a header
for one that ends: they stop there, silently. A walk over the headers does not.
"""

import gzip
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import IO

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.errors import DataError, first_line

HEADER_BYTES = 12
FOOTER_BYTES = 4
# Said of every damaged file. What stands before the damage is whole, and may be all
# that there is: no message tells anybody to delete it.
REMEDY = "Write or copy it again, and keep this one until then."


def _crc_table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _crc_table()


def masked_crc(data: bytes) -> int:
    """Returns the masked CRC-32C that TFRecords store, as an unsigned 32-bit int.

    Meant for the 8 bytes of a length: in Python it takes a microsecond per byte.

    Args:
      data: the bytes to sum.
    """
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def compression_of(path: str | os.PathLike) -> str:
    """Returns `"GZIP"` or `""`, from what the file holds.

    A plain file may begin with GZIP's two magic bytes by chance (they are part of a
    length then), so the checksum of the first length decides.

    Args:
      path: a TFRecord file.

    Raises:
      DataError: the file is missing or empty.
    """
    try:
        with open(path, "rb") as file:
            header = file.read(HEADER_BYTES)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}.") from error
    if not header:
        raise DataError(
            f"{path}: the file is empty (an interrupted writer leaves this). {REMEDY}"
        )
    is_gzip = header.startswith(b"\x1f\x8b") and not _length_holds(header)
    return "GZIP" if is_gzip else ""


def walk(path: str | os.PathLike) -> int:
    """Walks the headers of one file and returns how many records it holds.

    Args:
      path: a TFRecord file, plain or GZIP.

    Raises:
      DataError: the file is missing, empty, cut, or not a TFRecord file, or it
        holds no record. The message names the file, the record, the byte, the cause
        and the fix.
    """
    compression = compression_of(path)
    size = None if compression else os.path.getsize(path)
    count = position = 0
    try:
        with gzip.open(path) if compression else open(path, "rb") as file:
            while header := file.read(HEADER_BYTES):
                where = f"{path}: record {count} at byte {position}"
                length = _checked_length(header, where, first=count == 0)
                position += HEADER_BYTES + length + FOOTER_BYTES
                _skip(file, length + FOOTER_BYTES, position, size, where)
                count += 1
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(
            f"{path}: record {count}: the GZIP stream is damaged or cut short "
            f"({first_line(error)}). {REMEDY}"
        ) from error
    if not count:  # GZIP can wrap nothing, and every reader takes it for the end
        raise DataError(f"{path}: the GZIP file holds no record. {REMEDY}")
    return count


def check_payloads(path: str | os.PathLike) -> int:
    """Reads one file with TensorFlow's reader, which checks each checksum.

    Args:
      path: a TFRecord file that `walk` found whole.

    Returns:
      The number of records.

    Raises:
      DataError: a checksum does not match; names the file and the record.
    """
    count = 0
    try:
        for _ in payloads(path):
            count += 1
    except tf1.errors.DataLossError as error:
        raise DataError(
            f"{path}: record {count}: its checksum does not match, the bytes changed "
            f"after writing ({first_line(error)}). {REMEDY}"
        ) from error
    return count


def payloads(path: str | os.PathLike) -> Iterator[bytes]:
    """Returns an iterator over the payloads of one file.

    TensorFlow's old iterator: it works in a graph block as well as outside one.
    """
    return tf1.io.tf_record_iterator(os.fspath(path), _options(path))


def reader(paths: Sequence[str]) -> tf1.TFRecordReader:
    """Adds the op that reads files which are all plain or all GZIP, as these are."""
    return tf1.TFRecordReader(options=_options(paths[0]))


def dataset(paths: Sequence[str], seed: int | None = None) -> tf.data.Dataset:
    """Returns the records of files which are all plain or all GZIP, file by file.

    tf.data does not tune what is made of them: give every number. Its thread for that
    may hold up the end of a session, by 8 s after 12 s of reading, by 36 in lesson 12.

    Args:
      paths: the files.
      seed: of the order of the files, another in each epoch; as listed if `None`.
    """
    names = tf.data.Dataset.from_tensor_slices(list(paths))
    if seed is not None:
        names = names.shuffle(len(paths), seed=seed)
    untuned = tf.data.Options()
    untuned.autotune.enabled = False
    records = tf.data.TFRecordDataset(names, _options(paths[0]).compression_type)
    return records.with_options(untuned)


def _options(path: str | os.PathLike) -> tf.io.TFRecordOptions:
    """Returns what each of TensorFlow's readers must be told of a file."""
    return tf.io.TFRecordOptions(compression_of(path))


def _length_holds(header: bytes) -> bool:
    """Whether a header is whole and its length agrees with its checksum."""
    if len(header) < HEADER_BYTES:
        return False
    return masked_crc(header[:8]) == struct.unpack("<I", header[8:])[0]


def _checked_length(header: bytes, where: str, *, first: bool) -> int:
    if len(header) < HEADER_BYTES:
        raise DataError(
            f"{where}: the file was cut short, only {len(header)} of {HEADER_BYTES} "
            f"header bytes are there. {REMEDY}"
        )
    if not _length_holds(header):
        cause = (
            "this is not a TFRecord file, or its first length is damaged"
            if first
            else "its length field is damaged"
        )
        raise DataError(f"{where}: {cause}. {REMEDY}")
    return struct.unpack("<Q", header[:8])[0]


def _skip(
    file: IO[bytes] | gzip.GzipFile, skip: int, end: int, size: int | None, where: str
) -> None:
    """Moves over a payload and its checksum, which must both be there."""
    if size is None:
        while skip and (block := file.read(min(skip, 1 << 20))):
            skip -= len(block)
        whole = not skip
    else:
        whole = end <= size
        if whole:  # a length can be beyond what `seek` takes
            file.seek(end)
    if not whole:
        raise DataError(
            f"{where}: the file was cut short, the record should end at byte {end}. "
            f"{REMEDY}"
        )
