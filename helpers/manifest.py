"""The list of a finished folder: how a reader knows that nothing is missing."""

import contextlib
import hashlib
import json
import shutil
import uuid
import warnings
from pathlib import Path

from helpers.errors import DataError

NAME = "manifest.json"


def write_manifest(folder: Path, **facts) -> dict:
    """Lists every file of a folder in `manifest.json`; call it last.

    Args:
      folder: holds the finished files.
      **facts: what else to remember, such as the settings that it was made with.

    Returns:
      What was written: the facts and `files`, `bytes`, `sha256`, that of the sorted
      listing of names and sizes, and `sizes`, the listing itself.
    """
    sizes = _sizes(folder)
    manifest = {**facts, **_summary(sizes), "sizes": sizes}
    (folder / NAME).write_text(json.dumps(manifest, indent=1) + "\n")
    return manifest


def find_manifest(folder: Path) -> dict | None:
    """Returns the manifest of a folder; None where there is none to be read."""
    try:
        manifest = json.loads((folder / NAME).read_text())
    except (OSError, ValueError):
        return None
    return manifest if isinstance(manifest, dict) else None


def check_manifest(folder: Path, remedy: str) -> dict:
    """Returns the manifest after comparing it with the folder's names and sizes.

    A file that the manifest does not list is somebody's own, and does no harm.

    Args:
      folder: what is checked. The files are counted and measured, not read.
      remedy: what the message tells the reader to do.

    Raises:
      DataError: the manifest is missing, or a file that it lists is missing or has
        another size.
    """
    manifest = find_manifest(folder)
    if manifest is None:
        raise DataError(f"{folder}: no {NAME}, so it is not whole: {remedy}")
    listed = _listed(manifest)
    there = {name: size for name, size in _sizes(folder).items() if name in listed}
    found = _summary(there)
    if any(found[key] != manifest.get(key) for key in found):
        raise DataError(
            f"{folder}: {found['files']} of its files with {found['bytes']} bytes, its "
            f"{NAME} lists {manifest.get('files')} with {manifest.get('bytes')}: "
            + remedy
        )
    return manifest


def is_whole(folder: Path, **facts) -> bool:
    """Returns whether the folder holds what its manifest lists, all of it.

    Args:
      folder: what is checked, as by `check_manifest`.
      **facts: what the manifest must say besides, as given to `write_manifest`.
    """
    if not facts.items() <= (find_manifest(folder) or {}).items():
        return False  # before the files are counted
    try:
        return bool(check_manifest(folder, ""))
    except DataError:
        return False


def listing_digest(folder: Path) -> str:
    """Returns the SHA-256 of a folder's listing: the name and size of each file."""
    return _summary(_sizes(folder))["sha256"]


def clear_way(folder: Path, made_by: str) -> None:
    """Makes room for a new folder where an older or damaged one of ours stands.

    It is removed, unless it holds files that its manifest does not list: then it is
    kept under another name, and a warning says which.

    Args:
      folder: what has to go, if it is there.
      made_by: its manifest must name the same maker, of any version.

    Raises:
      DataError: somebody else made the folder.
    """
    if not folder.exists():
        return
    manifest = find_manifest(folder) or {}
    if str(manifest.get("made_by")).split(",")[0] != made_by.split(",")[0]:
        raise DataError(
            f"{folder}: this folder was not made by {made_by.split(',')[0]}, so it is "
            "left alone: move it away, then run this again"
        )
    # One rename takes it out of sight: of two processes only one succeeds.
    with contextlib.suppress(FileNotFoundError):
        strange = sorted(_sizes(folder).keys() - _listed(manifest))
        kind = "kept" if strange else "incomplete"
        aside = folder.with_name(f"{folder.name}.{kind}-{uuid.uuid4().hex[:8]}")
        folder.rename(aside)
        if not strange:
            shutil.rmtree(aside, ignore_errors=True)
            return
        warnings.warn(
            f"{folder} is made anew; the old one holds {strange[0]}, which is not "
            f"ours, and is kept as {aside.name}",
            stacklevel=3,
        )


def _listed(manifest: dict) -> set[str]:
    """Returns the names that a manifest lists; none where that part is damaged."""
    sizes = manifest.get("sizes")
    return set(sizes) if isinstance(sizes, dict) else set()


def _sizes(folder: Path) -> dict[str, int]:
    """Returns the size of each file in a folder, by name, sorted."""
    sizes = {
        path.relative_to(folder).as_posix(): path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and path != folder / NAME
    }
    return dict(sorted(sizes.items()))


def _summary(sizes: dict[str, int]) -> dict:
    """Returns count, bytes and the SHA-256 of the sorted names and sizes."""
    text = "".join(f"{name} {size}\n" for name, size in sizes.items())
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {"files": len(sizes), "bytes": sum(sizes.values()), "sha256": digest}
