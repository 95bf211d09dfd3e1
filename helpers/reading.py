"""Validated reading of regular files, text, JSON, and HDF5."""

import json
import math
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.errors import DataError

if TYPE_CHECKING:
    import h5py

SHA256 = re.compile(r"[0-9a-f]{64}")
FILE_NAME = re.compile(r"(?!\.{1,2}$)[^/\\\x00]+")  # a name without a folder
_MOST = 2**63 - 1  # largest int64
_DEEPEST = 100  # levels of groups in an HDF5 file; each takes longer than the last
_DEFLATE = 1100  # gzip makes data at most 1,032 times smaller
_UNWRITTEN = 1 << 24  # bytes of zeros that need not be stored at all


def regular_file(path: str | os.PathLike, doing: str = "read",
                 remedy: str = "") -> Path:
    """Returns the path if it is a regular file, with symbolic links followed.

    Args:
      path: Any path.
      doing: Verb for the message, such as "read".
      remedy: Advice at the end of the message.

    Raises:
      DataError: If the path does not exist or is a folder, or if it is a pipe, a
        socket, or a device, which may have no end.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or str(error)
    else:
        if stat.S_ISREG(mode):
            return Path(path)
        cause = "Is a directory" if stat.S_ISDIR(mode) else (
            "it is a pipe, a socket, or a device, and not a file")
    raise DataError(f"{path} cannot be {doing}: {cause}. {remedy}".rstrip())


def read_text(path: str | os.PathLike, remedy: str = "") -> str:
    """Reads a UTF-8 file and drops its byte order mark.

    Args:
      path: Path of the file.
      remedy: Advice at the end of the message.

    Raises:
      DataError: If the path is not a regular file, or if its content is not valid
        UTF-8.
    """
    path = regular_file(path, remedy=remedy)
    try:
        return path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        cause = getattr(error, "strerror", None) or str(error)
        raise DataError(f"{path} cannot be read: {cause}. {remedy}".rstrip()) from error


def read_json(path: str | os.PathLike, shape: Any, remedy: str = "",
              object_hook: Callable[[dict], Any] | None = None) -> Any:
    """Reads a JSON file and checks its structure.

    Args:
      path: Path of the file.
      shape: Expected structure. It is one of the types `str`, `bool`, `dict`, `int`
        (from 0 to 2**63 - 1), or `float` (finite); a compiled pattern that a string
        must match completely; `[shape]` for a list; `{"name": shape}` for an object
        with at least these names; or `{str: shape}` for an object in which the key
        describes every name.
      remedy: Advice at the end of the message.
      object_hook: Function as for `json.loads`.

    Raises:
      DataError: If the file does not exist, has another structure, or repeats a name in
        an object. The message says where.
    """
    def each_once(pairs: list[tuple[str, Any]]) -> dict:
        if len(entries := dict(pairs)) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"the name {twice[:40]!r} occurs twice")
        return object_hook(entries) if object_hook else entries

    text = read_text(path, remedy)
    try:
        content = json.loads(text, object_pairs_hook=each_once)
        _check(content, shape, "it")
        return content
    except RecursionError:
        cause = "it is nested too deeply"
    except ValueError as error:
        cause = str(error)
    raise DataError(f"{path} is damaged: {cause}. {remedy}".rstrip())


def _check(value: Any, shape: Any, where: str) -> None:
    """Raises `ValueError` for the first value that does not match the structure."""
    if isinstance(shape, dict) and isinstance(value, dict):
        if all(isinstance(key, str) for key in shape):
            for key, inner in shape.items():
                if key not in value:
                    raise ValueError(f"{where} has no {key!r}")
                _check(value[key], inner, key)
        else:
            [(name, inner)] = shape.items()
            for key, item in value.items():
                _check(key, name, "a name in " + where)
                _check(item, inner, f"{where}[{key[:40]!r}]")
    elif isinstance(shape, list) and isinstance(value, list):
        for number, item in enumerate(value):
            _check(item, shape[0], f"{where}[{number}]")
    elif not _fits(value, shape):
        raise ValueError(f"{where} has the invalid value {str(value)[:40]!r}")


def _fits(value: Any, shape: Any) -> bool:
    if isinstance(shape, re.Pattern):
        return isinstance(value, str) and shape.fullmatch(value) is not None
    if shape is float:
        return type(value) in (int, float) and abs(value) <= _MOST and (
            math.isfinite(value))
    if shape is int:
        return type(value) is int and 0 <= value <= _MOST
    return isinstance(shape, type) and type(value) is shape


@contextmanager
def opened_hdf5(path: str | os.PathLike) -> Iterator["h5py.File"]:
    """Opens an HDF5 file, and rejects links to data in other files.

    All data must be read from this handle, because the same file might be taken for
    another kind if it is opened again by name.

    Raises:
      DataError: If the path is not a regular file, if a link or a dataset in it points
        to another file, if its groups are nested too deeply, or if a dataset is larger
        than what the file can hold.
    """
    import h5py

    with h5py.File(regular_file(path), "r") as file:
        def look(name: str, item: Any) -> None:
            if name.count("/") > _DEEPEST:
                raise DataError(
                    f"Groups in {path} are nested more than {_DEEPEST} levels deep, "
                    "which no Keras file needs. The file may be corrupt or malicious."
                )
            if isinstance(item, h5py.Dataset):
                if item.external or item.is_virtual:
                    raise DataError(
                        f"Dataset {name} of {path} is stored in another file, which is "
                        "not supported. Copy the data into this file."
                    )
                size = (item.size or 0) * item.dtype.itemsize
                stored = item.id.get_storage_size()
                if size > _UNWRITTEN + _DEFLATE * stored:
                    raise DataError(
                        f"Dataset {name} of {path} claims {size:,} bytes, but only "
                        f"{stored:,} are stored. Make sure that the file comes from a "
                        "trusted source."
                    )
                return
            for key in item:
                if not isinstance(item.get(key, getlink=True), h5py.HardLink):
                    raise DataError(
                        f"{name}/{key} in {path} is a soft or external link, which is "
                        "not supported. Replace it with its target."
                    )

        look("", file)
        file.visititems(look)
        yield file
