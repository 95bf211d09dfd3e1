"""Checkpoints that are saved and restored together with vocabulary and model sizes.

Taught in lesson 08b, "Save it with its words".
"""

import dataclasses
import json
import os
from pathlib import Path

import tensorflow.compat.v1 as tf1

from helpers.arguments import numbers, whole
from helpers.captions.model import Sizes
from helpers.captions.vocabulary import Vocabulary
from helpers.checkpoints import restore_latest, save_numbered
from helpers.errors import DataError
from helpers.files import whole_file
from helpers.reading import read_json

VOCABULARY, SIZES = "vocabulary.txt", "sizes.json"
ENCODER_SIZES = ("image_size", "configuration", "base_width")


@numbers(step=whole(0, 2**63 - 1))
def save_captioner(
    saver: tf1.train.Saver,
    session: tf1.Session,
    folder: str | os.PathLike,
    step: int,
    *,
    vocabulary: Vocabulary,
    sizes: Sizes,
) -> Path:
    """Saves a checkpoint together with the vocabulary and the model sizes.

    Args:
      saver: Saver of the variables to keep.
      session: Session with their values.
      folder: Folder for one model. It is created if it does not exist.
      step: Global step.
      vocabulary: Vocabulary of the model.
      sizes: Sizes of the `ShowAndTell` model.

    Returns:
      The path of the checkpoint without its extension.

    Raises:
      DataError: If the folder belongs to another model.
    """
    folder = Path(folder)
    if (folder / SIZES).exists():
        _check(folder, vocabulary, sizes)
    else:
        vocabulary.save(folder / VOCABULARY)
        with whole_file(folder / SIZES) as temporary:
            content = {**dataclasses.asdict(sizes), "vocabulary": vocabulary.digest()}
            temporary.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    return save_numbered(saver, session, folder, step)


def restore_captioner(
    saver: tf1.train.Saver,
    session: tf1.Session,
    folder: str | os.PathLike,
    *,
    vocabulary: Vocabulary,
    sizes: Sizes,
) -> int | None:
    """Restores the newest complete checkpoint if vocabulary and sizes match.

    Args:
      saver: Saver that defines which variables are restored.
      session: Session that receives the values. It is unchanged if an error is raised.
      folder: Folder of `save_captioner`.
      vocabulary: Vocabulary of the model. With a different one, the model would
        generate fluent nonsense.
      sizes: Sizes of the model.

    Returns:
      The step of the restored checkpoint, or `None` if nothing was ever saved.

    Raises:
      DataError: If the vocabulary or a size differs from the saved one, or as in
        `checkpoints.restore_latest`. The message names the difference.
    """
    folder = Path(folder)
    if not folder.exists() or not any(folder.iterdir()):
        return None
    _check(folder, vocabulary, sizes)
    return restore_latest(saver, session, folder)


def _check(folder: Path, vocabulary: Vocabulary, sizes: Sizes) -> None:
    """Raises a `DataError` that names the first difference between two models."""
    saved = _read_sizes(folder)
    for name, value in dataclasses.asdict(sizes).items():
        if saved[name] != value:
            part = "encoder" if name in ENCODER_SIZES else "size"
            raise DataError(
                f"The {part} of this model does not match {folder / SIZES}: {name} is "
                f"{saved[name]!r} in the checkpoint, but {value!r} in the model. Build "
                "the model with the saved sizes, or save to another folder."
            )
    known = Vocabulary.load(folder / VOCABULARY)
    if not known.digest() == saved["vocabulary"] == vocabulary.digest():
        difference = _difference(known, vocabulary)
        raise DataError(
            f"{folder / VOCABULARY}: The vocabulary of this model differs from the "
            f"saved one: {difference}. Its ids would stand for other words, so load "
            "the saved vocabulary with Vocabulary.load."
        )


def _read_sizes(folder: Path) -> dict:
    shape = {field.name: field.type for field in dataclasses.fields(Sizes)}
    saved = read_json(
        folder / SIZES, {**shape, "vocabulary": str},
        "The weights in the same folder may be complete, so restore them with "
        "checkpoints.restore_latest. To train from scratch, save to another folder.")
    return {name: saved[name] for name in [*shape, "vocabulary"]}


def _difference(saved: Vocabulary, given: Vocabulary) -> str:
    """Describes the first word id at which two vocabularies differ."""
    for k, (old, new) in enumerate(zip(saved.words, given.words, strict=False)):
        if old != new:
            return f"id {k} is {old!r} in the checkpoint, but {new!r} here"
    return "the file was changed after it was saved"
