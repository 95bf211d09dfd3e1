"""Records in any order: from what can be asked for them, or a temporary file."""

import contextlib
import tempfile
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np

_PART = 4096  # places that are looked up at once


class Shufflable(Protocol):
    """What can be asked for its records in any order, such as a list of files."""

    def __len__(self) -> int:
        """Returns how many there are."""

    def in_order(self, order: np.ndarray) -> Iterator[Any]:
        """Yields the records of these numbers, `int64 [record]`."""


class Spool:
    """Records in a temporary file; memory holds 8 bytes for each."""

    def __init__(self, folder: Path):
        """Opens it in a folder; it has no name there, and goes when it is closed."""
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        self._ends = array("q", [0])

    def __enter__(self) -> "Spool":
        return self

    def __exit__(self, *error) -> None:
        with contextlib.suppress(OSError):  # on a full disk: it writes what is left
            self._file.close()

    def __len__(self) -> int:
        return len(self._ends) - 1

    def append(self, record: bytes) -> None:
        """Writes one more record."""
        self._file.write(record)
        self._ends.append(self._ends[-1] + len(record))

    def flush(self) -> None:
        """Writes what is still in memory; needed before they are asked for."""
        self._file.flush()

    def in_order(self, order: np.ndarray) -> Iterator[bytes]:
        """Yields the records of these numbers, `int64 [record]`."""
        ends = np.frombuffer(self._ends, np.int64)
        for first in range(0, len(order), _PART):
            part = order[first : first + _PART]
            begins = ends[part].tolist()
            for begin, end in zip(begins, ends[part + 1].tolist(), strict=True):
                self._file.seek(begin)
                yield self._file.read(end - begin)
