"""Which checkpoints a folder holds, by the names of its files."""

import re
from pathlib import Path

import tensorflow.compat.v1 as tf1

from helpers.errors import DataError

STEM = "model.ckpt"
_STEM = re.escape(STEM)
_V2 = re.compile(_STEM + r"-(\d+)\.index")
_V1 = re.compile(_STEM + r"-(\d+)")
_V1_SHARD = re.compile(_STEM + r"-(\d+)-\d{5}-of-(\d{5})")
_UNNUMBERED = re.compile(_STEM + r"(\.index|-\d{5}-of-\d{5}|)")
_DATA = re.compile("(" + _STEM + r"(?:-\d+)?)\.data-\d{5}-of-\d{5}")
# TensorFlow looks for a checkpoint's files by a pattern, where \ escapes.
_PATTERN = re.compile(r"[\[\]*?\\]")


def check_name(folder: Path) -> None:
    """Refuses a folder in which TensorFlow would search for a pattern.

    Raises:
      DataError: its name holds one of the pattern's characters.
    """
    if found := _PATTERN.search(folder.as_posix()):
        raise DataError(
            f"{folder}: TensorFlow takes the {found[0]} in this name for a pattern and "
            r"finds no checkpoint there. Use a folder without any of [ ] * ? \ "
        )


def check_folder(folder: Path) -> None:
    """Refuses what is no folder, but a file or the path of one checkpoint.

    Raises:
      DataError: it is one of both; says which folder to give.
    """
    if folder.is_dir():
        return
    names = [] if not folder.parent.is_dir() else [
        path.name for path in folder.parent.iterdir()
        if path.name == f"{folder.name}.index"
        or re.fullmatch(re.escape(folder.name) + r"-\d{5}-of-\d{5}", path.name)
    ]
    if names or folder.exists():
        raise DataError(
            f"{folder}: is a file or one checkpoint, where a folder is wanted. Give "
            f"the folder around it: {folder.parent}"
        )


def numbered(folder: Path) -> list[tuple[int, Path]]:
    """Finds the checkpoints of `save_numbered`, whole or not, newest first.

    Args:
      folder: is looked into, not below.

    Returns:
      Per checkpoint its step and the path that a `Saver` restores it by: that of
      the files without ending (V2 format), a file (V1), or a pattern (V1 in shards).
    """
    found = set()
    for file in folder.iterdir():
        if match := _V2.fullmatch(file.name):
            found.add((int(match[1]), file.with_suffix("")))
        elif (match := _V1.fullmatch(file.name)) and file.is_file():
            found.add((int(match[1]), file))
        elif match := _V1_SHARD.fullmatch(file.name):
            pattern = f"{STEM}-{match[1]}-?????-of-{match[2]}"
            found.add((int(match[1]), folder / pattern))
    return sorted(found, reverse=True)


def missing_shards(path: Path) -> str:
    """Says how many shards of the V1 format are not there; empty where none lacks."""
    if "?" not in path.name:
        return ""
    wanted = int(path.name[-5:])
    there = len(list(path.parent.glob(path.name)))
    return "" if there == wanted else f"{there} of {wanted} shards are there"


def without_number(folder: Path) -> list[str]:
    """Returns the files of a checkpoint that was saved without its step."""
    return sorted(p.name for p in folder.iterdir() if _UNNUMBERED.fullmatch(p.name))


def without_index(folder: Path) -> list[str]:
    """Returns the names, without ending, of checkpoints with data but no index."""
    names = {m[1] for p in folder.iterdir() if (m := _DATA.fullmatch(p.name))}
    return sorted(name for name in names if not (folder / f"{name}.index").exists())


def of_others(folder: Path) -> list[str]:
    """Returns the names, without ending, of checkpoints under another stem."""
    return sorted(
        path.name.removesuffix(".index") for path in folder.glob("*.index")
        if not (_V2.fullmatch(path.name) or _UNNUMBERED.fullmatch(path.name))
    )


def rotating(folder: Path) -> list[str]:
    """Returns the names that the last `Saver` here would have deleted in its turn.

    TensorFlow's `checkpoint` file lists them. What a `Saver` keeps for ever is not on
    its list, but for the newest. So a list of one proves nothing, and is left out.

    Args:
      folder: holds the `checkpoint` file, or none, or one that cannot be read.

    Returns:
      Names without ending, oldest first.
    """
    try:
        state = tf1.train.get_checkpoint_state(str(folder))
    except ValueError:
        state = None
    paths = list(state.all_model_checkpoint_paths) if state else []
    return [Path(path).name for path in paths] if len(paths) > 1 else []
