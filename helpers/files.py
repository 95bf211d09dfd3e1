"""Data folders, and writing of files and folders that appear only when complete.

Taught in lesson 04a, 'Whole or absent'.
"""

import contextlib
import errno
import glob
import hashlib
import json
import os
import shutil
import tempfile
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from helpers.errors import DataError
from helpers.filetree import everything_in, place_of, remove_tree, ways_to
from helpers.reading import read_json, regular_file

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = "manifest.json"  # in a complete folder
STALE_SECONDS = 24 * 3600
_NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EROFS)


def data_folder() -> Path:
    """Returns the data folder, which is `data/` or the value of `HELPERS_DATA`.

    A relative `HELPERS_DATA` starts at the repository's folder, wherever the notebook
    runs, and `~` is your home folder.

    Raises:
      DataError: If the folder is not writable.
    """
    folder = _data_place()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        cause = "" if os.access(folder, os.W_OK) else "Permission denied"
    except OSError as error:
        cause = str(error.strerror)
    if cause:
        raise DataError(f"Cannot store data in {folder}: {cause}. Set the environment "
                        "variable HELPERS_DATA to a writable folder.")
    return folder


def _data_place() -> Path:
    """Returns the path of the data folder, which may not exist yet."""
    named = os.environ.get("HELPERS_DATA") or "data"
    return (ROOT / Path(named).expanduser()).resolve()


def given_folder(path: str | os.PathLike) -> Path:
    """Returns the absolute path of an existing folder.

    Args:
      path: Path of the folder. A relative path starts at the repository's folder,
        wherever the notebook runs, and `~` is your home folder.

    Raises:
      DataError: If the folder does not exist or is not a folder.
    """
    folder = ROOT / Path(path).expanduser()
    if not folder.is_dir():
        raise DataError(
            f'No such folder: {folder}. Pass an existing folder, "drawn", or '
            '"download".'
        )
    return folder


def fresh_folder(path: str | os.PathLike) -> Path:
    """Empties a folder, or creates it, so that a repeated cell starts clean.

    If the path is a symbolic link, the link is replaced by a folder, and the folder
    that it led to stays as it is.

    Args:
      path: The folder. Everything in it is deleted, so it must lie inside of `logs/`,
        `my/`, `build/`, the folder for data, or the system's temporary folder, and
        the path must not contain `..`.

    Returns:
      The path.

    Raises:
      DataError: If the folder lies elsewhere, holds the current folder, the course or
        your home, is not a folder, or cannot be emptied. The message says whether
        something was deleted.
    """
    if not os.fspath(path):
        raise DataError("The path passed to fresh_folder must not be empty. Nothing "
                        "was deleted.")
    path = Path(path)
    _refuse_to_empty(path)
    try:
        if path.is_symlink():
            path.unlink()
        elif path.is_dir():
            remove_tree(path)
        elif path.exists():
            raise DataError(f"Cannot empty {path}: it is not a folder. Nothing was "
                            "deleted. Choose another folder.")
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        cause = error.strerror or error
        left = ("A part of it may have been deleted." if path.is_dir() else
                "Nothing was deleted.")
        raise DataError(f"Failed to empty {path}: {cause}. {left} Close the programs "
                        "that use it, or choose another folder.") from error
    return path


def _refuse_to_empty(path: Path) -> None:
    """Raises `DataError` if a folder must not be emptied."""
    kept = {"the current folder": Path.cwd(), "the course's folder": ROOT,
            "your home folder": Path.home()}
    # For a link, only the link itself is removed.
    goes = place_of(path) if path.is_symlink() else path.resolve()
    for what, folder in kept.items():
        if any(way.is_relative_to(goes) for way in ways_to(folder)):
            raise DataError(f"Refusing to empty {path}, which is or contains {what}. "
                            "Choose another folder.")
    inside = goes.is_relative_to(ROOT.resolve())
    own = [_data_place(), *([ROOT / "logs", ROOT / "my", ROOT / "build"] if inside
                            else [Path(tempfile.gettempdir())])]
    if ".." in path.parts or not any(
            goes != each.resolve() and goes.is_relative_to(each.resolve())
            for each in own):
        raise DataError(
            f"Refusing to empty {path}: it must be inside logs/, my/, build/, the data "
            "folder, or the temporary folder, and its path must not contain `..`. Use, "
            'for example, lesson.begin(NAME) / "folder".')


def sha256(path: str | os.PathLike) -> str:
    """Returns the SHA-256 hash of a file as 64 hexadecimal digits."""
    digest = hashlib.sha256()
    with open(regular_file(path), "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


@contextlib.contextmanager
def whole_file(path: str | os.PathLike) -> Iterator[Path]:
    """Context manager that writes a file atomically, under a temporary name.

    Readers therefore never see a half-written file, even if the writer is killed or the
    disk is full.

    Args:
      path: Final path. An existing file is replaced in one step and keeps its mode. If
        the path is a symbolic link, its target is replaced.

    Yields:
      A unique path in the same folder, to write to.

    Raises:
      DataError: If the path is a folder, a pipe, a device, or a broken link, or if
        there is no space left.
    """
    if there := os.path.exists(path):
        regular_file(path, "replaced")
    path = _real_place(Path(path))
    with _writing(path), _incomplete(path, Path.touch) as temporary:
        if there:
            shutil.copymode(path, temporary)
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)


@contextlib.contextmanager
def whole_or_absent(
    folder: str | os.PathLike, *, made_by: str, **facts: Any
) -> Iterator[Path | None]:
    """Context manager that creates a folder atomically, unless it is complete.

    If the folder is complete already, the block gets `None` and has nothing to do. A
    damaged or older folder of the same maker is kept until the new one is complete. If
    two processes create the same folder, the first one to finish wins.

        with whole_or_absent(folder, made_by="my converter, version 1") as draft:
            if draft:
                (draft / "one").write_text("1")

    Args:
      folder: Final path.
      made_by: Name of the maker; the text after a comma is its version.
      **facts: JSON values that describe the inputs and the settings. They are stored in
        the folder's `manifest.json`, together with the name and size of each file.

    Yields:
      A unique, empty folder beside the final one, to be filled; or `None`.

    Raises:
      DataError: If the folder exists and has another maker, or if there is no space
        left.
    """
    folder, facts = _real_place(Path(folder)), {"made_by": made_by, **facts}
    if is_whole(folder, **facts):
        yield None
        return
    _refuse_foreign(folder, made_by)
    with _writing(folder), _incomplete(folder, Path.mkdir) as draft:
        yield draft
        manifest = {**facts, "sizes": _sizes(draft)}
        (draft / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
        try:
            os.rename(draft, folder)
        except OSError:  # it exists: an old one, or another process's
            if not is_whole(folder, **facts):
                _put_aside(folder)
                os.rename(draft, folder)


def is_whole(folder: str | os.PathLike, **facts: Any) -> bool:
    """Returns whether a folder contains every file that its manifest lists.

    Files are measured and not read, and files that are not listed do no harm.

    Args:
      folder: Folder that `whole_or_absent` made, or any other path.
      **facts: Values that the manifest must contain.
    """
    manifest = folder_manifest(folder)
    if not facts.items() <= manifest.items():
        return False  # without measuring the files
    listed = manifest.get("sizes") or {}
    return bool(listed) and listed.items() <= _sizes(Path(folder)).items()


def folder_manifest(folder: str | os.PathLike) -> dict:
    """Reads the manifest of a folder, or returns `{}` if it cannot be read."""
    try:
        return read_json(Path(folder) / MANIFEST, {"sizes": {str: int}})
    except DataError:
        return {}


def contents_digest(folder: str | os.PathLike) -> str:
    """Returns one SHA-256 hash of the names and contents of a folder's files."""
    digest = hashlib.sha256()
    for name in _sizes(Path(folder)):
        digest.update(f"{name} {sha256(Path(folder) / name)}\n".encode())
    return digest.hexdigest()


def _real_place(path: Path) -> Path:
    """Resolves symbolic links, and raises `DataError` for a broken link.

    Raises:
      DataError: If the path is a broken link.
    """
    real = Path(os.path.realpath(path))
    if path.is_symlink() and not real.exists():
        raise DataError(f"{path} is a broken link to {real}. Remove the link, or "
                        "create its target.")
    return real


def _refuse_foreign(folder: Path, made_by: str) -> None:
    """Raises `DataError` if another program has created the folder."""
    maker = made_by.split(",")[0]
    theirs = str(folder_manifest(folder).get("made_by")).split(",")[0]
    if folder.exists() and theirs != maker:
        raise DataError(
            f"Refusing to overwrite {folder}, which was not created by {maker}. Move "
            "the folder away and try again."
        )


def _put_aside(folder: Path) -> None:
    """Removes a folder that the course made, or renames it if it holds other files."""
    others = sorted(_sizes(folder).keys() - folder_manifest(folder).get("sizes", {}))
    kind = "kept" if others else "incomplete"
    aside = folder.with_name(f"{folder.name}.{kind}-{uuid.uuid4().hex[:8]}")
    try:
        folder.rename(aside)  # only one of two processes succeeds
    except FileNotFoundError:
        return
    if others:
        warnings.warn(
            f"Replaced {folder}, but kept its old contents in {aside.name}, because "
            f"{others[0]} was not created here.",
            stacklevel=2,
        )
    else:
        _remove(aside)


def _sizes(folder: Path) -> dict[str, int]:
    """Returns the size of each file in a folder except the manifest, by name."""
    sizes = {
        path.relative_to(folder).as_posix(): path.stat().st_size
        for path in everything_in(folder)
        if path.is_file() and path != folder / MANIFEST
    }
    return dict(sorted(sizes.items()))


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Converts an `OSError` about missing space or permission to `DataError`."""
    try:
        yield
    except OSError as error:
        # NumPy's writer sets no errno if the disk is full.
        ours = str(error.filename or "").startswith(f"{path}.incomplete-")
        if not ours and error.errno not in (None, *_NO_ROOM):
            raise
        cause = error.strerror or error
        raise DataError(
            f"Failed to write {path}: {cause}. No partial file was kept, and existing "
            "files are unchanged. Free some disk space and try again."
        ) from error


@contextlib.contextmanager
def _incomplete(path: Path, make: Callable[[Path], None]) -> Iterator[Path]:
    """Yields a unique temporary file or folder, and removes stale ones."""
    path.parent.mkdir(parents=True, exist_ok=True)
    own = f"{path.name}.incomplete-"
    for leftover in path.parent.glob(f"{glob.escape(own)}{'[0-9a-f]' * 8}"):
        with contextlib.suppress(OSError):
            if time.time() - leftover.lstat().st_mtime > STALE_SECONDS:
                _remove(leftover)
    temporary = path.with_name(own + uuid.uuid4().hex[:8])
    make(temporary)
    try:
        yield temporary
    finally:
        _remove(temporary)


def _remove(path: Path) -> None:
    """Removes a file or a folder if it exists."""
    if path.is_dir() and not path.is_symlink():
        with contextlib.suppress(OSError):
            remove_tree(path)
    else:
        path.unlink(missing_ok=True)
