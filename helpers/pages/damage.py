"""Interactive figure of lesson 04a: a damaged record file and what readers detect."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import tensorflow as tf

from helpers import svg
from helpers.errors import DataError
from helpers.explore import Frame
from helpers.records import check_shards

PAYLOADS = (b"one", b"fifteen", b"thirty-one bytes are more of it")
SIZE = (664, 124)  # of a frame
# Positions that have a frame: at least one in each field of each record.
BYTES = (0, 5, 11, 12, 18, 19, 24, 30, 31, 41, 42, 50, 53, 54, 88)


def read_damaged(
    damage: str, byte: int, payloads: Sequence[bytes] = PAYLOADS
) -> tuple[list[bytes], str, str]:
    """Damages a record file at one byte and reads it with two readers.

    Args:
      damage: `"cut"` keeps only the bytes before the position. `"flip"` flips the last
        bit of the byte at the position.
      byte: Position in the file, from 0.
      payloads: Payloads of the records.

    Returns:
      The records that `TFRecordDataset` returns, the error that it raises, and the
      error that `check_shards` raises. Each error is a class name, or "" for no error.

    Raises:
      IndexError: If the file has no byte at this position to flip.

    Taught in lesson 04a, 'Damage, and what the readers say'.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "damaged.tfr"
        with tf.io.TFRecordWriter(str(path)) as writer:
            for payload in payloads:
                writer.write(payload)
        data = bytearray(path.read_bytes())
        if damage == "cut":
            del data[byte:]
        else:
            data[byte] ^= 1
        path.write_bytes(data)
        records, error, detected = [], "", ""
        try:
            for record in tf.data.TFRecordDataset(str(path)):
                records.append(record.numpy())
        except tf.errors.DataLossError as loss:
            error = type(loss).__name__
        try:
            check_shards([path])
        except DataError as damaged:
            detected = type(damaged).__name__
    return records, error, detected


def damage_frame(
    damage: str, byte: int, payloads: Sequence[bytes] = PAYLOADS
) -> Frame:
    """Draws the bytes of a damaged record file and the records that survive.

    The damage is red. A click on a byte damages it, or the nearest one in its field
    that is among `BYTES`. The arguments are those of `read_damaged`.
    """
    records, error, detected = read_damaged(damage, byte, payloads)
    starts = [0]
    for payload in payloads:
        starts.append(starts[-1] + 16 + len(payload))
    wide = (SIZE[0] - 8) / starts[-1]  # width of a byte
    squares = "".join(
        _field(start + first, count, wide, css)
        for start, payload in zip(starts, payloads, strict=False)
        for first, count, css in ((0, 8, "a"), (8, 4, "b"), (12, len(payload), "soft"),
                                  (12 + len(payload), 4, "c")))
    left = 4 + wide * byte
    right = 4 + wide * (starts[-1] if damage == "cut" else byte + 1)
    lost = svg.box(left, 9, right - left, 52, "", fill="var(--paper)") + "".join(
        svg.line([left, right - 1.5], ends, "bad") for ends in ([10, 60], [60, 10]))
    lost = f"<g pointer-events='none'>{lost}</g>"  # a click reaches the byte below
    handed = "".join(
        _record(k, 4 + wide * start, wide * (end - start) - 4, k < len(records))
        for k, (start, end) in enumerate(zip(starts, starts[1:], strict=False)))
    return Frame([squares, lost, handed],
                 f"TFRecordDataset: {len(records)} of {len(payloads)} records, "
                 f"{error or 'no error'}; check_shards: {detected or 'no error'}.")


def _field(first: int, count: int, wide: float, css: str) -> str:
    """Draws the bytes of one field, each of which can be chosen."""
    places = range(first, first + count)
    known = [byte for byte in BYTES if byte in places]
    drawn = [svg.box(4 + place * wide, 10, wide - 1.5, 50, css) for place in places]
    if not known:  # other payloads than those of the lesson
        return "".join(drawn)
    nearest = [min(known, key=lambda byte: abs(byte - place)) for place in places]
    return "".join(
        svg.choice("".join(box for box, near in zip(drawn, nearest, strict=True)
                           if near == byte), "byte", byte) for byte in known)


def _record(k: int, x: float, width: float, came: bool) -> str:
    look = {} if came else {"fill": "none", "stroke": "currentColor"}
    return svg.box(x, 72, width, 16, "a" if came else "soft", **look) + svg.text(
        x, 112, f"record {k} {'comes' if came else 'is lost'}",
        "ink" if came else "bad", font_size=17)
