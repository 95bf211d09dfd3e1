"""Writes sets of TFRecord shards atomically.

Taught in lesson 04a, 'Whole or absent'.
"""

import contextlib
import itertools
import json
import os
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import tensorflow as tf
from tqdm import tqdm

from helpers.arguments import numbers, whole, whole_number
from helpers.errors import DataError, first_line
from helpers.files import sha256, whole_file
from helpers.records.shards import manifest_path, read_manifest, shard_names

_LABELS = tf.int32.min, tf.int32.max  # looked up once, because each lookup is slow


def make_example(img: bytes, lbl: int) -> tf.train.Example:
    """Creates an `Example` from a JPEG picture and its label.

    Args:
      img: Bytes of a JPEG file, as they are on disk.
      lbl: Label, a whole number that fits into an int32, because the pipelines read it
        as such.

    Returns:
      An `Example` with the features `image` (bytes) and `label` (int64).

    Raises:
      TypeError: If the label is not a whole number.
      ValueError: If the label does not fit into an int32.

    Source: the records document.
    """
    label = whole_number("lbl", lbl, *_LABELS)
    example = tf.train.Example()
    feature = example.features.feature  # filled in place to avoid copies
    feature["image"].bytes_list.value.append(img)
    feature["label"].int64_list.value.append(label)
    return example


@numbers(num_shards=whole(most=99_999), seed=whole(0))
def write_shards(
    examples: Iterable[Any],
    path_prefix: str | os.PathLike,
    num_shards: int,
    *,
    seed: int,
    compression: str | None = None,
) -> list[Path]:
    """Writes shuffled examples to a set of shards, with a manifest.

    The shards are named `prefix-00000-of-00004` and so on. They get these names only
    when all of them are complete. The manifest `prefix.manifest.json` is written last.
    It contains the number of records, the size, and the SHA-256 hash of each shard, and
    shards without it cannot be read. An older set with the same prefix is kept until
    then.

    The examples pass through a temporary file in the same folder, so memory needs only
    16 bytes per example.

    Args:
      examples: `Example` or `SequenceExample` protos, or their serialised bytes, as a
        list or a generator.
      path_prefix: Folder and first part of the names of the shards.
      num_shards: Number of files, at most the number of examples.
      seed: Seed of the shuffle. The same examples and seed give the same bytes.
      compression: `None` or `"GZIP"`. Readers detect the compression.

    Returns:
      The paths of the shards, in order.

    Raises:
      ValueError: If the number of shards or the compression is invalid.
      DataError: If there are no examples, if the disk is full, or if a manifest with
        this name does not belong to such shards. Existing files are unchanged.
    """
    prefix = Path(path_prefix)
    _old_shards(prefix)  # fail before the examples are generated
    prefix.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        with _named_disk_errors(prefix):
            file = tempfile.TemporaryFile(dir=prefix.parent)  # noqa: SIM115
            stack.callback(_close, file)
        ends = array("q", [0])
        for example in tqdm(examples, prefix.name, unit=" records"):
            payload = _serialised(example)
            with _named_disk_errors(prefix):
                file.write(payload)
            ends.append(ends[-1] + len(payload))
        with _named_disk_errors(prefix):
            file.flush()

        def shuffled() -> Iterator[bytes]:
            for place in shuffled_places(len(ends) - 1, seed):
                file.seek(ends[place])
                yield file.read(ends[place + 1] - ends[place])

        count = len(ends) - 1
        return write_sets(
            [ShardSet(prefix, shuffled(), count, num_shards, compression=compression)]
        )[0]


def _close(file: IO[bytes]) -> None:
    with contextlib.suppress(OSError):  # closing flushes, which fails on a full disk
        file.close()


def shuffled_places(count: int, seed: int) -> list[int]:
    """Returns the order in which `write_shards` writes `count` examples."""
    return np.random.default_rng(seed).permutation(count).tolist()


class ShardSet(NamedTuple):
    """Set of shards to be written by `write_sets`.

    Attributes:
      prefix: Folder and first part of the names of the shards.
      examples: Examples as for `write_shards`, which are written in this order.
      records: Number of examples.
      num_shards: Number of files.
      labels: Text of `prefix.labels.txt`, or `None` for no such file.
      compression: `None` or `"GZIP"`.
    """

    prefix: Path
    examples: Iterable[Any]
    records: int
    num_shards: int
    labels: str | None = None
    compression: str | None = None


def write_sets(sets: Sequence[ShardSet]) -> list[list[Path]]:
    """Writes several sets of shards that all become visible together.

    First, all files are written under temporary names. Then, the old manifests are
    removed, so that no old set can be opened beside a new one. Finally, shards and
    labels get their names, and the new manifests come last.

    Returns:
      For each set, the paths of its shards, in order.

    Raises:
      DataError: If there is no space left, or if the existing files do not belong to
        such a set. All files are unchanged.
    """
    old = [_old_shards(each.prefix) for each in sets]
    written = []
    with (_named_disk_errors(sets[0].prefix), contextlib.ExitStack() as manifests,
          contextlib.ExitStack() as shards):
        for each in sets:
            written.append(_drafted(each, shards))
            draft = manifests.enter_context(whole_file(manifest_path(each.prefix)))
            content = {"records": each.records, "shards": written[-1]}
            draft.write_text(json.dumps(content, indent=1), encoding="utf-8")
            if each.labels is not None:
                path = each.prefix.with_name(f"{each.prefix.name}.labels.txt")
                labels = shards.enter_context(whole_file(path))
                labels.write_text(each.labels, encoding="utf-8")
        for each in sets:
            manifest_path(each.prefix).unlink(missing_ok=True)
        for each, names, new in zip(sets, old, written, strict=True):
            for name in set(names) - set(new):
                each.prefix.with_name(name).unlink(missing_ok=True)
    return [[each.prefix.with_name(name) for name in new]
            for each, new in zip(sets, written, strict=True)]


def _drafted(each: ShardSet, whole: contextlib.ExitStack) -> dict[str, dict]:
    """Writes shards under temporary names; returns the size and hash of each."""
    if each.compression not in (None, "", "GZIP"):
        raise ValueError(
            'The compression must be None or "GZIP", but got '
            f"{each.compression!r}."
        )
    parts = _parts(each.records, each.num_shards, each.prefix)
    shards, payloads = {}, map(_serialised, each.examples)
    for name, part in zip(shard_names(each.prefix, len(parts)), parts, strict=True):
        draft = whole.enter_context(whole_file(each.prefix.with_name(name)))
        with tf.io.TFRecordWriter(os.fspath(draft), each.compression) as writer:
            for payload in itertools.islice(payloads, part):
                writer.write(payload)
        shards[name] = {"records": part, "bytes": draft.stat().st_size,
                        "sha256": sha256(draft)}
    return shards


def _parts(count: int, num_shards: int, prefix: Path) -> list[int]:
    """Returns the number of examples in each shard."""
    if not count:
        raise DataError(
            f"No examples to write to {prefix}. Check that the source folder contains "
            "pictures."
        )
    if num_shards > count:
        raise ValueError(
            f"Cannot split {count} examples of {prefix} into {num_shards} shards. Set "
            f"num_shards to {count} or less."
        )
    return [len(part) for part in np.array_split(range(count), num_shards)]


def _serialised(example: Any) -> bytes:
    if isinstance(example, bytes):
        return example
    # Without this, the order of map entries differs from run to run.
    return example.SerializeToString(deterministic=True)


def _old_shards(prefix: Path) -> list[str]:
    """Returns the shard names in the existing manifest, if there is one."""
    there = os.path.lexists(manifest_path(prefix))
    return list(read_manifest(prefix)["shards"]) if there else []


@contextlib.contextmanager
def _named_disk_errors(prefix: Path) -> Iterator[None]:
    """Converts failed writes to `DataError`.

    TensorFlow reports a file that cannot grow as an `OutOfRangeError`, which every
    training loop treats as the end of the data.
    """
    try:
        yield
    except (tf.errors.OpError, OSError) as error:
        raise DataError(
            f"Failed to write the shards of {prefix} ({first_line(error)}). No partial "
            "files were kept. Free some disk space and try again."
        ) from error
