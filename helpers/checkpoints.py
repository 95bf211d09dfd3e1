"""Save by step number; restore the newest checkpoint that is whole and fits."""

import os
import re
import warnings
from pathlib import Path

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.errors import DataError, first_line

STEM = "model.ckpt"
_INDEX = re.compile(r"-(\d+)\.index$")
_PIECE = re.compile(r"\.(index|data-\d{5}-of-\d{5})$")
_PATTERN = re.compile(r"[\[\]*?]")


def save_numbered(
    saver: tf1.train.Saver, session: tf1.Session, folder: str | os.PathLike, step: int
) -> Path:
    """Saves under a name that carries the step, so that no save replaces another.

    Saving under one name again and again is how a kill leaves new data under an old
    index, and nothing to restore.

    Args:
      saver: made over the variables to keep.
      session: holds their values.
      folder: made if it is not there.
      step: the global step.

    Returns:
      The checkpoint's path without ending: `<folder>/model.ckpt-<step>`.

    Raises:
      DataError: a value is NaN or infinite, which a few saves later would have pushed
        out every good checkpoint; or TensorFlow cannot find such a folder again.
    """
    folder = Path(folder)
    _check_name(folder)
    _check_finite(saver, session, step)
    folder.mkdir(parents=True, exist_ok=True)
    with session.graph.as_default():  # outside of a graph a Saver thinks it is eager
        path = saver.save(
            session, str(folder / STEM), global_step=int(step), write_meta_graph=False
        )
    return Path(path)


def restore_latest(
    saver: tf1.train.Saver,
    session: tf1.Session,
    folder: str | os.PathLike,
    variables: list | None = None,
) -> int | None:
    """Restores the newest checkpoint that is whole, finite and fits this model.

    The step numbers in the file names decide which is newest, so a lost or garbled
    `checkpoint` state file does no harm. A damaged checkpoint is passed over with a
    warning; one of another model is refused, because an older one that happens to
    fit would be a surprise.

    Args:
      saver: made over `variables`.
      session: receives the values; untouched when an error is raised.
      folder: where `save_numbered` wrote.
      variables: what the saver saves; all global variables if `None`.

    Returns:
      The step that was restored, or `None` where nothing was ever saved.

    Raises:
      DataError: there are checkpoint files, but none that can be used, or the
        newest whole one belongs to another model; or TensorFlow cannot look into
        such a folder. Never a silent restart.
    """
    folder = Path(folder)
    _check_name(folder)
    if variables is None:
        variables = session.graph.get_collection(tf1.GraphKeys.GLOBAL_VARIABLES)
    checkpoints = _numbered(folder)
    damage = []
    for step, path in checkpoints:
        try:
            saved = _read_whole(path)
        except DataError as error:
            damage.append(str(error))
            continue
        _check_fit(path, saved, variables)
        with session.graph.as_default():
            saver.restore(session, str(path))
        older = [str(p) for s, p in reversed(checkpoints) if s <= step]
        saver.recover_last_checkpoints(older)
        for line in damage:
            warnings.warn(f"passed over {line}; restored step {step}", stacklevel=2)
        return step
    if damage:
        raise DataError(
            "no checkpoint can be restored: " + "; ".join(damage)
            + f". Delete {folder.name} to train from the start."
        )
    if folder.is_dir() and any(_PIECE.search(p.name) for p in folder.iterdir()):
        raise DataError(
            f"{folder.name}: pieces of checkpoints, but none with an index. Delete "
            "the folder to train from the start."
        )
    return None


def _check_name(folder: Path) -> None:
    """Raises `DataError` where TensorFlow would search for a pattern instead."""
    if found := _PATTERN.search(str(folder)):
        raise DataError(
            f"{folder}: TensorFlow takes the {found[0]} in this name for a pattern and "
            "finds no checkpoint there. Use a folder without any of [ ] * ?"
        )


def _check_finite(saver: tf1.train.Saver, session: tf1.Session, step: int) -> None:
    """Raises `DataError` naming a value that is not finite, of those to be saved."""
    done = session.graph.get_tensor_by_name(saver.as_saver_def().save_tensor_name).op
    for save in done.control_inputs:
        if save.type != "SaveV2":
            continue
        _, names, _, *tensors = save.inputs
        names, *values = session.run([names, *tensors])
        for name, value in zip(names, values, strict=True):
            if not _is_finite(value):
                raise DataError(
                    f"{STEM}-{step}: not saved, {name.decode()} holds NaN or infinity. "
                    "The last checkpoint is still good: restore it, and find the step "
                    "that broke the training."
                )


def _is_finite(value: np.ndarray) -> bool:
    value = np.asarray(value)
    return value.dtype.kind != "f" or bool(np.isfinite(value).all())


def _numbered(folder: Path) -> list[tuple[int, Path]]:
    """Returns (step, path without ending) of every index file, newest first."""
    found = []
    for index in folder.glob("*.index"):
        if match := _INDEX.search(index.name):
            found.append((int(match.group(1)), index.with_suffix("")))
    return sorted(found, reverse=True)


def _read_whole(path: Path) -> dict[str, np.ndarray]:
    """Reads every tensor, which checks every checksum; all must be finite."""
    try:
        reader = tf.train.load_checkpoint(str(path))
        names = reader.get_variable_to_shape_map()
        tensors = {name: reader.get_tensor(name) for name in names}
    except (tf.errors.OpError, ValueError, RuntimeError, IndexError) as error:
        raise DataError(f"{path.name}: damaged ({first_line(error)})") from error
    for name, value in tensors.items():
        if not _is_finite(value):
            raise DataError(f"{path.name}: {name} holds NaN or infinity")
    return tensors


def _check_fit(path: Path, saved: dict[str, np.ndarray], variables: list) -> None:
    """Raises `DataError` naming each variable that is absent or of another kind."""
    # Restoring a resource variable does not compare shapes: tensorflow issue 52220.
    problems = []
    for variable in variables:
        name, shape = variable.op.name, tuple(variable.shape.as_list())
        if name not in saved:
            problems.append(f"{name} is not saved")
        elif saved[name].shape != shape:
            problems.append(f"{name} is {saved[name].shape}, the model's is {shape}")
        elif saved[name].dtype != variable.dtype.base_dtype.as_numpy_dtype:
            problems.append(
                f"{name} is {saved[name].dtype}, the model's is "
                f"{variable.dtype.base_dtype.name}"
            )
    if problems:
        raise DataError(f"{path.name} is of another model: " + "; ".join(problems))
