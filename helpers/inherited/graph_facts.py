"""Facts about a GraphDef that is not run: inputs, outputs, and training ops."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from helpers.graph import VARIABLE_TYPES

PLACEHOLDERS = {"Placeholder", "PlaceholderV2", "PlaceholderWithDefault"}
TAKES = {"QueueDequeueV2", "QueueDequeueManyV2", "QueueDequeueUpToV2", "QueueDequeue",
         "QueueDequeueMany", "QueueDequeueUpTo", "IteratorGetNext"}
TABLES = {"HashTable", "HashTableV2", "MutableHashTable", "MutableHashTableV2",
          "MutableDenseHashTable", "MutableDenseHashTableV2"}
SAVING = {"SaveV2", "Save", "SaveSlices", "RestoreV2", "Restore", "RestoreSlice",
          "MergeV2Checkpoints", "ShardedFilename"}
SLOTS = ("Momentum", "Adam", "Adam_1", "RMSProp", "RMSProp_1", "Adagrad", "Ftrl",
         "Ftrl_1", "ExponentialMovingAverage")
# Ops without a reader are outputs, except these, whose values are of no interest.
_NO_RESULT = {"NoOp", "Assert", "Const", "Assign", "AssignAdd", "AssignSub",
              "AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp",
              "IsVariableInitialized", "VarIsInitializedOp", "Print", "QueueSizeV2",
              "QueueCloseV2", "MergeSummary", "ScalarSummary", "HistogramSummary",
              "ImageSummary", "Rank", "Shape", "Size", "ReadVariableOp",
              "MakeIterator", "LookupTableSizeV2", "Exit", "Switch", "RefSwitch"}
# Ops whose value depends only on a shape, such as the zero state of an RNN.
_SHAPES = {"Shape", "ShapeN", "Rank", "Size", "ZerosLike", "OnesLike"}
_LOOP = {"Enter", "RefEnter"}, {"Exit", "RefExit"}  # ops between them run repeatedly
_SUMS = {"Mean", "Sum"}
_OF_SUMS = {"Add", "AddV2", "AddN", "Mul", "Div", "RealDiv", "DivNoNan", "Neg",
            "Identity", "Select", "SelectV2"}
_COMPARE = {"Sub", "SquaredDifference", "SoftmaxCrossEntropyWithLogits",
            "SparseSoftmaxCrossEntropyWithLogits"}


@dataclass(frozen=True)
class Node:
    """Name, type, dtype, and shape of one op of a graph.

    Attributes:
      name: Name of the op.
      kind: Type of the op.
      dtype: Dtype of its first output, such as `float32`, or "" if the graph does not
        contain it.
      shape: Shape of its first output, or None if the graph does not contain it.
    """

    name: str
    kind: str
    dtype: str = ""
    shape: tuple[int | None, ...] | None = None


def node_of(node: Any) -> Node:
    """Returns the name, type, dtype, and shape of a NodeDef, as far as known."""
    # A copy, because looking up a missing key would insert it into a protobuf map.
    attr, types = dict(node.attr), dtypes(node)
    dtype = types[0].name if types else ""
    noted = attr["_output_shapes"].list.shape[:1] if "_output_shapes" in attr else []
    given = [attr["shape"].shape] if "shape" in attr else []
    known = [tf.TensorShape(message) for message in [*noted, *given]]
    shape = next((tuple(s.as_list()) for s in known if s.rank is not None), None)
    return Node(node.name, node.op, dtype, shape)


def dtypes(node: Any) -> list[tf.DType]:
    """Returns the dtypes of the outputs of a NodeDef, as far as known."""
    attr = dict(node.attr)
    types = [attr[key].type for key in ("dtype", "T", "Tparams") if key in attr]
    if node.op in TAKES:
        types = [kind for key in ("component_types", "output_types") if key in attr
                 for kind in attr[key].list.type]
    return [tf.as_dtype(kind) for kind in types]


def called_functions(node: Any, functions: Collection[str]) -> list[str]:
    """Returns the names of the functions that a NodeDef calls.

    Args:
      node: NodeDef of the op.
      functions: Names of the functions in the file. The op may also call others.
    """
    direct = [node.op] if node.op in functions else []
    return direct + [name for value in node.attr.values() for name in _named_in(value)]


def _named_in(value) -> Iterator[str]:
    """Yields the functions that an attribute names, including nested ones."""
    for function in [value.func, *value.list.func]:
        if function.name:
            yield function.name
        for inner in function.attr.values():
            yield from _named_in(inner)


def op_name(text: str) -> str:
    """Returns the op name in an input such as `op`, `op:1`, or `^op`."""
    return text.lstrip("^").split(":")[0]


def is_training(name: str, kind: str) -> bool:
    """Returns whether an op serves only training or saving, by its name and type."""
    parts = name.split("/")
    return (
        any(part.startswith("gradients") for part in parts)
        or kind.startswith(("Apply", "ResourceApply", "SparseApply", "ScatterSub"))
        or parts[0] in ("save", "report_uninitialized_variables", "beta1_power",
                        "beta2_power")
        or parts[-1] in SLOTS
        or kind in SAVING or "Summary" in kind
        or "Initializer" in parts or "Assign" in kind
    )


def ends(graph: tf.compat.v1.GraphDef) -> list[Node]:
    """Returns the outputs of a graph: ops that depend on an input and have no reader.

    Args:
      graph: Graph definition, which is not run.
    """
    read = {op_name(source) for node in graph.node if not _looks_on(node)
            for source in node.input}
    names = _reached(graph, PLACEHOLDERS | TAKES) - read - _reached(graph, *_LOOP)
    return [
        node_of(node) for node in graph.node
        if node.name in names and node.op not in PLACEHOLDERS | TAKES | _NO_RESULT
        and not is_training(node.name, node.op) and "Queue" not in node.op
        and not _of_control_flow(node)
    ]


def _looks_on(node: Any) -> bool:
    """Returns whether an op reads a loss only for logging or for its gradient."""
    return "Summary" in node.op or any(
        part.startswith("gradients") for part in node.name.split("/"))


def _of_control_flow(node: Any) -> bool:
    """Returns whether an op is internal to `cond` or `dynamic_rnn`."""
    last = node.name.split("/")[-1]
    return last in ("switch_t", "switch_f", "pred_id") or (
        node.op == "Min" and dtypes(node)[:1] == [tf.int32])


def _reached(graph, kinds: Collection[str], till: Collection[str] = _SHAPES
             ) -> set[str]:
    """Returns the ops of some types and all ops that depend on their data.

    Args:
      graph: Graph definition.
      kinds: Types of ops to start from.
      till: Types of ops at which the search stops.
    """
    readers: dict[str, list[str]] = {}
    for node in graph.node:
        for source in () if node.op in till else node.input:
            if not source.startswith("^"):
                readers.setdefault(op_name(source), []).append(node.name)
    waiting = [node.name for node in graph.node if node.op in kinds]
    reached = set(waiting)
    while waiting:
        new = set(readers.get(waiting.pop(), ())) - reached
        reached |= new
        waiting += new
    return reached


def losses_of(graph: tf.compat.v1.GraphDef, ends: Iterable[str]) -> dict[str, str]:
    """Returns the outputs that are losses, with the prediction that each compares.

    A loss is a mean or a sum that compares a prediction with labels. A prediction
    depends on variables, whereas labels depend only on inputs.

    Args:
      graph: Graph definition. It is not run, and it is searched once for all outputs.
      ends: Names of the outputs.
    """
    by_name = {node.name: node for node in graph.node}
    fed = _reached(graph, PLACEHOLDERS | TAKES)
    held = _reached(graph, VARIABLE_TYPES)
    both, labels = fed & held, fed - held
    predictions = {end: _answer(end, by_name, both, labels) for end in ends}
    return {end: answer for end, answer in predictions.items() if answer}


def _answer(end: str, by_name: dict, both: set[str], labels: set[str]) -> str | None:
    """Finds the prediction that a loss compares with labels, or returns None."""
    waiting, seen, summed = [end], {end}, False
    while waiting:
        node = by_name[waiting.pop(0)]
        summed = summed or node.op in _SUMS
        if not summed and node.op not in _OF_SUMS:
            return None
        data = [op_name(s) for s in node.input if not s.startswith("^")]
        answers = [source for source in data if source in both]
        if summed and answers and any(source in labels for source in data) and (
                node.op in _COMPARE or _is_cross_entropy(node, by_name[answers[0]])):
            return answers[0]
        waiting += [source for source in answers if source not in seen]
        seen.update(answers)
    return None


def _is_cross_entropy(node: Any, answer: Any) -> bool:
    """Returns whether a product multiplies labels with log-probabilities."""
    return node.op == "Mul" and (
        "logistic_loss" in node.name or answer.op in ("Log", "LogSoftmax"))


def needed(
    graph: tf.compat.v1.GraphDef, names: Iterable[str], stop: Iterable[str] = ()
) -> list:
    """Returns the NodeDefs that some ops depend on, in graph order.

    Args:
      graph: Graph definition.
      names: Names of the ops or tensors to compute.
      stop: Names of ops that are fed, so that their inputs are not needed.

    Raises:
      KeyError: If the graph has no op with such a name.
    """
    by_name = {node.name: node for node in graph.node}
    selected, waiting, fed = set(), [op_name(name) for name in names], set(stop)
    while waiting:
        name = waiting.pop()
        if name in selected or name in fed:
            continue
        selected.add(name)
        waiting += [op_name(source) for source in by_name[name].input]
    return [node for node in graph.node if node.name in selected]


def missing_ops(nodes: Iterable, library: Any = None) -> list[str]:
    """Returns the op types that the installed TensorFlow does not have."""
    known = {function.signature.name for function in library.function} if library else (
        set())
    return sorted({node.op for node in nodes
                   if not hasattr(tf.raw_ops, node.op) and node.op not in known
                   and not node.op.startswith("_")})


def all_nodes(graph: tf.compat.v1.GraphDef) -> list:
    """Returns all ops of a graph and of the functions in its library."""
    inner = [node for function in graph.library.function for node in function.node_def]
    return [*graph.node, *inner]
