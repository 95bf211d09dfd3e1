"""The list of a finished folder: how a reader knows that nothing is missing."""

import contextlib
import hashlib
import json
import shutil
import uuid
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


def is_whole(folder: Path) -> bool:
    """Returns whether the folder holds exactly what its manifest lists."""
    try:
        return bool(check_manifest(folder, ""))
    except DataError:
        return False


def clear_way(folder: Path, made_by: str) -> None:
    """Removes an older or damaged folder of ours, so that a new one can take its name.

    Args:
      folder: what is removed, if it is there.
      made_by: its manifest must name the same maker, of any version.

    Raises:
      DataError: somebody else made the folder.
    """
    if not folder.exists():
        return
    found = str((read_manifest(folder) or {}).get("made_by"))
    if found.split(",")[0] != made_by.split(",")[0]:
        raise DataError(
            f"{folder}: this folder was not made by {made_by.split(',')[0]}, so it is "
            "left alone: move it away, then run this again"
        )
    aside = folder.with_name(f"{folder.name}.incomplete-{uuid.uuid4().hex[:8]}")
    # One rename takes it out of sight: of two processes only one succeeds.
    with contextlib.suppress(FileNotFoundError):
        folder.rename(aside)
    shutil.rmtree(aside, ignore_errors=True)


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
