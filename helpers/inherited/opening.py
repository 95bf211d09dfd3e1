"""Opens model files of unknown origin as functions of NumPy arrays."""

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.errors import DataError, printable
from helpers.fitting import fitted
from helpers.graph import VARIABLE_TYPES
from helpers.inherited import allowed, cutting, keras_files, kinds, loading
from helpers.inherited import graph_facts as facts

Names = Mapping[str, str] | Sequence[str] | None


class OpenModel:
    """Model that is called with NumPy arrays and returns NumPy arrays.

    Arrays are passed by keyword or as a dictionary.

    Attributes:
      inputs: `tf.TensorSpec` of each input by name.
      outputs: Names of the outputs, in order.
      optional: Names of inputs that have a default value.
      signatures: Models by signature name, all on the same state, if several signatures
        were requested.
      session: Session of the model, or None for a Keras model.
    """

    def __init__(self, path: Path, inputs: dict, outputs: Iterable[str], run: Callable,
                 optional: Iterable[str] = (), session: tf1.Session | None = None):
        self.path = path
        self.inputs = inputs
        self.outputs = list(outputs)
        self.optional = set(optional)
        self.session = session
        self.signatures: dict[str, OpenModel] = {}
        self._run = run

    def __call__(
        self, feeds: Mapping[str, np.ndarray] | None = None, /, **named: np.ndarray
    ) -> Any:
        """Runs the model; returns its output, or a dictionary of several outputs.

        Args:
          feeds: Arrays by input name.
          **named: More arrays, for names that are Python identifiers.

        Raises:
          ValueError: If an input is missing or unknown, has another shape, or contains
            a value that its dtype cannot represent.
          DataError: If the graph fails at run time.
        """
        if not isinstance(feeds, Mapping | None):
            name, names = next(iter(self.inputs), ""), ", ".join(self.inputs)
            raise ValueError(kinds.printable(
                f"An array for {self.path} needs the name of its input, as in "
                f"model({{{name!r}: array}}). The inputs are {names}."))
        arrays = self._checked({**(feeds or {}), **named})
        with kinds.in_one_line(self.path, "failed while it was running"):
            outputs = self._run(arrays)
        return outputs[self.outputs[0]] if len(self.outputs) == 1 else outputs

    def _checked(self, arrays: Mapping) -> dict[str, np.ndarray]:
        unknown = sorted(set(arrays) - set(self.inputs))
        missing = sorted(set(self.inputs) - set(arrays) - self.optional)
        if unknown or missing:
            problem = f"has no input {unknown[0]}" if unknown else (
                f"also needs the input {missing[0]}")
            raise ValueError(printable(f"{self.path} {problem}. Its inputs are "
                                       f"{', '.join(self.inputs)}."))
        fed = {}
        for name, array in arrays.items():
            spec, where = self.inputs[name], f"the input {name} of {self.path}"
            if not spec.shape.is_compatible_with(np.shape(array)):
                raise ValueError(printable(
                    f"The value for {where} has shape {np.shape(array)}, but the model "
                    f"needs {spec.shape}."))
            fed[name] = fitted(array, spec.dtype, printable(where))
        return fed

    def close(self) -> None:
        """Closes the session of the model."""
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
    signature: str | Sequence[str] | None = None,
) -> OpenModel:
    """Opens a frozen graph, a `.meta` file, a SavedModel, or a Keras `.h5` file.

    Only the ops that the outputs need are loaded. Training ops, queues behind an input,
    and ops that the installed TensorFlow lacks therefore do no harm elsewhere in the
    graph.

    Args:
      path: Path as for `describe`.
      inputs: Tensors to feed, as names or as `{your name: tensor}`. Default: the
        placeholders and the queue outputs that the outputs need.
      outputs: Tensors to return, in the same form. Default: the only output of the
        graph.
      signature: Signature of a SavedModel that has several. If it is a list, the model
        runs the first one, and its attribute `signatures` contains a model for each,
        all on the same state.

    Returns:
      A function from NumPy arrays to NumPy arrays.

    Raises:
      DataError: If the file is damaged, lacks its weights, needs missing ops, or wants
        to run Python or to access other files, or if it has several possible outputs.
        The message is one line.
    """
    path = Path(path)
    found = kinds.find(path)
    with kinds.in_one_line(path, "cannot be opened"):
        if found.kind == kinds.KERAS:
            return _open_keras(found)
        if found.kind == kinds.SAVED_MODEL:
            return _open_saved_model(found, inputs, outputs, signature)
        if found.graph is None:
            raise DataError(f"{path} is a {found.kind}, which contains no graph to "
                            "run. Open its .meta file if it has one, or load the "
                            "weights with read_weights.")
        return _open_graph(found, inputs, outputs)


def _named(names: Names) -> dict[str, str] | None:
    """Converts names to a dictionary from keys to tensor names."""
    if names is None:
        return None
    if not isinstance(names, Mapping):
        names = {_key(name): name for name in names}
    return {key: name if ":" in name else f"{name}:0" for key, name in names.items()}


def _open_graph(found: kinds.Found, inputs: Names, outputs: Names) -> OpenModel:
    graph, meta = cutting.plain(found.graph), found.meta
    outputs = _named(outputs) or _only_end(found.path, graph)
    inputs = _named(inputs)
    return _opened(found, graph, meta, [(inputs, outputs)])[0]


def _opened(found: kinds.Found, graph: tf1.GraphDef, meta: Any,
            ends: Sequence[tuple[dict | None, dict]]) -> list[OpenModel]:
    """Imports and restores the needed part of a graph once, for several models."""
    for given, outputs in ends:
        _check_names(found.path, graph, [*outputs.values(), *(given or {}).values()])
    pairs = [(given or _inputs(graph, outputs), outputs) for given, outputs in ends]
    fed = [tensor for inputs, _ in pairs for tensor in inputs.values()]
    wanted = [tensor for _, outputs in pairs for tensor in outputs.values()]
    first = _first_ops(found, graph, meta, fed, wanted)
    own = {} if meta is None else loading.own_files(found, meta)
    kept, stand_ins = cutting.cut(graph, [*wanted, *first], dict.fromkeys(fed), own)
    _refuse(found.path, kept, own)
    _say_repaired(found, kept)
    with tf.Graph().as_default() as imported:
        tf1.import_graph_def(kept, name="")
    session = tf1.Session(graph=imported)
    for name in first:
        session.run(imported.get_operation_by_name(name))
    models = []
    for pair in pairs:
        inputs, outputs = ({key: stand_ins.get(name, name) for key, name in
                            names.items()} for names in pair)
        models.append(_session_model(found.path, session, inputs, outputs))
    return models


def _first_ops(found: kinds.Found, graph: tf1.GraphDef, meta: Any,
               fed: list[str], wanted: list[str]) -> list[str]:
    """Returns the ops that run once before the model: restore, then tables."""
    stop = {facts.op_name(tensor) for tensor in fed}
    used = {node.op for node in facts.needed(graph, wanted, stop)}
    restore, tables = loading.restore_op(found, meta), loading.initial_ops(found, meta)
    if used & VARIABLE_TYPES and restore is None:
        raise DataError(f"{found.path} has variables but no weights. Look for its "
                        "checkpoint, and open the .meta file or the folder of the "
                        "checkpoint.")
    whole = found.kind == kinds.SAVED_MODEL
    first = [restore] if restore and (whole or used & VARIABLE_TYPES) else []
    calls = {node.op for node in facts.all_nodes(graph)} if any(
        "Call" in op for op in used) else used
    if missing := loading.missing_assets(found):
        if calls & facts.TABLES:
            raise DataError(f"{found.path} needs {missing[0]}, but this file does not "
                            "exist. Restore it, or choose a signature or outputs that "
                            "do not use the table.")
        return first
    return first + (tables if whole or used & facts.TABLES else [])


def _say_repaired(found: kinds.Found, kept: tf1.GraphDef) -> None:
    """Warns of ops on references that were turned into ops on values."""
    there = {node.name for node in kept.node}
    names = [f"{node.name} ({node.op})" for node in
             cutting.of_references(found.graph) if node.name in there]
    if names:
        warnings.warn(kinds.printable(
            f"Freezing has left ops in {found.path} that need a variable by reference. "
            f"These ops now take values instead: {', '.join(names[:3])}"
            f"{', ...' if names[3:] else ''}"), stacklevel=5)


def _refuse(path: Path, graph: tf1.GraphDef, own: Iterable[str]) -> None:
    """Raises `DataError` if a graph has missing or forbidden ops."""
    if missing := facts.missing_ops(facts.all_nodes(graph), graph.library):
        advice = "or freeze the file once in TensorFlow 1.15"
        if missing == ["GatherTree"]:
            advice = "such as the ids of each step of contrib's beam search"
        ops = ", ".join(missing)
        raise DataError(f"{path} needs ops that this version of TensorFlow does not "
                        f"provide: {ops}. Choose outputs that do not need them, "
                        f"{advice}.")
    for name, kind, why in allowed.refusals(graph, set(own)):
        raise DataError(
            f"Op {name} ({kind}) in {path} {why}, so it is never run here. Cut it out "
            "with outputs=[...], feed its result with inputs=[...], or open the file "
            "in a container."
        )


def _only_end(path: Path, graph: tf1.GraphDef) -> dict[str, str]:
    outputs = facts.ends(graph)
    floats = [node for node in outputs if node.dtype.startswith("float")]
    outputs = floats if len(floats) == 1 else outputs  # ignore counts and lengths
    if len(outputs) != 1:
        names = ", ".join(node.name for node in outputs[:8]) or "none"
        raise DataError(
            f"{path} has {len(outputs)} possible outputs ({names}). Choose one with "
            "outputs=[...]."
        )
    name = outputs[0].name
    if answer := facts.losses_of(graph, [name]).get(name):
        raise DataError(
            f"The only output of {path} is {name}, the loss of the prediction "
            f"{answer}. Pass outputs=['{answer}'] or outputs=['{name}']."
        )
    return {_key(name): f"{name}:0"}


def _check_names(path: Path, graph: tf1.GraphDef, names: Sequence[str]) -> None:
    there = {node.name for node in graph.node}
    for name in names:
        if facts.op_name(name) not in there:
            raise DataError(
                f"Op {facts.op_name(name)} not found in the graph of {path}. Run "
                "print(describe(path)) to see its inputs and outputs."
            )


def _inputs(graph: tf1.GraphDef, outputs: dict) -> dict[str, str]:
    """Returns the tensors to feed: placeholders, and tensors that come from queues."""
    taken = {node.name for node in facts.needed(graph, outputs.values())
             if node.op in facts.TAKES}
    nodes = facts.needed(graph, outputs.values(), taken)
    sources = [source for node in nodes for source in node.input]
    tensors = sorted({source if ":" in source else f"{source}:0" for source in
                      [*sources, *outputs.values()] if facts.op_name(source) in taken
                      and not source.startswith("^")})
    tensors += [f"{n.name}:0" for n in nodes if n.op in facts.PLACEHOLDERS]
    return {_key(tensor): tensor for tensor in tensors}


def _key(tensor: str) -> str:
    """Converts a tensor name to a Python identifier."""
    name, _, number = tensor.partition(":")
    return name.replace("/", "_") + ("" if number in ("", "0") else f"_{number}")


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
    meta, graph = found.meta, cutting.plain(found.graph)
    if inputs is not None or outputs is not None:
        outputs = _named(outputs) or _only_end(found.path, graph)
        return _opened(found, graph, meta, [(_named(inputs), outputs)])[0]
    if "train" in found.tags[0]:
        raise DataError(
            f"{found.path} contains only training graphs, in which dropout is active. "
            "Choose outputs with outputs=[...]."
        )
    several = not isinstance(signature, str | None)
    names: list[Any] = list(signature) if several else [signature]
    ends = [_signature(found.path, meta, name) for name in names]
    models = _opened(found, graph, meta, ends)
    if several:
        models[0].signatures = dict(zip(names, models, strict=True))
    return models[0]


def _signature(path: Path, meta, wanted: str | None) -> tuple[dict, dict]:
    names = [name for name in meta.signature_def if name != loading.INIT]
    if wanted is None:
        wanted = "serving_default" if "serving_default" in names else (
            names[0] if len(names) == 1 else None)
    if wanted not in names:
        signatures = ", ".join(sorted(names))
        raise DataError(
            f"Choose a signature of {path} with signature=NAME. Available signatures: "
            f"{signatures}."
        )
    chosen = meta.signature_def[wanted]
    return ({key: info.name for key, info in sorted(chosen.inputs.items())},
            {key: info.name for key, info in sorted(chosen.outputs.items())})


def _open_keras(found: kinds.Found) -> OpenModel:
    """Opens a Keras 1 or 2 model with the legacy Keras package."""
    model = keras_files.rebuilt(found.path)
    specs = {name: tf.TensorSpec(tensor.shape, tensor.dtype)
             for name, tensor in zip(model.input_names, model.inputs, strict=True)}

    def run(arrays):
        outputs = model([tf.convert_to_tensor(arrays[name], specs[name].dtype)
                       for name in model.input_names], training=False)
        return {name: value.numpy() for name, value in
                zip(model.output_names, tf.nest.flatten(outputs), strict=True)}

    return OpenModel(found.path, specs, model.output_names, run)
