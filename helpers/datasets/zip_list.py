"""A zip archive's list against what lies in the archive, byte by byte.

Each member has a header of its own before its data, and an entry in the list at the
end. Where one byte of the list is wrong, the entries behind it can be taken for a
comment: every reader then sees fewer files, and nothing else. But their data is there.
"""

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO
from zipfile import BadZipFile, ZipInfo

HEADER = struct.Struct("<4s5H3L2H")  # of a member, before its name
SIGNATURE = b"PK\3\4"
_FLAGS = 0x0801  # encrypted; its name is UTF-8


def check_list(
    zip_path: Path, file: BinaryIO, members: Iterable[ZipInfo], end: int
) -> None:
    """Compares the list of an archive with its members' own headers.

    Args:
      zip_path: names the archive in the message.
      file: the archive, open for reading.
      members: what `zipfile` found in the list.
      end: where the list begins.

    Raises:
      BadZipFile: an entry does not agree with its header, or something lies in the
        archive that the list does not name; says what.
    """
    position = 0
    for member in sorted(members, key=lambda one: one.header_offset):
        _check_gap(file, position, member.header_offset)
        position = _check_member(file, member)
        if position > end:
            raise BadZipFile(f"{member.orig_filename!r} runs into the list")
    _check_gap(file, position, end)


def _check_member(file: BinaryIO, member: ZipInfo) -> int:
    """Returns where a member's data ends, after comparing its two descriptions."""
    file.seek(member.header_offset)
    fields = file.read(HEADER.size)
    if len(fields) < HEADER.size or not fields.startswith(SIGNATURE):
        raise BadZipFile(f"{member.orig_filename!r} is not where the list says")
    _, _, flags, method, *_, name_bytes, extra_bytes = HEADER.unpack(fields)
    if flags & _FLAGS != member.flag_bits & _FLAGS or method != member.compress_type:
        raise BadZipFile(f"the list says other things of {member.orig_filename!r}")
    start = member.header_offset + HEADER.size + name_bytes + extra_bytes
    return start + member.compress_size


def _check_gap(file: BinaryIO, start: int, end: int) -> None:
    """Refuses a member between two others, or before the list; padding is fine.

    Behind a member's data there may be its sizes once more, of up to 24 bytes.
    """
    file.seek(start)
    if SIGNATURE in file.read(max(0, min(end - start, 24 + len(SIGNATURE)))):
        raise BadZipFile(f"a file at byte {start} is not in its list")
