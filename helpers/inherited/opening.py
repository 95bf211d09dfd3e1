"""Running a file that somebody left: from NumPy arrays to NumPy arrays."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.errors import DataError
from helpers.inherited import graph_facts as facts
from helpers.inherited import kinds
from helpers.inherited.describing import keras_config, keras_layers

Names = Mapping[str, str] | Sequence[str] | None


class OpenModel:
    """A model that runs: call it with arrays, by keyword or as a dictionary.

    Attributes:
      inputs: the names to feed, each with its `tf.TensorSpec`.
      outputs: the names that come back, in order.
      optional: inputs that have a value of their own.
      session: where it runs, for further work; None for a Keras model.
    """

    def __init__(self, path: Path, inputs: dict, outputs: Iterable[str], run: Callable,
                 optional: Iterable[str] = (), session: tf1.Session | None = None):
        self.path = path
        self.inputs = inputs
        self.outputs = list(outputs)
        self.optional = set(optional)
        self.session = session
        self._run = run

    def __call__(
        self, feeds: Mapping[str, np.ndarray] | None = None, /, **named: np.ndarray
    ) -> Any:
        """Returns the output, or a dictionary of them where there are several.

        Args:
          feeds: arrays by input name.
          **named: the same, for names that Python allows.

        Raises:
          ValueError: an input is missing, unknown, or of another shape.
          DataError: the graph fails in running.
        """
        arrays = {**(feeds or {}), **named}
        self._check(arrays)
        with kinds.in_one_line(self.path, "failed in running"):
            found = self._run(arrays)
        return found[self.outputs[0]] if len(self.outputs) == 1 else found

    def _check(self, arrays: Mapping) -> None:
        unknown = sorted(set(arrays) - set(self.inputs))
        missing = sorted(set(self.inputs) - set(arrays) - self.optional)
        if unknown or missing:
            what = f"has no input {unknown[0]}" if unknown else (
                f"wants the input {missing[0]}")
            raise ValueError(f"{self.path}: {what}; its inputs are "
                             f"{', '.join(self.inputs)}")
        for name, array in arrays.items():
            shape = self.inputs[name].shape
            if not shape.is_compatible_with(np.shape(array)):
                raise ValueError(f"{self.path}: input {name} has shape {shape}, "
                                 f"not {np.shape(array)}")

    def close(self) -> None:
        """Frees the session."""
        if self.session is not None:
            self.session.close()

    def __enter__(self) -> "OpenModel":
        return self

    def __exit__(self, *_) -> None:
        self.close()


def open_model(
    path: str | os.PathLike,
    *,
    inputs: Names = None,
    outputs: Names = None,
    signature: str | None = None,
) -> OpenModel:
    """Opens a frozen graph, a `.meta` with weights, a SavedModel or a Keras `.h5`.

    Only what the outputs need is loaded: training ops, queues behind an input, and ops
    that this TensorFlow lacks do no harm elsewhere.

    Args:
      path: as for `describe`.
      inputs: tensors to feed: names, or `{the name you want: tensor}`. Left out, the
        placeholders that the outputs need, or what they take from queues.
      outputs: tensors to return, the same way. Left out, the one end of the graph.
      signature: of a SavedModel with several.

    Returns:
      A callable from arrays to arrays.

    Raises:
      DataError: the file is damaged, lacks its weights, wants ops that are not there,
        or asks for Python or files; or several ends are possible. In one line.
    """
    path = Path(path)
    found = kinds.find(path)
    with kinds.in_one_line(path, "cannot be opened"):
        if found.kind == kinds.KERAS:
            return _open_keras(found)
        if found.kind == kinds.SAVED_MODEL:
            return _open_saved_model(found, inputs, outputs, signature)
        if found.graph is None:
            raise DataError(f"{path}: a {found.kind} holds no graph to run: open the "
                            ".meta beside it, or take its weights by read_weights")
        return _open_graph(found, _named(inputs), _named(outputs))


def _named(names: Names) -> dict[str, str] | None:
    """Returns {name: tensor}; an op's name stands for its first output."""
    if names is None:
        return None
    if not isinstance(names, Mapping):
        names = {name.split(":")[0].replace("/", "_"): name for name in names}
    return {key: name if ":" in name else f"{name}:0" for key, name in names.items()}


def _open_graph(found: kinds.Found, inputs, outputs) -> OpenModel:
    graph_def = _plain(found.graph)
    outputs = outputs or _only_end(found.path, graph_def)
    _check_names(found.path, graph_def, [*outputs.values(), *(inputs or {}).values()])
    inputs = inputs or _inputs(graph_def, outputs)
    fed = [facts.op_name(name) for name in inputs.values()]
    nodes = facts.needed(graph_def, outputs.values(), fed)
    _refuse(found.path, nodes, graph_def.library)
    has_variables = any(node.op in facts.VARIABLES for node in nodes)
    has_tables = any(node.op in facts.TABLES for node in nodes)
    if has_variables and (found.prefix is None or found.meta is None):
        raise DataError(f"{found.path}: the graph has variables and no weights: open "
                        "the .meta that lies beside its checkpoint")
    first = []
    if has_variables:
        first.append(found.meta.saver_def.restore_op_name)
    if has_tables and found.meta is not None:
        first += found.meta.collection_def["table_initializer"].node_list.value
    graph = _imported(graph_def, [*outputs.values(), *first], inputs)
    session = tf1.Session(graph=graph, config=tf1.ConfigProto(
        allow_soft_placement=True))
    if has_variables:
        saver = found.meta.saver_def
        session.run(saver.restore_op_name, {saver.filename_tensor_name: found.prefix})
        first = first[1:]
    if first:
        session.run([facts.op_name(name) for name in first])
    return _session_model(found.path, session, inputs, outputs)


def _plain(graph: tf1.GraphDef) -> tf1.GraphDef:
    """Returns the graph without the shapes that old TensorFlow noted on each op.

    Some ops give another shape today (the reserved outputs of a fused batch norm), and
    the import refuses a note that does not agree. The shapes are inferred anew.
    """
    plain = tf1.GraphDef()
    plain.CopyFrom(graph)
    for node in facts.all_nodes(plain):
        node.attr.pop("_output_shapes", None)
    return plain


def _only_end(path: Path, graph: tf1.GraphDef) -> dict[str, str]:
    found = facts.ends(graph)
    floats = [node for node in found if node.dtype.startswith("float")]
    found = floats if len(floats) == 1 else found  # beside counts and lengths
    if len(found) != 1:
        names = ", ".join(node.name for node in found[:8]) or "none"
        raise DataError(f"{path}: {len(found)} ends are possible ({names}): say which "
                        "by outputs=[...]")
    return {found[0].name.replace("/", "_"): f"{found[0].name}:0"}


def _check_names(path: Path, graph: tf1.GraphDef, names: Sequence[str]) -> None:
    there = {node.name for node in graph.node}
    for name in names:
        if facts.op_name(name) not in there:
            raise DataError(f"{path}: the graph has no op {facts.op_name(name)}: "
                            "print(describe(path)) lists what goes in and out")


def _inputs(graph: tf1.GraphDef, outputs: dict) -> dict[str, str]:
    """Returns what the outputs take from queues, and the placeholders they need."""
    taken = [node.name for node in facts.needed(graph, outputs.values())
             if node.op in facts.TAKES]
    nodes = facts.needed(graph, outputs.values(), taken)
    read = {facts.op_name(source) for node in nodes for source in node.input}
    names = [name for name in taken if name in read]
    names += [n.name for n in nodes if n.op in facts.PLACEHOLDERS]
    return {name.replace("/", "_"): f"{name}:0" for name in names}


def _refuse(path: Path, nodes, library) -> None:
    """Refuses what would run Python or touch files, and what is not there."""
    functions = [node for function in library.function for node in function.node_def]
    for node in [*nodes, *functions]:
        if node.op in facts.PYTHON:
            raise DataError(f"{path}: op {node.name} ({node.op}) asks for Python code "
                            "that is not in the file, and is never run here: choose "
                            "outputs that do not need it")
        if node.op in facts.FILES:
            raise DataError(f"{path}: op {node.name} ({node.op}) touches files, and is "
                            "never run here: feed what it gives by inputs=[...]")
    if missing := facts.missing_ops(nodes, library):
        raise DataError(f"{path}: needs ops that this TensorFlow does not have "
                        f"({', '.join(missing)}): choose outputs that do not need "
                        "them, or freeze the file once in TensorFlow 1.15")


def _imported(graph_def: tf1.GraphDef, wanted: Sequence[str], inputs) -> tf.Graph:
    """Returns a graph of what is wanted, with placeholders where it is cut."""
    kept = tf1.GraphDef(versions=graph_def.versions, library=graph_def.library)
    placeholders = {node.name for node in graph_def.node
                    if node.op in facts.PLACEHOLDERS}
    cut = {facts.op_name(name) for name in inputs.values()} - placeholders
    by_name = {node.name: node for node in graph_def.node}
    for node in facts.needed(graph_def, wanted, cut):
        kept.node.add().CopyFrom(node)
    for name in sorted(cut):
        dtype = facts.node_of(by_name[name]).dtype
        stand_in = kept.node.add(name=name, op="Placeholder")
        stand_in.attr["dtype"].type = tf.as_dtype(dtype or "float32").as_datatype_enum
    with tf.Graph().as_default() as graph:
        tf1.import_graph_def(kept, name="")
    return graph


def _session_model(path: Path, session, inputs: dict, outputs: dict) -> OpenModel:
    graph = session.graph
    specs = {key: tf.TensorSpec(t.shape, t.dtype) for key, name in inputs.items()
             for t in [graph.get_tensor_by_name(name)]}
    optional = [key for key, name in inputs.items()
                if graph.get_tensor_by_name(name).op.type == "PlaceholderWithDefault"]

    def run(arrays):
        feeds = {inputs[key]: value for key, value in arrays.items()}
        return session.run(outputs, feeds)

    return OpenModel(path, specs, outputs, run, optional, session)


def _open_saved_model(found: kinds.Found, inputs, outputs, signature) -> OpenModel:
    meta = next((m for m in found.metas if "serve" in m.meta_info_def.tags),
                found.metas[0])
    loading = facts.needed(meta.graph_def, _initial_ops(meta))
    _refuse(found.path, loading, meta.graph_def.library)
    if inputs is None and outputs is None:
        inputs, outputs = _signature(found.path, meta, signature)
    else:
        outputs = _named(outputs) or _only_end(found.path, meta.graph_def)
        inputs = _named(inputs) or _inputs(meta.graph_def, outputs)
    fed = [facts.op_name(name) for name in inputs.values()]
    _refuse(found.path, facts.needed(meta.graph_def, outputs.values(), fed),
            meta.graph_def.library)
    with tf.Graph().as_default() as graph:
        session = tf1.Session(graph=graph, config=tf1.ConfigProto(
            allow_soft_placement=True))
        tf1.saved_model.load(session, list(meta.meta_info_def.tags), str(found.path))
    return _session_model(found.path, session, inputs, outputs)


def _initial_ops(meta) -> list[str]:
    """Returns the ops that loading a SavedModel runs, besides restoring."""
    for key in ("saved_model_main_op", "legacy_init_op"):
        if names := list(meta.collection_def[key].node_list.value):
            return names
    named = meta.signature_def.get("__saved_model_init_op")
    return [info.name for info in named.outputs.values()] if named else []


def _signature(path: Path, meta, wanted: str | None) -> tuple[dict, dict]:
    names = [name for name in meta.signature_def if name != "__saved_model_init_op"]
    if wanted is None:
        wanted = "serving_default" if "serving_default" in names else (
            names[0] if len(names) == 1 else None)
    if wanted not in names:
        raise DataError(f"{path}: its signatures are {', '.join(sorted(names))}: say "
                        "which by signature=...")
    found = meta.signature_def[wanted]
    return ({key: info.name for key, info in sorted(found.inputs.items())},
            {key: info.name for key, info in sorted(found.outputs.items())})


def _open_keras(found: kinds.Found) -> OpenModel:
    """Opens a model of Keras 1 or 2 by the Keras that can read it."""
    with h5py.File(found.path, "r") as file:
        config = keras_config(file)
    if not config:
        raise DataError(f"{found.path}: weights without a model: build the model and "
                        "give it read_weights")
    import tf_keras  # Keras 3 refuses what 1.15 wrote: batch_input_shape, among others

    for layer in keras_layers(config):
        name = layer.get("config", {})
        name = name.get("name", "?") if isinstance(name, dict) else "?"
        if layer.get("class_name") == "Lambda":
            raise DataError(f"{found.path}: layer '{name}' is a Lambda: Python code in "
                            "the file, never run here: write the layer anew and take "
                            "the weights by read_weights")
    model = tf_keras.models.load_model(found.path, compile=False)
    specs = {name: tf.TensorSpec(tensor.shape, tensor.dtype)
             for name, tensor in zip(model.input_names, model.inputs, strict=True)}

    def run(arrays):
        found = model([tf.convert_to_tensor(arrays[name], specs[name].dtype)
                       for name in model.input_names], training=False)
        return {name: value.numpy() for name, value in
                zip(model.output_names, tf.nest.flatten(found), strict=True)}

    return OpenModel(found.path, specs, model.output_names, run)
