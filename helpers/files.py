"""Where files live, and how a file gets its name only when it is whole."""

import contextlib
import hashlib
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from helpers.errors import DataError

ROOT = Path(__file__).resolve().parent.parent
STALE_SECONDS = 24 * 3600


def data_folder() -> Path:
    """Returns the folder for data: `data/`, or wherever `HELPERS_DATA` points.

    A relative `HELPERS_DATA` begins at the repository's folder, wherever the notebook
    runs; `~` is your home.

    Raises:
      DataError: nothing can be written there.
    """
    wanted = Path(os.environ.get("HELPERS_DATA") or "data").expanduser()
    folder = (ROOT / wanted).resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        cause = "" if os.access(folder, os.W_OK) else "no permission to write"
    except OSError as error:
        cause = str(error.strerror)
    if cause:
        raise DataError(
            f"{folder}: cannot hold data ({cause}): set HELPERS_DATA to a folder of "
            "yours"
        )
    return folder


def fresh_folder(path: str | os.PathLike) -> Path:
    """Returns `path` as an empty folder, so that re-running a cell starts clean.

    Where it is a link, the link gives way to a folder; what it led to stays as it is.

    Args:
      path: the folder; all that is in it is deleted.

    Raises:
      DataError: it cannot be emptied.
    """
    path = Path(path)
    try:
        if path.is_symlink():
            path.unlink()
        elif path.exists():
            shutil.rmtree(path)
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"{path}: cannot be emptied ({error.strerror or error}): close what uses "
            "it, or delete it by hand"
        ) from error
    return path


def sha256(path: str | os.PathLike) -> str:
    """Returns the SHA-256 of a file as 64 hexadecimal digits."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


@contextlib.contextmanager
def whole_file(path: str | os.PathLike) -> Iterator[Path]:
    """Yields a temporary name; the file gets its real one only when it is whole.

    A reader therefore never meets a half-written file: it is absent or complete,
    also when the writer is killed or the disk is full.

    Args:
      path: the real name. An older file of that name is replaced in one step.

    Yields:
      A unique path in the same folder, to write to.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _incomplete(path)
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def whole_folder(path: str | os.PathLike) -> Iterator[Path]:
    """Yields a temporary folder that gets its real name only when it is whole.

    Where two processes make the same folder at once, the first to finish wins and
    the other's copy is thrown away.

    Args:
      path: the real name, of a folder that is not there yet.

    Yields:
      A unique, empty folder beside it, to fill.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _incomplete(path)
    temporary.mkdir()
    try:
        yield temporary
        try:
            os.rename(temporary, path)
        except OSError:
            if not path.is_dir():
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _incomplete(path: Path) -> Path:
    """Returns a unique temporary name for `path`; sweeps those of dead writers."""
    for leftover in path.parent.glob(f"{path.name}.incomplete-*"):
        with contextlib.suppress(OSError):
            if time.time() - leftover.stat().st_mtime < STALE_SECONDS:
                continue
            if leftover.is_dir():
                shutil.rmtree(leftover, ignore_errors=True)
            else:
                leftover.unlink()
    return path.with_name(f"{path.name}.incomplete-{uuid.uuid4().hex[:8]}")
