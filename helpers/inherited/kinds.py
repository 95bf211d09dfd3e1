"""Detects the kind of a model file or folder by its content, not by its name."""

import glob
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tensorflow as tf
from google.protobuf import text_format
from google.protobuf.message import DecodeError
from tensorflow.core.protobuf import saved_model_pb2

from helpers.errors import DataError, first_line, printable
from helpers.files import sha256
from helpers.inherited import others
from helpers.reading import SHA256, read_json, regular_file
from helpers.records import wire

SAVED_MODEL, GRAPH, META = "SavedModel", "graph", "meta graph"
CHECKPOINT, OLD_CHECKPOINT = "checkpoint", "checkpoint of the first format"
KERAS, EVENTS, RECORDS = "Keras HDF5", "event file", "TFRecord file"
MISNAMED = "frozen graph under the name of a SavedModel"
SAVED_NAMES = ("saved_model.pb", "saved_model.pbtxt")
OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"  # TensorFlow 2 only, not a variable
_OP = re.compile(r"\w[\w>.]*")  # op type, including those of other libraries
_HDF5 = b"\x89HDF\r\n\x1a\n"
_PART = re.compile(r"(.+)\.(?:index|data-\d{5}-of-\d{5})")
_V1_TABLE = bytes.fromhex("57fb808b247547db")  # magic number at the end of a table


@dataclass(frozen=True)
class Found:
    """Kind and contents of a model file or folder.

    Attributes:
      path: Path as it was given.
      kind: One of the kinds that this module defines.
      graph: GraphDef, or None.
      meta: MetaGraphDef of a meta graph, or of the SavedModel's graph to run.
      tags: Tags of each graph of a SavedModel, beginning with that of `meta`.
      prefix: Prefix of the checkpoint with the weights, or None.
      compression: Compression of records: "", "GZIP", or "ZLIB".
      records: Number of complete records.
      cut: The record in which the file is truncated, and its byte, or "".
    """

    path: Path
    kind: str
    graph: Any = None
    meta: Any = None
    tags: tuple[tuple[str, ...], ...] = ()
    prefix: str | None = None
    compression: str = ""
    records: int = 0
    cut: str = ""


@contextmanager
def in_one_line(path: Path, doing: str) -> Iterator[None]:
    """Context manager that converts any error to a one-line `DataError`.

    Args:
      path: Path with which the message begins.
      doing: What failed, such as "cannot be read as a graph".
    """
    try:
        yield
    except DataError as error:
        raise DataError(printable(str(error))) from error.__cause__
    except Exception as error:
        cause = first_line(error)[:300] or type(error).__name__
        raise DataError(printable(f"{path} {doing}: {cause}")) from error


def find(path: Path) -> Found:
    """Detects the kind of a model file or folder and reads its graph.

    If a manifest in the same folder or above lists the SHA-256 hash of the file, the
    file is verified.

    Args:
      path: Path of a file or folder, or prefix of a checkpoint.

    Raises:
      DataError: If nothing is there, or if the file is damaged or of an unknown kind.
    """
    with in_one_line(path, "cannot be read"):
        for file in _files_of(path):
            check_listed(file)
        if path.is_dir():
            return _folder(path)
        if path.name in SAVED_NAMES and path.exists():
            return _saved_model(path.parent, path)
        if _is_prefix(path):
            return _checkpoint(path)
        if not path.exists():
            raise DataError(f"No such file, folder, or checkpoint: {path}")
        if part := _PART.fullmatch(path.name):
            return _checkpoint(path.with_name(part[1]))
        return _file(path)


def check_listed(file: Path) -> None:
    """Verifies a file against the SHA-256 hash in the manifest that lists it.

    A file that no manifest lists is accepted.

    Raises:
      DataError: If the hash of the file differs from the listed one.
    """
    for folder in file.resolve().parents:
        name = file.resolve().relative_to(folder).as_posix()
        try:
            shape = {"files": {name: {"sha256": SHA256}}}
            listed = read_json(folder / "manifest.json", shape)["files"]
        except DataError:  # none, or a manifest of other files
            continue
        if sha256(file) != listed[name]["sha256"]:
            raise DataError(
                f"{file} is not the file that manifest.json lists, because its SHA-256 "
                "hash differs. Copy or download the file again.")
        return


def _files_of(path: Path) -> list[Path]:
    """Returns the files of a model folder, or all files of a checkpoint prefix.

    Raises:
      DataError: If a file is a pipe or a device, or is a link to a file outside the
        folder. Only the given path itself may be such a link.
    """
    inside = path.parent if path.name in SAVED_NAMES else path
    if any((inside / name).exists() for name in SAVED_NAMES):
        every = list(inside.rglob("*"))
    elif inside.is_dir():
        every = [file for file in inside.iterdir() if not file.is_dir()]
    else:
        inside = path.parent
        prefix = path.name.removesuffix(".meta").removesuffix(".index")
        shared = inside.glob(f"{glob.escape(prefix)}[.-]*")
        every = [path, path.with_name(prefix), *shared]
    every = sorted(file for file in set(every) if file.exists())
    for file in every:
        if file != path and not file.resolve().is_relative_to(inside.resolve()):
            raise DataError(
                f"{file} links to a file outside its folder, which is not supported. "
                "Open it in a container."
            )
    return [regular_file(file) for file in every if not file.is_dir()]


def _is_prefix(path: Path) -> bool:
    return path.with_name(path.name + ".index").exists()


def _folder(path: Path) -> Found:
    for name in SAVED_NAMES:
        if (path / name).exists():
            return _saved_model(path, path / name)
    if (path / "checkpoint").exists():
        # A copied folder still contains the path where it was written.
        state = tf.train.get_checkpoint_state(str(path))
        latest = path / Path(state.model_checkpoint_path).name if state else path
        if not (_is_prefix(latest) or latest.is_file() or "?" in latest.name):
            raise DataError(
                f"{path / 'checkpoint'} names a checkpoint that does not exist in this "
                "folder. Look for its .index file."
            )
        meta = path / (latest.name.split("-?????-of-")[0] + ".meta")
        if meta.exists():
            return _file(meta)
        if (path / "graph.pbtxt").exists():
            return _graph_beside(path / "graph.pbtxt", latest)
        return _checkpoint(latest)
    metas = sorted(path.glob("*.meta"))
    if len(metas) == 1:
        return _file(metas[0])
    if description := others.folder_description(path):
        raise DataError(f"{path} is {description}")
    raise DataError(
        f"Cannot tell which file to open in {path}: it has no saved_model.pb or "
        f"`checkpoint` file, and {len(metas)} .meta files. Pass the path of the file "
        "itself."
    )


def _graph_beside(path: Path, prefix: Path) -> Found:
    """Combines the graph and the checkpoint of a training folder without `.meta`."""
    graph = _file(path).graph
    meta = tf.compat.v1.MetaGraphDef(graph_def=graph)
    for node in graph.node:
        if node.name.endswith("save/restore_all"):
            meta.saver_def.restore_op_name = node.name
            scope = node.name.removesuffix("restore_all")
            meta.saver_def.filename_tensor_name = f"{scope}Const:0"
    return Found(path, META, graph=graph, meta=meta, prefix=_prefix_beside(prefix))


def _checkpoint(prefix: Path) -> Found:
    tf.train.load_checkpoint(str(prefix))  # reads the index
    return Found(prefix, CHECKPOINT, prefix=str(prefix))


def shortage(prefix: str | None) -> str:
    """Returns what the `.data` files of a checkpoint lack, or "" if nothing is seen.

    Only sizes are compared, so that nothing large is read. Strings have no fixed size
    and are left out.
    """
    parts = sorted(Path(prefix).parent.glob(
        f"{glob.escape(Path(prefix).name)}.data-*")) if prefix else []
    if not parts:
        return ""
    reader = tf.train.load_checkpoint(prefix)
    types = reader.get_variable_to_dtype_map()
    wanted = sum(types[name].size * math.prod(shape) for name, shape in
                 reader.get_variable_to_shape_map().items()
                 if types[name] != tf.string)
    there = sum(part.stat().st_size for part in parts)
    missing = int(parts[0].name[-5:]) - len(parts)
    if there >= wanted and missing <= 0:
        return ""
    return (f"{parts[0].name}{' and others' if parts[1:] else ''}: {there:,} of "
            f"{wanted:,} bytes")


def _saved_model(folder: Path, file: Path) -> Found:
    message = saved_model_pb2.SavedModel()
    if file.suffix == ".pbtxt":
        text_format.Parse(file.read_text("utf-8"), message)
    else:
        try:
            message.ParseFromString(file.read_bytes())
        except DecodeError:
            message.Clear()
        if not message.meta_graphs:  # another kind of file with this name
            return replace(_file(file), kind=MISNAMED)
    if not message.meta_graphs:
        raise DataError(
            f"{file} contains no graph and may be truncated. Copy or download it again."
        )
    prefix = folder / "variables" / "variables"
    has = prefix.with_name("variables.index").exists()
    metas = sorted(message.meta_graphs, key=_for_training)
    return Found(folder, SAVED_MODEL, graph=metas[0].graph_def, meta=metas[0],
                 tags=tuple(tuple(each.meta_info_def.tags) for each in metas),
                 prefix=str(prefix) if has else None)


def _for_training(meta: Any) -> int:
    """Returns a sort key that puts serving graphs first and training graphs last."""
    tags = set(meta.meta_info_def.tags)
    return 0 if "serve" in tags else 1 if not tags else 3 if "train" in tags else 2


def _file(path: Path) -> Found:
    content = path.read_bytes()
    if not content:
        raise DataError(f"{path} is empty. Copy or download it again.")
    if content.startswith(_HDF5):
        return Found(path, KERAS)
    if content.endswith(_V1_TABLE):
        tf.train.load_checkpoint(str(path))
        return Found(path, OLD_CHECKPOINT, prefix=str(path))
    if found := _records(path, content):
        return found
    if description := others.description(content):
        raise DataError(f"{path} is {description}")
    return _graph(path, content)


def _records(path: Path, content: bytes) -> Found | None:
    """Detects TFRecord and event files by the checksum of their first record."""
    compression = ""
    if content[:2] == b"\x1f\x8b":
        compression = "GZIP"
    elif content[0] == 0x78 and int.from_bytes(content[:2], "big") % 31 == 0:
        compression = "ZLIB"
    elif content[8:12] != wire.masked_crc(content[:8]).to_bytes(4, "little"):
        return None
    cut = ""
    try:  # an impossible length would crash TensorFlow's reader
        count = wire.walk(path, compression)
    except wire.CutShortError as error:
        if not error.records:
            raise
        count, cut = error.records, error.place
    first = next(wire.payloads(path, compression), b"")
    kind = EVENTS if not compression and b"brain.Event:" in first else RECORDS
    return Found(path, kind, compression=compression, records=count, cut=cut)


def _graph(path: Path, content: bytes) -> Found:
    """Parses the bytes as a MetaGraphDef or GraphDef, in binary or text format."""
    kinds = (tf.compat.v1.MetaGraphDef, tf.compat.v1.GraphDef)
    for kind, as_text in ((kind, text) for text in (False, True) for kind in kinds):
        message = kind()
        try:
            if as_text:
                text_format.Parse(content.decode("utf-8"), message)
            else:
                message.ParseFromString(content)
        except (DecodeError, text_format.ParseError, UnicodeDecodeError):
            continue
        is_meta = isinstance(message, tf.compat.v1.MetaGraphDef)
        nodes = (message.graph_def if is_meta else message).node
        if nodes and all(_OP.fullmatch(node.op) for node in nodes):
            return _meta(path, message) if is_meta else (
                Found(path, GRAPH, graph=message))
    raise DataError(
        f"{path} is corrupt or of an unknown kind. Expected a graph, meta graph, "
        "checkpoint, SavedModel, Keras HDF5 file, TFRecord file, or event file."
    )


def _meta(path: Path, message) -> Found:
    return Found(path, META, graph=message.graph_def, meta=message,
                 prefix=_prefix_beside(path.with_suffix("")))


def _prefix_beside(prefix: Path) -> str | None:
    """Returns the prefix of the checkpoint that belongs to a `.meta` file."""
    if _is_prefix(prefix) or prefix.is_file():
        return str(prefix)
    shards = sorted(prefix.parent.glob(f"{glob.escape(prefix.name)}-?????-of-?????"))
    if not shards:
        return None
    return f"{prefix}-?????-of-{shards[0].name[-5:]}"
