"""Restore the newest checkpoint that is whole and fits what the `Saver` restores."""

import contextlib
import os
import warnings
from pathlib import Path

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checkpoints import folder as names
from helpers.checkpoints.contents import Entry, entries, is_finite
from helpers.errors import DataError, first_line

# What a checkpoint holds: per name its shape and dtype.
Contents = dict[str, tuple[list[int], tf.DType]]
_BEGIN_ANEW = "Nothing was changed; to train from the start, save into another folder."


def restore_latest(
    saver: tf1.train.Saver, session: tf1.Session, folder: str | os.PathLike
) -> int | None:
    """Restores the newest checkpoint that is whole, finite and fits this model.

    The step numbers in the file names decide which is newest, so a lost or garbled
    `checkpoint` state file does no harm. A damaged checkpoint is passed over with a
    warning; one of another model is refused, because an older one that happens to
    fit would be a surprise. Checkpoints under another stem than `model.ckpt` are
    somebody else's: they are neither restored nor refused.

    From then on the `Saver` deletes, in its turn, what the `Saver` before it would
    have deleted, and nothing else.

    Args:
      saver: is asked what it restores: some of the variables, under other names, in
        parts or from shards, whatever it was made over.
      session: receives the values; untouched when an error is raised.
      folder: where `save_numbered` wrote.

    Returns:
      The step that was restored, or `None` where nothing was ever saved; with a
      warning where others have saved.

    Raises:
      DataError: there are checkpoint files, but none that can be used; the newest
        whole one belongs to another model; it is no folder; or TensorFlow cannot
        look into such a folder. Never a silent restart.
      ValueError: the `Saver` has nothing to restore, or belongs to another graph.
    """
    folder = Path(folder)
    names.check_name(folder)
    names.check_folder(folder)
    wanted = entries(saver, session.graph)
    if not folder.is_dir():
        return None
    damage = []
    for step, path in names.numbered(folder):
        try:
            saved = _read_whole(path, {entry.name for entry in wanted})
        except DataError as error:
            damage.append(str(error))
            continue
        _check_fit(path, saved, wanted)
        with session.graph.as_default():
            saver.restore(session, str(path))
        _go_on_rotating(saver, folder, step)
        for line in damage:
            warnings.warn(f"passed over {line}; restored step {step}", stacklevel=2)
        return step
    _refuse_a_silent_restart(folder, damage)
    return None


def _read_whole(path: Path, wanted: set[str]) -> Contents:
    """Reads every tensor, which checks every checksum; the wanted ones are finite."""
    if missing := names.missing_shards(path):
        raise DataError(f"{path.name}: damaged ({missing})")
    try:
        reader = tf.train.load_checkpoint(str(path))
        shapes = reader.get_variable_to_shape_map()
        dtypes = reader.get_variable_to_dtype_map()
        for name in shapes:
            # The V1 format reads a variable in parts for a Saver only.
            with contextlib.suppress(tf.errors.UnimplementedError):
                if not is_finite(reader.get_tensor(name)) and name in wanted:
                    raise DataError(f"{path.name}: {name} holds NaN or infinity")
    except (tf.errors.OpError, ValueError, RuntimeError, IndexError) as error:
        raise DataError(f"{path.name}: damaged ({first_line(error)})") from error
    return {name: (shape, dtypes[name]) for name, shape in shapes.items()}


def _check_fit(path: Path, saved: Contents, wanted: list[Entry]) -> None:
    """Raises `DataError` naming each tensor that is absent or of another kind."""
    # Restoring a resource variable does not compare shapes: tensorflow issue 52220.
    problems = []
    for entry in wanted:
        if entry.name not in saved:
            problems.append(f"{entry.name} is not saved")
            continue
        shape, dtype = saved[entry.name]
        if not entry.shape.is_compatible_with(shape):
            problems.append(
                f"{entry.name} is {tuple(shape)}, the model's is "
                f"{tuple(entry.shape.as_list())}"
            )
        elif dtype != entry.dtype:
            problems.append(
                f"{entry.name} is {dtype.name}, the model's is {entry.dtype.name}"
            )
    if problems:
        raise DataError(
            f"{path.name} is of another model: " + "; ".join(dict.fromkeys(problems))
        )


def _go_on_rotating(saver: tf1.train.Saver, folder: Path, step: int) -> None:
    """Tells a new `Saver` which older checkpoints it may delete in its turn."""
    if saver.last_checkpoints:
        return
    ours = {path.name: str(path) for s, path in names.numbered(folder) if s <= step}
    saver.recover_last_checkpoints(
        [ours[name] for name in names.rotating(folder) if name in ours]
    )


def _refuse_a_silent_restart(folder: Path, damage: list[str]) -> None:
    """Raises or warns where a folder without a usable checkpoint is not empty."""
    if damage:
        raise DataError(
            f"no checkpoint can be restored: {'; '.join(damage)}. {_BEGIN_ANEW}"
        )
    if found := names.without_number(folder):
        raise DataError(
            f"{folder}: holds {found[0]}, saved without a step, so nobody knows how "
            f"far it got. saver.restore(session, {str(folder / names.STEM)!r}) takes "
            f"it. {_BEGIN_ANEW}"
        )
    if found := names.without_index(folder):
        raise DataError(
            f"{folder}: pieces of checkpoints, but none with an index: "
            f"{', '.join(found)}. {_BEGIN_ANEW}"
        )
    if found := names.of_others(folder):
        warnings.warn(
            f"{folder}: nothing restored: {', '.join(found)} is not from "
            "save_numbered; saver.restore(session, path) takes it", stacklevel=3,
        )
