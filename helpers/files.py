"""Where files live, and how a file gets its name only when it is whole."""

import contextlib
import errno
import glob
import hashlib
import os
import re
import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

from helpers.errors import DataError

ROOT = Path(__file__).resolve().parent.parent
STALE_SECONDS = 24 * 3600
_NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EROFS)


def data_folder() -> Path:
    """Returns the folder for data: `data/`, or wherever `HELPERS_DATA` points.

    A relative `HELPERS_DATA` begins at the repository's folder, wherever the notebook
    runs; `~` is your home.

    Raises:
      DataError: nothing can be written there.
    """
    named = os.environ.get("HELPERS_DATA") or "data"
    try:
        wanted = Path(named).expanduser()
    except RuntimeError as error:  # ~somebody, who has no home here
        raise DataError(
            f"HELPERS_DATA={named}: there is no such home folder ({error}): set it to "
            "a folder of yours"
        ) from error
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


def given_folder(path: str | os.PathLike) -> Path:
    """Returns a folder that you name, wherever the notebook runs.

    Args:
      path: a relative one begins at the repository's folder; `~` is your home.

    Raises:
      DataError: it is not there, or is no folder.
    """
    try:
        folder = ROOT / Path(path).expanduser()
    except RuntimeError as error:  # ~somebody, who has no home here
        raise DataError(f"{path}: there is no such home folder ({error})") from error
    if not folder.is_dir():
        raise DataError(
            f"{folder}: there is no such folder. Name one that is there, or \"drawn\", "
            'or "download"'
        )
    return folder


def fresh_folder(path: str | os.PathLike) -> Path:
    """Returns `path` as an empty folder, so that re-running a cell starts clean.

    Where it is a link, the link gives way to a folder; what it led to stays as it is.

    Args:
      path: the folder; all that is in it is deleted. The current folder, your home,
        the course's own and whatever holds one of them are refused as they are.

    Raises:
      DataError: it is refused, or cannot be emptied; says whether something is gone.
    """
    if not os.fspath(path):
        raise DataError("fresh_folder: the path is empty. Nothing was deleted")
    path = Path(path)
    _refuse_to_empty(path)
    try:
        if path.is_symlink():
            path.unlink()
        elif path.exists():
            shutil.rmtree(path)
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        left = "a part of it may be gone" if path.is_dir() else "it is as it was"
        raise DataError(
            f"{path}: cannot be emptied ({error.strerror or error}); {left}. Close "
            "what uses it, or name another folder"
        ) from error
    return path


def _refuse_to_empty(path: Path) -> None:
    """Raises `DataError` for a folder that nobody means to lose."""
    if path.is_symlink():
        return  # the link goes, and nothing else
    kept = {"the current folder": Path.cwd(), "the course's folder": ROOT}
    with contextlib.suppress(RuntimeError):
        kept["your home folder"] = Path.home()
    for what, folder in kept.items():
        if folder.resolve().is_relative_to(path.resolve()):
            raise DataError(f"{path}: this is or holds {what}. Nothing was deleted")


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
    with _writing(path), _incomplete(path, Path.touch) as temporary:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)


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
    with _writing(path), _incomplete(path, Path.mkdir) as temporary:
        yield temporary
        try:
            os.rename(temporary, path)
        except OSError:
            if not path.is_dir():
                raise


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turns an error that means "no room" or "not here" into one line."""
    try:
        yield
    except OSError as error:
        # NumPy's writer tells no number when a disk is full.
        ours = str(error.filename or "").startswith(f"{path}.incomplete-")
        if not ours and error.errno not in (None, *_NO_ROOM):
            raise
        raise DataError(
            f"{path}: cannot be written ({error.strerror or error}). Nothing was kept, "
            "and what was there before is as it was: make room there, and run it again"
        ) from error


@contextlib.contextmanager
def _incomplete(path: Path, make: Callable[[Path], None]) -> Iterator[Path]:
    """Makes a file or folder of a unique temporary name; sweeps those of the dead.

    The name holds the number of this process: a clock that jumps can make the file
    of a living writer look old.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    for leftover in path.parent.glob(f"{glob.escape(path.name)}.incomplete-*"):
        with contextlib.suppress(OSError):
            old = time.time() - leftover.stat().st_mtime > STALE_SECONDS
            if old and not _writer_lives(leftover.name):
                _remove(leftover)
    name = f"{path.name}.incomplete-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    temporary = path.with_name(name)
    make(temporary)
    try:
        yield temporary
    finally:
        _remove(temporary)


def _writer_lives(name: str) -> bool:
    """Returns whether the process that a temporary name holds runs on this machine."""
    number = re.search(r"\.incomplete-(\d+)-\w+$", name)
    if not number or os.name == "nt":  # there, `kill` would mean what it says
        return False
    try:
        os.kill(int(number[1]), 0)
    except PermissionError:
        return True  # somebody else's
    except (ProcessLookupError, OverflowError):
        return False
    return True


def _remove(path: Path) -> None:
    """Removes a file or a folder; what is not there is fine."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
