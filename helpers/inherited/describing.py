"""Describes a model file of unknown origin without running any of it."""

import itertools
import os
from dataclasses import dataclass, field
from pathlib import Path

import tensorflow as tf
from google.protobuf.message import DecodeError

from helpers.errors import printable
from helpers.inherited import allowed, cutting, keras_files, kinds, loading
from helpers.inherited import graph_facts as facts
from helpers.inherited.graph_facts import Node
from helpers.reading import opened_hdf5
from helpers.records import wire

MANY = 12  # names in a printed list


@dataclass(frozen=True)
class Description:
    """Description of a model file: its kind, inputs, outputs, and variables.

    Attributes:
      path: Path of the file.
      kind: Kind of the file, such as `meta graph` or `SavedModel`.
      written_by: Version of TensorFlow or Keras that wrote the file, or "unknown".
      variables: Dtype and shape of each variable by name.
      inputs: Placeholders, and ops that dequeue or read from iterators.
      queues: Names of the queues.
      tables: Names of the lookup tables.
      outputs: Ops without a reader that do not belong to training.
      losses: Outputs that are losses, with the prediction that each of them compares.
      signatures: For a SavedModel, `({input: Node}, {output: Node})` by signature name.
      training: Number of ops that serve only training or saving.
      ops: Number of all ops.
      missing: Types of ops that the installed TensorFlow does not have.
      opening: Names of the ops that run when the file is opened: the restore op, then
        the table initializers.
      refused: Types of ops that are not allowed, with the reason. They are never run.
      devices: Device strings that the graph requests.
      records: Number of complete records or events, or None for other kinds.
      cut: The record in which the file is truncated, and its byte, or "".
      tags: Tags of each graph of a SavedModel. The first graph is the one described.
      features: Features of the first record, with their types and numbers of values.
      repaired: Ops on references in a frozen graph, which become ops on values when
        the graph is opened.
      lacks: Files that are missing or too short.
    """

    path: Path
    kind: str
    written_by: str = "unknown"
    variables: dict[str, tuple[str, tuple]] = field(default_factory=dict)
    inputs: list[Node] = field(default_factory=list)
    queues: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    outputs: list[Node] = field(default_factory=list)
    losses: dict[str, str] = field(default_factory=dict)
    signatures: dict[str, tuple[dict, dict]] = field(default_factory=dict)
    training: int = 0
    ops: int = 0
    missing: list[str] = field(default_factory=list)
    opening: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    devices: list[str] = field(default_factory=list)
    records: int | None = None
    cut: str = ""
    tags: tuple[tuple[str, ...], ...] = ()
    features: list[str] = field(default_factory=list)
    repaired: list[str] = field(default_factory=list)
    lacks: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{self.path.name}: {self.kind}, written by {self.written_by}"]
        if self.records is not None:
            lines.append(f"  records: {self.records}")
            lines += _list(self._form(), self.features)
        if self.cut:
            lines.append(f"  CUT SHORT in {self.cut}; those before it are whole")
        lines += _list("CUT SHORT OR MISSING", self.lacks)
        if self.tags not in ((), (("serve",),)):
            first, *others = (" ".join(tags) or "none" for tags in self.tags)
            lines.append(f"  tags: {first}" + "".join(
                f"; another graph, not shown: {tags}" for tags in others))
        if self.ops:
            lines.append(f"  ops: {self.ops}, {self.training} of them for training "
                         "or saving only")
        lines += _list("variables", [f"{name} {dtype} {list(shape)}" for
                                     name, (dtype, shape) in self.variables.items()])
        lines += _list("goes in", [_text(node) for node in self.inputs])
        lines += _list("queues", self.queues) + _list("tables", self.tables)
        lines += _list("comes out", [self._end(node) for node in self.outputs])
        for name, (inputs, outputs) in self.signatures.items():
            lines.append(f"  signature {name}: {', '.join(inputs)} to "
                         f"{', '.join(outputs)}")
        lines += _list("devices", self.devices)
        lines += _list("opening it runs", self.opening)
        lines += _list("opening it turns ops on references into ops on values",
                       self.repaired)
        lines += _list("NOT IN THIS TENSORFLOW", self.missing)
        lines += _list("NEVER RUN HERE", self.refused)
        return "\n".join(printable(line) for line in lines)

    __repr__ = __str__

    def _form(self) -> str:
        """Returns the kind of message that the first record is."""
        lists = any(text.startswith("list: ") for text in self.features)
        kind = "SequenceExample" if lists else "Example"
        return f"features of the first record, a tf.train.{kind}"

    def _end(self, node: Node) -> str:
        answer = self.losses.get(node.name)
        return _text(node) + (f": a loss, of the answer {answer}" if answer else "")


def describe(path: str | os.PathLike) -> Description:
    """Describes a model file: its kind, its writer, its inputs, and its outputs.

    The graph is read but never run, and no Python code from the file is loaded.

    Args:
      path: Path of a `.pb` or `.meta` file, of a checkpoint (its prefix or its `.index`
        file), of a SavedModel or a training folder, of a Keras `.h5` file, or of a file
        of records or events.

    Returns:
      The description, which can be printed or inspected.

    Raises:
      DataError: If the file does not exist, is damaged, or is of an unknown kind.
    """
    path = Path(path)
    found = kinds.find(path)
    with kinds.in_one_line(path, "cannot be described"):
        if found.kind == kinds.KERAS:
            return _keras(found)
        if found.kind in (kinds.RECORDS, kinds.EVENTS):
            return _records(found)
        if found.graph is None:
            return Description(path, found.kind, variables=_in_checkpoint(found.prefix),
                               lacks=_lacks(found))
        return _graph(found)


def _text(node: Node) -> str:
    shape = "" if node.shape is None else f" {list(node.shape)}"
    return f"{node.name} ({node.kind}) {node.dtype}{shape}".replace("None", "?")


def _list(title: str, names: list[str]) -> list[str]:
    if not names:
        return []
    more = [f"    ... and {len(names) - MANY} more"] if len(names) > MANY else []
    shown = [f"    {name}" for name in names[:MANY]]
    return [f"  {title}: {len(names)}", *shown, *more]


def _in_checkpoint(prefix: str | None) -> dict[str, tuple[str, tuple]]:
    if prefix is None:
        return {}
    reader = tf.train.load_checkpoint(prefix)
    types = reader.get_variable_to_dtype_map()
    return {name: (types[name].name, tuple(shape)) for name, shape in
            sorted(reader.get_variable_to_shape_map().items())
            if name != kinds.OBJECT_GRAPH}


def _graph(found: kinds.Found) -> Description:
    graph, every = found.graph, facts.all_nodes(found.graph)
    meta, outputs = found.meta, facts.ends(found.graph)
    return Description(
        found.path, found.kind, _writer(found), _in_checkpoint(found.prefix),
        inputs=[facts.node_of(n) for n in graph.node
                if n.op in facts.PLACEHOLDERS | facts.TAKES
                and not facts.is_training(n.name, n.op)],
        queues=[n.name for n in graph.node if n.op.endswith(("Queue", "QueueV2"))],
        tables=[n.name for n in graph.node if n.op in facts.TABLES],
        outputs=outputs,
        losses=facts.losses_of(graph, [node.name for node in outputs]),
        signatures=_signatures(meta),
        training=sum(facts.is_training(n.name, n.op) for n in graph.node),
        ops=len(graph.node),
        missing=facts.missing_ops(every, graph.library),
        opening=[name for name in [loading.restore_op(found, meta),
                                   *loading.initial_ops(found, meta)] if name],
        refused=_refused(found),
        devices=sorted({n.device for n in every if n.device}),
        lacks=_lacks(found),
        repaired=[f"{node.name} ({node.op})" for node in cutting.of_references(graph)],
        tags=found.tags,
    )


def _lacks(found: kinds.Found) -> list[str]:
    """Returns the files that a checkpoint or a SavedModel needs and does not have."""
    short = kinds.shortage(found.prefix)
    return [*([short] if short else []), *loading.missing_assets(found)]


def _refused(found: kinds.Found) -> list[str]:
    """Returns the refused op types of a graph, including those that nothing needs."""
    graph = found.graph
    own = set(loading.own_files(found, found.meta)) if found.meta else set()
    missing = set(facts.missing_ops(facts.all_nodes(graph), graph.library))
    return sorted({f"{kind}: {why}" for _, kind, why in
                   allowed.refusals(cutting.plain(graph), own) if kind not in missing})


def _writer(found: kinds.Found) -> str:
    if found.meta and found.meta.meta_info_def.tensorflow_version:
        return f"TensorFlow {found.meta.meta_info_def.tensorflow_version}"
    producer = found.graph.versions.producer
    return f"a TensorFlow of graph version {producer}" if producer else "unknown"


def _signatures(meta) -> dict[str, tuple[dict, dict]]:
    def nodes(infos):
        return {key: Node(info.name, "signature", tf.as_dtype(info.dtype).name,
                          None if info.tensor_shape.unknown_rank else
                          tuple(tf.TensorShape(info.tensor_shape).as_list()))
                for key, info in sorted(infos.items())}

    return {name: (nodes(signature.inputs), nodes(signature.outputs))
            for name, signature in sorted(meta.signature_def.items() if meta else ())
            if name != loading.INIT}


def _keras(found: kinds.Found) -> Description:
    with opened_hdf5(found.path) as file:
        version = file.attrs.get("keras_version", "unknown")
        config = keras_files.config_of(file)
        variables = {name: (array.dtype.name, array.shape)
                     for name, array in keras_files.arrays_of(file).items()}
    given = version.decode() if isinstance(version, bytes) else version
    refused = keras_files.layer_refusals(config) if config else []
    return Description(found.path, found.kind, f"Keras {given}", variables,
                       refused=[f"layer '{name}': {kind} {why}"
                                for name, kind, why in refused])


def _records(found: kinds.Found) -> Description:
    payloads = wire.payloads(found.path, found.compression)
    number = sum(1 for _ in itertools.islice(payloads, found.records))
    kind = f"{found.kind}, {found.compression}" if found.compression else found.kind
    first = next(wire.payloads(found.path, found.compression), b"")
    return Description(found.path, kind, records=number, cut=found.cut,
                       features=[] if found.kind == kinds.EVENTS else _features(first))


def _features(record: bytes) -> list[str]:
    """Returns the features of a record, each with its type and its number of values."""
    message = tf.train.SequenceExample()
    try:
        message.ParseFromString(record)
    except DecodeError:
        return []
    found = [f"{name} {_values(feature)}" for name, feature in
             sorted(message.context.feature.items())]
    lists = message.feature_lists.feature_list
    if lists:
        found = [f"context: {text}" for text in found]
    return found + [
        f"list: {name} of {len(steps.feature)}, each {_values(steps.feature[0])}"
        if steps.feature else f"list: {name}, empty"
        for name, steps in sorted(lists.items())]


def _values(feature: tf.train.Feature) -> str:
    kind = feature.WhichOneof("kind")
    if kind is None:
        return "without a value"
    return f"{kind.removesuffix('_list')} [{len(getattr(feature, kind).value)}]"
