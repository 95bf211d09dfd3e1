"""Write examples to shards that are whole or absent, and check them."""

import contextlib
import itertools
import json
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import numpy as np
import tensorflow as tf
from tqdm import tqdm

from helpers.arguments import whole_number
from helpers.errors import DataError, first_line
from helpers.files import sha256, whole_file
from helpers.records import wire
from helpers.records.spool import Shufflable, Spool

_COUNTS = ("records", "bytes")
_LABELS = tf.int32.min, tf.int32.max  # asked once: each time takes microseconds
PathPrefix = str | os.PathLike | Sequence[str | os.PathLike]


def make_example(img: bytes, lbl: int) -> tf.train.Example:
    """Returns one labelled picture as an `Example`.

    Args:
      img: the bytes of a JPEG file, as they are on disk.
      lbl: its label, a whole number that an int32 holds, as the pipelines read it.

    Returns:
      An `Example` with the features `image` (bytes) and `label` (int64).

    Raises:
      TypeError: the label is no whole number.
      ValueError: it is beyond int32.

    Source: the records document.
    """
    label = whole_number("lbl", lbl, *_LABELS)
    example = tf.train.Example()
    feature = example.features.feature  # filled in place: nothing is copied twice
    feature["image"].bytes_list.value.append(img)
    feature["label"].int64_list.value.append(label)
    return example


def write_shards(
    examples: Iterable[Any] | Shufflable,
    path_prefix: str | os.PathLike,
    num_shards: int,
    *,
    seed: int,
    compression: str | None = None,
) -> list[Path]:
    """Writes examples, shuffled over all of them, to `prefix-00000-of-00004` and on.

    Each shard gets its real name only when every shard is whole. The manifest
    `prefix.manifest.json` comes last: it holds the records, bytes and sha256 of
    each shard, and without it nothing reads them. An older set of the same prefix
    stays until then.

    The examples pass through a temporary file in the same folder, so memory holds
    16 bytes per example and not the examples. `Shufflable` needs no such file.

    Args:
      examples: `Example` or `SequenceExample` protos, or their serialised bytes; a
        list or a generator. Or what yields them in any order, see `Shufflable`.
      path_prefix: folder and first part of the shards' names.
      num_shards: how many files; at most as many as there are examples.
      seed: of the shuffle. The same examples and seed give the same bytes.
      compression: `None` or `"GZIP"`. Readers find out by themselves.

    Returns:
      The shards' paths, in order.

    Raises:
      ValueError: the number of shards or the compression is not possible.
      DataError: there are no examples, or the disk is full.
      TypeError: an example is neither a proto nor bytes.
    """
    num_shards = whole_number("write_shards: num_shards", num_shards)
    if compression not in (None, "GZIP"):
        raise ValueError(
            f"write_shards: compression={compression!r} must be None or 'GZIP'"
        )
    prefix = Path(path_prefix)
    prefix.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        if hasattr(examples, "in_order"):  # isinstance would write into the class
            source = cast(Shufflable, examples)
        else:
            spool = stack.enter_context(Spool(prefix.parent))
            source = _filled(spool, examples, prefix)
        parts = _parts(len(source), num_shards, prefix)
        order = np.random.default_rng(seed).permutation(len(source))
        shuffled = source.in_order(order)
        if source is examples:  # otherwise the progress was shown before
            shuffled = tqdm(shuffled, prefix.name, len(source), unit=" records")
        return _write_set(prefix, shuffled, parts, compression)


def check_shards(path_prefix: PathPrefix) -> int:
    """Checks every byte of a set of shards.

    Args:
      path_prefix: as given to `write_shards`; or a list of files written elsewhere,
        which have no manifest: their headers are walked and each checksum compared.

    Returns:
      The number of records.

    Raises:
      DataError: names the file, the record, the cause and the fix.
    """
    if not isinstance(path_prefix, (str, os.PathLike)):
        return sum(map(wire.check_payloads, open_shards(path_prefix)))  # walked there
    manifest = read_manifest(path_prefix)
    for path in open_shards(path_prefix):
        written = manifest["shards"][Path(path).name]
        if sha256(path) != written["sha256"]:
            _check_file(path)  # names the record, where it can
            raise DataError(
                f"{path}: whole records, but not those that were written (sha256 "
                f"differs from the manifest's). {wire.REMEDY}"
            )
    return sum(shard["records"] for shard in manifest["shards"].values())


def open_shards(path_prefix: PathPrefix) -> list[str]:
    """Returns the files to read, after the checks that cost next to nothing.

    Shards with a manifest must be there and have the size that it says. Files
    without one have their headers walked. Checksums are compared while reading.

    Args:
      path_prefix: as for `check_shards`.

    Raises:
      DataError: a file is missing, short, empty or not a TFRecord file.
      ValueError: the list is empty, or mixes plain and GZIP files.
    """
    return open_counted(path_prefix)[0]


def open_counted(path_prefix: PathPrefix) -> tuple[list[str], int]:
    """As `open_shards`; returns the number of their records, too."""
    if isinstance(path_prefix, (str, os.PathLike)):
        return _open_manifest(Path(path_prefix))
    paths = [os.fspath(path) for path in path_prefix]
    if not paths:
        raise ValueError("there are no record files to read: the list is empty")
    count = sum(map(wire.walk, paths))
    if len({wire.compression_of(path) for path in paths}) > 1:
        raise ValueError(
            f"plain and GZIP files cannot be read together: {', '.join(paths)}"
        )
    return paths, count


def read_manifest(path_prefix: str | os.PathLike) -> dict[str, Any]:
    """Returns the manifest of a set of shards.

    Args:
      path_prefix: as given to `write_shards`.

    Returns:
      `{"records": ..., "shards": {name: {"records", "bytes", "sha256"}}}`.

    Raises:
      DataError: there is none, so the writing never finished; or it is damaged.
    """
    path = _manifest_path(Path(path_prefix))
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        _check_manifest(manifest)
        return {"records": manifest["records"], "shards": manifest["shards"]}
    except FileNotFoundError as error:
        raise DataError(
            f"{path}: no such manifest, so the writing of these shards never "
            "finished. Run it again (or pass a list of paths to read files that were "
            "written elsewhere)."
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{path}: the manifest is damaged. Write the shards again."
        ) from error


def _manifest_path(prefix: Path) -> Path:
    return prefix.with_name(f"{prefix.name}.manifest.json")


def _check_manifest(manifest: Any) -> None:
    """Refuses what `write_shards` cannot have written, with whatever error comes."""
    shards = manifest["shards"]
    sound = isinstance(shards, dict) and len(shards) > 0 and all(
        Path(name).name == name != ".."
        and isinstance(shard["sha256"], str)
        and all(type(shard[key]) is int and shard[key] > 0 for key in _COUNTS)
        for name, shard in shards.items()
    )
    if not sound or manifest["records"] != sum(s["records"] for s in shards.values()):
        raise ValueError("these are no shards")


def _open_manifest(prefix: Path) -> tuple[list[str], int]:
    manifest = read_manifest(prefix)
    shards = manifest["shards"]
    for name, written in shards.items():
        path = prefix.with_name(name)
        size = path.stat().st_size if path.exists() else None
        if size == written["bytes"]:
            continue
        if size:
            wire.walk(path)  # names the record where it was cut
        raise DataError(
            f"{path}: {'is missing' if size is None else f'has {size} bytes'}, the "
            f"manifest says {written['bytes']} bytes. Write the shards again."
        )
    return [os.fspath(prefix.with_name(name)) for name in shards], manifest["records"]


def _check_file(path: str) -> int:
    wire.walk(path)
    return wire.check_payloads(path)


def _parts(count: int, num_shards: int, prefix: Path) -> list[int]:
    """Returns how many examples each shard gets."""
    if not count:
        raise DataError(
            f"{prefix}: there are no examples to write. Is the source folder empty?"
        )
    if num_shards > count:
        raise ValueError(
            f"{prefix}: {num_shards} shards for {count} examples would leave one "
            "empty; ask for fewer"
        )
    return [len(part) for part in np.array_split(range(count), num_shards)]


def _filled(spool: Spool, examples: Iterable[Any], prefix: Path) -> Spool:
    """Appends each example to the spool."""
    progress = tqdm(examples, prefix.name, unit=" records")
    for index, example in enumerate(progress):
        payload = _serialised(example, index, prefix)
        try:
            spool.append(payload)
        except OSError as error:
            raise _unwritten(prefix, error) from error
    with _named_disk_errors(prefix):
        spool.flush()
    return spool


def _serialised(example: Any, index: int, prefix: Path) -> bytes:
    if hasattr(example, "SerializeToString"):
        # Maps have no order of their own: without this, each run writes another.
        example = example.SerializeToString(deterministic=True)
    if not isinstance(example, bytes):
        raise TypeError(
            f"{prefix}: example {index} is a {type(example).__name__}; pass "
            "Example or SequenceExample protos, or their serialised bytes"
        )
    return example


def _write_set(prefix, examples, parts, compression) -> list[Path]:
    """Writes all shards under temporary names, then renames all, then the manifest."""
    manifest_path = _manifest_path(prefix)
    shards = {}
    payloads = (_serialised(one, n, prefix) for n, one in enumerate(examples))
    with _named_disk_errors(prefix):
        with contextlib.ExitStack() as whole, ThreadPoolExecutor(1) as thread:
            for number, part in enumerate(parts):
                path = prefix.with_name(
                    f"{prefix.name}-{number:05d}-of-{len(parts):05d}"
                )
                temporary = whole.enter_context(whole_file(path))
                with tf.io.TFRecordWriter(os.fspath(temporary), compression) as writer:
                    for payload in itertools.islice(payloads, part):
                        writer.write(payload)
                shards[path.name] = {
                    "records": part,
                    "bytes": temporary.stat().st_size,
                    "sha256": thread.submit(sha256, temporary),
                }
            for shard in shards.values():  # hashed while the next one was written
                shard["sha256"] = shard["sha256"].result()
            _forget_old_set(prefix, manifest_path, keep=shards)
        with whole_file(manifest_path) as temporary:
            manifest = {"records": sum(parts), "shards": shards}
            temporary.write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    return [prefix.with_name(name) for name in shards]


def _forget_old_set(prefix: Path, manifest_path: Path, keep: Iterable[str]) -> None:
    """Drops the old manifest, then old shards that the new set does not replace."""
    old = {}
    with contextlib.suppress(DataError):  # there is none, or it is damaged
        old = read_manifest(prefix)["shards"]
    manifest_path.unlink(missing_ok=True)
    for name in set(old) - set(keep):
        prefix.with_name(name).unlink(missing_ok=True)


@contextlib.contextmanager
def _named_disk_errors(prefix: Path):
    """Turns a failed write into one line; TensorFlow calls some of them "end of data".

    A file that may not grow is `OutOfRangeError` in TensorFlow, which every training
    loop takes for the end of the data.
    """
    try:
        yield
    except (tf.errors.OpError, OSError) as error:
        raise _unwritten(prefix, error) from error


def _unwritten(prefix: Path, error: Exception) -> DataError:
    return DataError(
        f"{prefix}: the shards could not be written ({first_line(error)}). "
        "Nothing was kept: make room and run it again."
    )
