"""From Tiny ImageNet's folders of JPEG files to shards."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import tensorflow as tf

from helpers.errors import DataError
from helpers.files import whole_file
from helpers.jpeg import read_jpegs
from helpers.records.shards import make_example, write_shards
from helpers.tiny_layout import FOLDER, TinyLayout


def write_tiny_imagenet_shards(
    tin_path: str | os.PathLike,
    split: str,
    path_prefix: str | os.PathLike,
    num_shards: int,
    *,
    synset_to_id: Mapping[str, int] | None = None,
    seed: int,
) -> list[Path]:
    """Converts one split of Tiny ImageNet to shuffled shards.

    The labels are written beside the shards, to `prefix.labels.txt`: line k holds
    the synset of label k and, after a tab, its words.

    Args:
      tin_path: the folder that holds `tiny-imagenet-200/`, as `grab_tin` returns it.
      split: `"train"` or `"val"`.
      path_prefix: folder and first part of the shards' names.
      num_shards: how many files.
      synset_to_id: label of each synset, as `get_tin_id_maps` returns it: 0 to n-1.
        In the order of `wnids.txt` if `None`.
      seed: of the shuffle.

    Returns:
      The shards' paths, in order.

    Raises:
      DataError: a class or a picture is missing, damaged or too large, or a synset is
        unknown; names the file. Older shards and their labels stay as they were.
      ValueError: there is no such split.

    Source: the records document.
    """
    layout = TinyLayout(Path(tin_path) / FOLDER)
    prefix = Path(path_prefix)
    pairs = layout.pictures(split)
    ids = layout.synset_ids() if synset_to_id is None else synset_to_id
    unknown = sorted({synset for _, synset in pairs} - set(ids))
    if unknown:
        raise DataError(
            f"{layout.root}: {split} has the synset {unknown[0]}, which has no id"
        )
    labels = _label_lines(layout.synset_words(), ids)
    paths = [path for path, _ in pairs]
    examples = _Examples(paths, [ids[synset] for _, synset in pairs])
    # The labels get their name last: until then the old shards need the old ones.
    with whole_file(prefix.with_name(f"{prefix.name}.labels.txt")) as temporary:
        temporary.write_text(labels, encoding="utf-8")
        return write_shards(examples, prefix, num_shards, seed=seed)


class _Examples:
    """Examples of pictures, which are read and checked in any order."""

    def __init__(self, paths: list[str], labels: list[int]):
        self._paths, self._labels = paths, labels

    def __len__(self) -> int:
        return len(self._paths)

    def in_order(self, order: np.ndarray) -> Iterator[tf.train.Example]:
        """Yields the examples of these numbers: shuffled while they are names."""
        places = order.tolist()
        pictures = read_jpegs(self._paths[place] for place in places)
        for place, picture in zip(places, pictures, strict=True):
            yield make_example(picture, self._labels[place])


def _label_lines(words: Mapping[str, str], synset_to_id: Mapping[str, int]) -> str:
    """Returns the lines of the file of labels, in the labels' order."""
    in_order = sorted(synset_to_id, key=synset_to_id.__getitem__)
    if [synset_to_id[synset] for synset in in_order] != list(range(len(in_order))):
        raise ValueError("synset_to_id: the labels must be 0 to n-1, each once")
    return "".join(f"{synset}\t{words.get(synset, '')}\n" for synset in in_order)
