"""The list of a finished folder: how a reader knows that nothing is missing."""

import hashlib
import json
from pathlib import Path

from helpers.errors import DataError

NAME = "manifest.json"


def write_manifest(folder: Path, **facts) -> dict:
    """Lists every file of a folder in `manifest.json`; call it last.

    Args:
      folder: holds the finished files.
      **facts: what else to remember, such as the settings that it was made with.

    Returns:
      What was written: the facts and `files`, `bytes`, and `sha256`, that of the
      sorted listing of names and sizes.
    """
    manifest = {**facts, **_listing(folder)}
    (folder / NAME).write_text(json.dumps(manifest, indent=1) + "\n")
    return manifest


def read_manifest(folder: Path) -> dict | None:
    """Returns the manifest of a folder; None where there is none to be read."""
    try:
        return json.loads((folder / NAME).read_text())
    except (OSError, ValueError):
        return None


def check_manifest(folder: Path, mend: str) -> dict:
    """Returns the manifest after comparing it with the folder's names and sizes.

    Args:
      folder: what is checked. The files are counted and measured, not read.
      mend: what the message tells the reader to do.

    Raises:
      DataError: the manifest is missing, or the folder holds other files.
    """
    manifest = read_manifest(folder)
    if manifest is None:
        raise DataError(f"{folder}: no {NAME}, so it is not whole: {mend}")
    found = _listing(folder)
    for key in ("files", "bytes", "sha256"):
        if found[key] != manifest.get(key):
            raise DataError(
                f"{folder}: {found['files']} files with {found['bytes']} bytes, its "
                f"{NAME} lists {manifest.get('files')} with {manifest.get('bytes')}: "
                + mend
            )
    return manifest


def _listing(folder: Path) -> dict:
    """Returns count, bytes and the SHA-256 of the sorted names and sizes."""
    sizes = {
        path.relative_to(folder).as_posix(): path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and path != folder / NAME
    }
    text = "".join(f"{name} {size}\n" for name, size in sorted(sizes.items()))
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {"files": len(sizes), "bytes": sum(sizes.values()), "sha256": digest}
