"""TFRecord wire format: headers, checksums, and the detection of damage.

Taught in lesson 04a, 'The bytes on disk'.

A record consists of its length (uint64), the masked CRC-32C of the length (uint32), the
payload, and the masked CRC-32C of the payload. A file has no record count and no end
mark, so TensorFlow's readers do not detect that a file ends inside a header. Reading
all headers does detect it.
"""

import io
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.errors import DataError, first_line
from helpers.reading import regular_file

HEADER_BYTES, FOOTER_BYTES = 12, 4
# The records before the damage are intact, so no message advises to delete them.
REMEDY = "Write or copy the file again, and keep this one until then."


class CutShortError(DataError):
    """Raised when a file ends inside a record.

    Attributes:
      records: Number of complete records before the damage.
      place: The truncated record, and the byte at which it begins.
    """

    def __init__(self, path: str | os.PathLike, records: int, place: str, why: str):
        super().__init__(f"{path} is damaged in {place}. {why} {REMEDY}")
        self.records, self.place = records, place


def masked_crc(data: bytes) -> int:
    """Computes the masked CRC-32C checksum of TFRecord files.

    Args:
      data: A few bytes, such as the 8 bytes of a length.

    Returns:
      The checksum as an unsigned 32-bit integer.
    """
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) % 2**32


def compression_of(path: str | os.PathLike) -> str:
    """Returns `"GZIP"` or `""`, depending on the first three bytes of the file.

    Args:
      path: Path of a TFRecord file.

    Raises:
      DataError: If the file is missing or empty.
    """
    with open(regular_file(path), "rb") as file:
        magic = file.read(3)
    if not magic:
        raise DataError(
            f"{path} is empty, possibly because writing was interrupted. {REMEDY}"
        )
    return "GZIP" if magic == b"\x1f\x8b\x08" else ""


def walk(path: str | os.PathLike, compression: str | None = None) -> int:
    """Counts the records of a file by reading only their headers.

    Args:
      path: Path of a TFRecord file.
      compression: `""`, `"GZIP"`, or `"ZLIB"`. Default: the result of `compression_of`.

    Raises:
      CutShortError: If the file ends inside a record.
      DataError: If the file is missing, empty, damaged, or not a TFRecord file. Each
        message names the file, the record, the byte, the cause, and the fix.
    """
    compression = compression_of(path) if compression is None else compression
    count = position = 0
    try:
        with (io.BufferedReader(_Inflated(path), 1 << 16) if compression
              else open(path, "rb")) as file:
            while header := file.read(HEADER_BYTES):
                place = f"record {count} at byte {position}"
                if len(header) < HEADER_BYTES:
                    raise CutShortError(path, count, place, (
                        f"The file was cut short: only {len(header)} of the "
                        f"{HEADER_BYTES} header bytes are there."))
                length = _length(header, path, place, count)
                position += HEADER_BYTES + length + FOOTER_BYTES
                if compression:  # reads to the end of the record, if possible
                    end, rest = position, length + FOOTER_BYTES
                    while rest and (block := file.read(min(rest, 1 << 20))):
                        rest -= len(block)
                    end -= rest
                else:
                    end = min(position, os.path.getsize(path))
                    file.seek(end)
                if end < position:
                    raise CutShortError(path, count, place, (
                        "The file was cut short: the record should end at byte "
                        f"{position}."))
                count += 1
    except (EOFError, zlib.error) as error:
        raise CutShortError(path, count, f"record {count}", (
            f"The {compression} stream is corrupt or cut short: {first_line(error)}."
        )) from error
    return count


class _Inflated(io.RawIOBase):
    """Raw stream that decompresses GZIP or ZLIB data block by block."""

    def __init__(self, path: str | os.PathLike):
        self._file, self._packed = open(path, "rb"), b""  # noqa: SIM115
        self._unpack = zlib.decompressobj(47)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        block = b""
        while not block:
            self._packed = self._packed or self._file.read(1 << 16)
            if self._unpack.eof:  # a GZIP file may have several parts
                self._packed = self._packed.lstrip(b"\0")
                if not self._packed:
                    return 0
                self._unpack = zlib.decompressobj(47)
            elif not self._packed:
                raise EOFError("it ends before its end mark")
            block = self._unpack.decompress(self._packed, len(buffer))
            self._packed = self._unpack.unconsumed_tail or self._unpack.unused_data
        buffer[:len(block)] = block
        return len(block)


def check_payloads(path: str | os.PathLike) -> int:
    """Verifies the payload checksums of a file and returns its number of records.

    Args:
      path: Path of a TFRecord file without damage that `walk` can detect.

    Returns:
      The number of records.

    Raises:
      DataError: If a checksum does not match. The message names the file and the
        record.
    """
    count = 0
    try:
        for _ in payloads(path):
            count += 1
    except tf1.errors.DataLossError as error:
        raise DataError(
            f"Record {count} of {path} is corrupt: its checksum does not match "
            f"({first_line(error)}). {REMEDY}"
        ) from error
    return count


def payloads(
    path: str | os.PathLike, compression: str | None = None
) -> Iterator[bytes]:
    """Returns an iterator over the payloads of a TFRecord file.

    The iterator works inside a graph block too.
    """
    kind = compression_of(path) if compression is None else compression
    return tf1.io.tf_record_iterator(os.fspath(path), tf.io.TFRecordOptions(kind))


def reader(paths: Sequence[str]) -> tf1.TFRecordReader:
    """Creates the op that reads TFRecord files, all with the same compression."""
    options = tf.io.TFRecordOptions(compression_of(paths[0]))
    return tf1.TFRecordReader(options=options)


def dataset(paths: Sequence[str], seed: int | None = None) -> tf.data.Dataset:
    """Builds a dataset of serialised records from TFRecord files.

    All files must have the same compression. The dataset turns off tf.data's automatic
    tuning, because its thread may delay the end of a session by seconds.

    Args:
      paths: Paths of the files, which are read one after the other.
      seed: Seed for the order of the files, which changes in each epoch. With `None`,
        the order is that of `paths`.
    """
    names = tf.data.Dataset.from_tensor_slices(list(paths))
    if seed is not None:
        names = names.shuffle(len(paths), seed=seed)
    untuned = tf.data.Options()
    untuned.autotune.enabled = False
    records = tf.data.TFRecordDataset(names, compression_of(paths[0]))
    return records.with_options(untuned)


def _length(
    header: bytes, path: str | os.PathLike, place: str, count: int
) -> int:
    """Returns the payload length in a record header, after verifying its checksum."""
    if masked_crc(header[:8]) != struct.unpack("<I", header[8:])[0]:
        if count:
            raise DataError(
                f"The length field of {place} in {path} is corrupt. {REMEDY}"
            )
        raise DataError(
            f"{path} is not a TFRecord file, or the length field of {place} is "
            f"corrupt. {REMEDY}"
        )
    return struct.unpack("<Q", header[:8])[0]
