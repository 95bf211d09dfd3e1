"""Restores the newest checkpoint that is complete and fits the `Saver`."""

import glob
import os
import re
import warnings
from pathlib import Path

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checkpoints.contents import Entry, entries, is_finite
from helpers.checkpoints.saving import STEM, check_name
from helpers.errors import DataError, first_line
from helpers.reading import regular_file

_INDEX = re.compile(re.escape(STEM) + r"-(\d+)\.index")
_DATA = re.compile(re.escape(STEM) + r"-\d+\.data-\d{5}-of-\d{5}")
_PIECE = re.compile(r".+\.(index|data-\d{5}-of-\d{5})"  # of any name
                    r"|.+\.ckpt(-\d+)?(-\d{5}-of-\d{5})?")  # format of before 2017


def numbered(folder: str | os.PathLike) -> list[tuple[int, Path]]:
    """Lists the numbered checkpoints in a folder, newest first.

    Args:
      folder: Folder to search, without its subfolders. It need not exist.

    Returns:
      Pairs of a step and a path without extension, one for each checkpoint, whether or
      not it is complete.
    """
    matches = [(_INDEX.fullmatch(path.name), path) for path in Path(folder).glob("*")]
    return sorted(((int(match[1]), path.with_suffix("")) for match, path in matches
                   if match), reverse=True)


def restore_latest(
    saver: tf1.train.Saver, session: tf1.Session, folder: str | os.PathLike
) -> int | None:
    """Restores the newest checkpoint that is complete and fits the model.

    The step numbers in the file names decide which checkpoint is newest. A `checkpoint`
    state file that is missing, damaged, or copied from elsewhere is therefore harmless.
    A damaged checkpoint is skipped with a warning. A checkpoint of another model raises
    an error, because restoring an older one that happens to fit would hide the mistake.

    Args:
      saver: Saver that defines what is restored. It may restore some of the variables,
        use other names, or read partitioned variables and shards.
      session: Session that receives the values. It is unchanged if an error is raised.
      folder: Folder of `save_numbered`.

    Returns:
      The step of the restored checkpoint, or `None` if nothing was ever saved.

    Raises:
      DataError: If `folder` contains checkpoint files but no usable checkpoint, if the
        newest complete checkpoint belongs to another model, or if `folder` is not a
        folder. Training never restarts silently from step 0.
      ValueError: If the `Saver` uses the format from before 2017, `SaverDef.V1`.

    Taught in lesson 07a, "The newest that is whole".
    """
    folder = Path(folder)
    check_name(folder)
    wanted = entries(saver, session.graph)
    damage = []
    for step, path in numbered(folder):
        try:
            saved = _read_whole(path, {entry.name for entry in wanted})
        except DataError as error:
            damage.append(str(error))
            continue
        _check_fit(path, saved, wanted)
        with session.graph.as_default():
            saver.restore(session, str(path))
        for reason in damage:
            warnings.warn(
                f"Skipped an unusable checkpoint. {reason} Restored step {step} "
                "instead.",
                stacklevel=2,
            )
        return step
    _refuse_a_silent_restart(folder, damage)
    return None


def _read_whole(path: Path, wanted: set[str]) -> dict[str, tuple[list[int], tf.DType]]:
    """Reads all tensors to verify their checksums and that they are finite."""
    for file in path.parent.glob(f"{glob.escape(path.name)}.*"):
        regular_file(file)
    try:
        reader = tf.train.load_checkpoint(str(path))
        shapes = reader.get_variable_to_shape_map()
        dtypes = reader.get_variable_to_dtype_map()
        for name in shapes:
            if not is_finite(reader.get_tensor(name)) and name in wanted:
                raise DataError(
                    f"Variable {name} in {path.name} contains NaN or infinity."
                )
    except (tf.errors.OpError, ValueError, RuntimeError, IndexError) as error:
        raise DataError(f"{path.name} is damaged ({first_line(error)}).") from error
    return {name: (shape, dtypes[name]) for name, shape in shapes.items()}


def _check_fit(path: Path, saved: dict, wanted: list[Entry]) -> None:
    """Raises `DataError` for tensors that are missing or differ in shape or dtype."""
    # Restoring a resource variable does not compare shapes: tensorflow issue 52220.
    problems = []
    for name, due_shape, due_dtype, _ in wanted:
        shape, dtype = saved.get(name, (None, None))
        if shape is None:
            problems.append(f"{name} is not saved")
        elif not due_shape.is_compatible_with(shape):
            problems.append(f"{name} has shape {tuple(shape)}, but the model needs "
                            f"{tuple(due_shape.as_list())}")
        elif dtype != due_dtype:
            problems.append(f"{name} is {dtype.name}, but the model needs "
                            f"{due_dtype.name}")
    if problems:
        differences = "; ".join(dict.fromkeys(problems))
        raise DataError(
            f"{path.name} belongs to another model: {differences}. Build the model "
            "that was saved, or save this model to another folder."
        )


def _refuse_a_silent_restart(folder: Path, damage: list[str]) -> None:
    """Raises `DataError` if the folder has files but no usable checkpoint."""
    pieces = sorted(path.name for path in folder.glob("*")
                    if _PIECE.fullmatch(path.name) and not path.is_dir())
    if folder.is_file() or folder.with_name(f"{folder.name}.index").exists():
        damage = [f"{folder} is not a folder. Pass the folder that contains it."]
    elif not damage and pieces:
        damage = [f"The folder contains {pieces[0]}, {_why_not(pieces[0])}"]
    if damage:
        reasons = " ".join(damage)
        raise DataError(
            f"No checkpoint in {folder} can be restored. {reasons} Nothing was "
            "changed. To train from scratch, save to another folder."
        )


def _why_not(piece: str) -> str:
    """Explains why a file cannot be restored as a numbered checkpoint."""
    if _DATA.fullmatch(piece):
        return ("which has no index file, because the save was interrupted or the "
                "index was lost.")
    return ("which is not a complete numbered checkpoint. Use saver.restore for a "
            "checkpoint without a number, or for one from before 2017.")
