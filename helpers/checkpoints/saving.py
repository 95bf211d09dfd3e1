"""Saves numbered checkpoints, and refuses values that are not finite."""

import os
import re
import shutil
from pathlib import Path

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.arguments import numbers, whole
from helpers.checkpoints.contents import entries, is_finite
from helpers.errors import DataError, first_line
from helpers.reading import regular_file

STEM = "model.ckpt"
# TensorFlow finds a checkpoint's files with a glob pattern, in which \ escapes.
_PATTERN = re.compile(r"[\[\]*?\\]")


def check_name(folder: Path) -> None:
    """Raises `DataError` if TensorFlow would read a folder's name as a pattern.

    Raises:
      DataError: If the path contains a wildcard character.
    """
    if match := _PATTERN.search(folder.as_posix()):
        raise DataError(
            f"{folder} contains {match[0]!r}, which TensorFlow treats as a wildcard. "
            "Choose a path without the characters [ ] * ? \\."
        )


@numbers(step=whole(0, 2**63 - 1))
def save_numbered(
    saver: tf1.train.Saver, session: tf1.Session, folder: str | os.PathLike, step: int
) -> Path:
    """Saves a checkpoint under its step number, so that no save replaces another.

    If every save had the same name, a kill could leave new data with an old index file,
    and nothing could be restored.

    Args:
      saver: Saver of the variables to keep.
      session: Session with their values.
      folder: Folder for the checkpoints. It is created if it does not exist.
      step: Global step.

    Returns:
      The path of the checkpoint without its extension, `<folder>/model.ckpt-<step>`.

    Raises:
      DataError: If a value is NaN or infinite, because a few such saves would replace
        every good checkpoint; if the file cannot be written; or if the name of the
        folder contains a wildcard character, so that TensorFlow could not find the
        checkpoint.
      ValueError: If the `Saver` uses the format from before 2017, `SaverDef.V1`.

    Taught in lesson 07a, "What a checkpoint holds".
    """
    folder = Path(folder)
    check_name(folder)
    saved = entries(saver, session.graph)
    values = session.run([entry.tensor for entry in saved])
    for entry, value in zip(saved, values, strict=True):
        if not is_finite(value):
            raise DataError(
                f"Checkpoint {STEM}-{step} was not saved: {entry.name} contains NaN or "
                "infinity. Restore the last checkpoint, and find the step at which "
                "training diverged."
            )
    for there in [folder / "checkpoint", *folder.glob(f"{STEM}-{step}.*")]:
        if os.path.lexists(there):
            regular_file(there, "replaced")
    before = _half_files(folder, step)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with session.graph.as_default():  # or the Saver assumes eager mode
            return Path(saver.save(
                session, str(folder / STEM), step, write_meta_graph=False))
    except (tf.errors.OpError, OSError) as error:
        for path in _half_files(folder, step) - before:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        cause = getattr(error, "strerror", None) or first_line(error)
        raise DataError(
            f"Failed to save {folder / STEM}-{step} ({cause}). Earlier checkpoints are "
            "unchanged. Free some disk space, or save to another folder."
        ) from error


def _half_files(folder: Path, step: int) -> set[Path]:
    """Returns the temporary files of a save that has not been completed."""
    name = f"{STEM}-{step}"
    return {*folder.glob(f"{name}.*.tempstate*"), *folder.glob(f"{name}_temp")}
