"""Unpacking a zip file: its list is checked first, and the folder is whole or absent.

Only zip: its list stands in one place and states every size. A tar file shows what
it does while it does it.
"""

import hashlib
import os
import shutil
import stat
import unicodedata
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from tqdm import tqdm

from helpers.datasets.zip_list import check_list
from helpers.errors import DataError
from helpers.files import MANIFEST, whole_or_absent

MAX_BYTES = 4 << 30
MAX_RATIO = 200  # pictures and tables shrink to a tenth at best, zeros to a thousandth
MAX_DEPTH = 64  # folders in folders; systems end at some hundreds
DISK_BLOCK = 4096
_MAKER = "helpers.datasets.unpack_zip, version 1"


def unpack_zip(zip_path: str | os.PathLike, folder: str | os.PathLike) -> Path:
    """Unpacks an archive into a new folder, with a `manifest.json` of what it holds.

    Nothing is written unless every name in the archive's list is a plain relative
    one, none comes twice, the sizes are sane, and the list names all that the archive
    holds. Nothing is skipped or renamed.

    Args:
      zip_path: the archive.
      folder: gets its name when all is unpacked. If it is there, whole, from this
        archive, nothing is done; one that an earlier call made, damaged or of another
        archive, is replaced.

    Returns:
      The folder.

    Raises:
      DataError: the archive is damaged or refused; names the member and the cause.
    """
    zip_path, folder = Path(zip_path), Path(folder)
    try:
        with zipfile.ZipFile(zip_path) as archive:
            members = archive.infolist()
            made = {"made_by": _MAKER, "made_from": _identity(members)}
            with whole_or_absent(folder, **made) as draft:
                if draft:
                    _check_names(zip_path, members)
                    _check_sizes(zip_path, members, folder)
                    with open(zip_path, "rb") as file:
                        check_list(zip_path, file, members, archive.start_dir)
                    _write(zip_path, archive, members, draft)
    except UnicodeDecodeError as error:
        raise DataError(
            f"{zip_path}: refused, the name {error.object!r} is not the UTF-8 that its "
            "list says"
        ) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise DataError(
            f"{zip_path}: damaged archive ({error}). Nothing was unpacked; fetch or "
            "copy it again"
        ) from error
    except OSError as error:
        raise DataError(
            f"{zip_path}: cannot be unpacked to {folder} ({error.strerror or error})"
        ) from error
    return folder


def _identity(members: list[zipfile.ZipInfo]) -> str:
    """Returns the SHA-256 of the archive's list: each name, size and CRC-32."""
    rows = [f"{one.orig_filename} {one.file_size} {one.CRC}\n" for one in members]
    return hashlib.sha256("".join(rows).encode(errors="surrogatepass")).hexdigest()


def _check_names(zip_path: Path, members: list[zipfile.ZipInfo]) -> None:
    """Refuses every name that another system or another folder could understand."""
    files, folders = {_key(MANIFEST)}, set()  # that name is for our own list
    for member in members:
        # `filename` is already tidied by zipfile; we want what stands in the file.
        name = member.orig_filename
        problem = _name_problem(name) or _kind_problem(member)
        key = _key(name)
        parents = {_key(str(parent)) for parent in PurePosixPath(name).parents}
        if not problem and not name.endswith("/"):
            if key == _key(MANIFEST):
                problem = "has the name of the list that is written beside it"
            elif key in files:
                problem = "comes twice"
            files.add(key)
        elif not problem:
            folders.add(key)
        if problem:
            raise DataError(f"{zip_path}: refused, member {name!r} {problem}")
        folders |= parents
    if files & folders:
        name = min(files & folders)
        raise DataError(f"{zip_path}: refused, {name!r} is a file and a folder")


def _name_problem(name: str) -> str | None:
    """Returns what is wrong with a name, None where it is plain and relative."""
    parts = name.removesuffix("/").split("/")
    if name.startswith("/"):
        return "has an absolute name"
    if "\\" in name:
        return "has a backslash in its name"
    if ":" in name:
        return "names a drive"
    if ".." in parts:
        return "leaves the folder"
    if any(part in ("", ".") for part in parts) or not name.isprintable():
        return "has a name that is not plain"
    if len(parts) > MAX_DEPTH:
        return f"lies in more than {MAX_DEPTH} folders"
    return None


def _kind_problem(member: zipfile.ZipInfo) -> str | None:
    """Returns what is wrong with a member's kind; None for files and folders."""
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "is a link"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is not a regular file"
    if member.flag_bits & 1:
        return "is encrypted"
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "is compressed in an unusual way"
    return None


def _key(name: str) -> str:
    """Returns what a file system that ignores case and accents' forms would see."""
    return unicodedata.normalize("NFC", name.rstrip("/")).casefold()


def _check_sizes(zip_path, members, folder: Path) -> None:
    """Refuses what would fill the disk, before a byte is written."""
    plain = [member for member in members if not member.is_dir()]
    if not plain:
        raise DataError(f"{zip_path}: refused, it holds no files")
    total = sum(member.file_size for member in plain)
    if total > MAX_BYTES:
        raise DataError(
            f"{zip_path}: refused, it unpacks to {total:,} bytes, limit {MAX_BYTES:,}"
        )
    if total > MAX_RATIO * zip_path.stat().st_size:
        raise DataError(
            f"{zip_path}: refused, it unpacks to {total:,} bytes, more than "
            f"{MAX_RATIO} times its size: a bomb"
        )
    needed = sum(-(-member.file_size // DISK_BLOCK) * DISK_BLOCK for member in plain)
    folder.parent.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder.parent).free
    if needed > free:
        raise DataError(
            f"{zip_path}: it needs {needed:,} bytes of disk and {free:,} are free: "
            "make room, then run this again"
        )


def _write(zip_path, archive: zipfile.ZipFile, members, draft: Path) -> None:
    for member in tqdm(members, desc=zip_path.name, unit=" files"):
        target = draft / member.orig_filename
        if member.is_dir():
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        # zipfile reads no more than the stated size, and compares the CRC-32.
        with archive.open(member) as source, open(target, "xb") as file:
            shutil.copyfileobj(source, file)
        if target.stat().st_size != member.file_size:
            raise DataError(
                f"{zip_path}: refused, member {member.orig_filename!r} states "
                f"{member.file_size:,} bytes and holds {target.stat().st_size:,}"
            )
