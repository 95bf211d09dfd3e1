"""Ops that initialise a model file, and the files that it may read."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tensorflow.core.protobuf import meta_graph_pb2

from helpers.errors import DataError
from helpers.inherited import kinds
from helpers.inherited.graph_facts import op_name

INIT = "__saved_model_init_op"


def restore_op(found: kinds.Found, meta: Any) -> str | None:
    """Returns the name of the op that restores the variables, or None."""
    if meta is None or found.prefix is None:
        return None
    return op_name(meta.saver_def.restore_op_name) or None


def initial_ops(found: kinds.Found, meta: Any) -> list[str]:
    """Returns the names of the ops that initialise the lookup tables.

    Each kind of file stores them in a different place. If a SavedModel names one op in
    a signature and another in a collection, the signature is used, as in TensorFlow.
    """
    if meta is None:
        return []
    if found.kind != kinds.SAVED_MODEL:
        return _listed(meta, "table_initializer")
    if INIT in meta.signature_def:
        infos = meta.signature_def[INIT].outputs.values()
        return [op_name(info.name) for info in infos]
    return _listed(meta, "saved_model_main_op") or _listed(meta, "legacy_init_op")


def _listed(meta, key: str) -> list[str]:
    if key not in meta.collection_def:
        return []
    return [op_name(name) for name in meta.collection_def[key].node_list.value]


def own_files(found: kinds.Found, meta: Any) -> dict[str, str]:
    """Returns the paths that the graph may read, by the op that holds the name.

    These files are the checkpoint that belongs to the graph, and the assets inside a
    SavedModel that exist.

    Raises:
      DataError: If an asset is outside the model's folder.
    """
    texts = {}
    if restore_op(found, meta):
        texts[op_name(meta.saver_def.filename_tensor_name)] = found.prefix or ""
    if found.kind == kinds.SAVED_MODEL:
        folder = found.path / "assets"
        texts |= {tensor: str(path) for tensor, name in _assets(meta)
                  if (path := _asset(folder, name)).is_file()}
        texts |= _read_back(meta.graph_def.node, texts)
    return texts


def _read_back(nodes: Iterable, texts: dict[str, str]) -> dict[str, str]:
    """Returns the ops that read an asset's path from a TensorFlow 2 variable."""
    kept = {node.input[0]: texts[op_name(node.input[1])] for node in nodes
            if node.op == "AssignVariableOp" and op_name(node.input[1]) in texts}
    return {node.name: kept[node.input[0]] for node in nodes
            if node.op == "ReadVariableOp" and node.input[0] in kept}


def _assets(meta) -> Iterator[tuple[str, str]]:
    packed = []
    if "saved_model_assets" in meta.collection_def:
        for any_asset in meta.collection_def["saved_model_assets"].any_list.value:
            packed.append(meta_graph_pb2.AssetFileDef())
            any_asset.Unpack(packed[-1])
    for asset in [*meta.asset_file_def, *packed]:
        yield op_name(asset.tensor_info.name), asset.filename


def _asset(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise DataError(
            f"Asset {name} lies outside {folder}, so it is not read. Open the model in "
            "a container."
        )
    return path


def missing_assets(found: kinds.Found) -> list[str]:
    """Returns the assets of a SavedModel that do not exist, such as a vocabulary."""
    if found.kind != kinds.SAVED_MODEL:
        return []
    folder = found.path / "assets"
    return [f"{_asset(folder, name).relative_to(found.path)}, which a table reads"
            for _, name in _assets(found.meta) if not _asset(folder, name).is_file()]
