"""Opens a set of shards, after checks of its manifest and its files."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from helpers.errors import DataError
from helpers.reading import SHA256, read_json, regular_file
from helpers.records import wire

PathPrefix = str | os.PathLike | Sequence[str | os.PathLike]


def open_shards(path_prefix: PathPrefix) -> list[str]:
    """Returns the paths of a set of shards after inexpensive checks.

    Shards with a manifest must exist and have the listed sizes. In files without a
    manifest, the headers are read. Checksums of payloads are compared only when the
    records are read.

    Args:
      path_prefix: Prefix as passed to `write_shards`, or a list of other record files,
        which have no manifest.

    Raises:
      DataError: If a file is missing, truncated, empty, or not a TFRecord file.
      ValueError: If the list is empty.
    """
    return open_counted(path_prefix)[0]


def open_counted(path_prefix: PathPrefix) -> tuple[list[str], int]:
    """Returns the paths of a set of shards and the number of their records.

    The checks are those of `open_shards`.
    """
    if isinstance(path_prefix, (str, os.PathLike)):
        return _open_manifest(Path(path_prefix))
    paths = [os.fspath(path) for path in path_prefix]
    if not paths:
        raise ValueError(
            "The list of record files must not be empty. Pass at least one path."
        )
    return paths, sum(map(wire.walk, paths))


def read_manifest(path_prefix: str | os.PathLike) -> dict[str, Any]:
    """Reads the manifest of a set of shards and checks its consistency.

    Args:
      path_prefix: Prefix as passed to `write_shards`.

    Returns:
      The dictionary `{"records": ..., "shards": {name: {"records", "bytes",
      "sha256"}}}`.

    Raises:
      DataError: If there is no manifest, because the writing was never completed, or if
        it is damaged or lists files other than shards of this prefix.
    """
    prefix = Path(path_prefix)
    path, own = manifest_path(prefix), re.escape(prefix.name)
    if not os.path.lexists(path):
        raise DataError(
            f"Manifest {path} not found, so the shards are incomplete. Write them "
            "again, or pass a list of paths to read files written elsewhere."
        )
    remedy = "Move this manifest away, and write the shards again."
    shard = {"records": int, "bytes": int, "sha256": SHA256}
    manifest = read_json(path, {
        "records": int, "shards": {re.compile(own + r"-\d{5,}-of-\d{5,}"): shard}
    }, remedy)
    records, shards = manifest["records"], manifest["shards"]
    none = any(0 in written.values() for written in shards.values())
    counted = sum(written["records"] for written in shards.values())
    if none or list(shards) != shard_names(prefix, len(shards)) or (
            not counted == records > 0):
        raise DataError(
            f"{path} is corrupt: its shard or record counts are inconsistent. {remedy}"
        )
    return {"records": records, "shards": shards}


def shard_names(prefix: Path, count: int) -> list[str]:
    """Returns the file names of a set of `count` shards."""
    return [f"{prefix.name}-{k:05d}-of-{count:05d}" for k in range(count)]


def manifest_path(prefix: Path) -> Path:
    """Returns the path of the manifest of a set of shards."""
    return prefix.with_name(f"{prefix.name}.manifest.json")


def _open_manifest(prefix: Path) -> tuple[list[str], int]:
    manifest = read_manifest(prefix)
    shards = manifest["shards"]
    for name, written in shards.items():
        path = prefix.with_name(name)
        size = regular_file(path).stat().st_size if path.exists() else None
        if size == written["bytes"]:
            continue
        if size:
            wire.walk(path)  # names the truncated record
        if size is None:
            raise DataError(
                f"{path} is listed in the manifest but missing. Write the shards again."
            )
        expected = written["bytes"]
        raise DataError(
            f"{path} has {size} bytes, but the manifest lists {expected}. Write the "
            "shards again."
        )
    return [os.fspath(prefix.with_name(name)) for name in shards], manifest["records"]
