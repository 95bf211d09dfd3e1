"""Reduces a graph to the ops that are needed, with new inputs and file names.

Taught in lesson 11, "Fed by a queue whose file is gone": any tensor can be fed.
"""

from collections.abc import Iterable, Mapping

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.graph import VARIABLE_TYPES
from helpers.inherited import graph_facts as facts

# Attributes that configure the execution of a function, which are removed.
_HOW = ("config", "config_proto", "executor_type")


# Ops on references to variables, and the equivalent ops on values.
_OF_VALUES = {"RefSwitch": "Switch", "RefMerge": "Merge", "RefEnter": "Enter",
              "RefExit": "Exit", "RefNextIteration": "NextIteration",
              "RefIdentity": "Identity",
              "Assign": "Identity", "AssignAdd": "AddV2", "AssignSub": "Sub"}


def _take_value(node) -> None:
    if node.op == "Assign":
        del node.input[0]
    node.op = _OF_VALUES[node.op]
    for key in ("use_locking", "validate_shape"):
        node.attr.pop(key, None)


def of_references(graph: tf1.GraphDef) -> list:
    """Returns the NodeDefs of a frozen graph that need a variable by reference.

    Freezing turns variables into constants. Ops such as the update of a moving average
    may stay, if an op of the answer waits for them, and no import accepts these.
    """
    every = facts.all_nodes(graph)
    if any(node.op in VARIABLE_TYPES for node in every):
        return []
    return [node for node in every if node.op in _OF_VALUES]


def plain(graph: tf1.GraphDef) -> tf1.GraphDef:
    """Returns a copy of a graph without devices, private attributes, and print ops.

    Devices of machines that no longer exist are removed, and so are annotations of old
    versions (`_output_shapes`), which may contradict the current import. `Print` ops
    become identities. If the graph is frozen and has no variables left, ops that take a
    reference to a variable become the corresponding ops on values.
    """
    copy = tf1.GraphDef()
    copy.CopyFrom(graph)
    del copy.library.gradient[:]
    for node in of_references(copy):
        _take_value(node)
    for node in facts.all_nodes(copy):
        node.device = ""
        for key in list(node.attr):
            if key.startswith("_") or key in _HOW:
                del node.attr[key]
        if node.op == "Print":
            node.op = "Identity"
            order = [source for source in node.input if source.startswith("^")]
            node.input[:] = [*node.input[:1], *order]
            for key in set(node.attr) - {"T"}:
                del node.attr[key]
    for function in copy.library.function:
        function.attr.clear()
    return copy


def cut(
    graph: tf1.GraphDef,
    wanted: Iterable[str],
    fed: Iterable[str] = (),
    texts: Mapping[str, str] | None = None,
) -> tuple[tf1.GraphDef, dict[str, str]]:
    """Extracts the ops that some outputs need, with placeholders for fed tensors.

    Args:
      graph: Graph definition, which stays unchanged.
      wanted: Names of tensors or ops.
      fed: Names of tensors that are replaced by placeholders. Ops that only they need
        are dropped. Existing placeholders are kept, even if no output reads them.
      texts: Names of ops that are replaced by constant strings, with the strings.

    Returns:
      The new graph, and the placeholder of each replaced tensor, by tensor name.

    Raises:
      ValueError: If an op has several outputs and an output that is needed is not fed.
    """
    texts, by_name = texts or {}, {node.name: node for node in graph.node}
    kept = tf1.GraphDef(versions=graph.versions)
    stand_ins: dict[str, str] = {}
    for tensor in fed:
        name, _, number = tensor.partition(":")
        if by_name[name].op not in facts.PLACEHOLDERS:
            new = name if number == "0" else f"{name}/output_{number}"
            stand_ins[tensor] = f"{new}:0"
            dtype = facts.dtypes(by_name[name])[int(number):][:1] or [tf.float32]
            kept.node.add(name=new, op="Placeholder").attr[
                "dtype"].type = dtype[0].as_datatype_enum
    for name, text in texts.items():
        node = kept.node.add(name=name, op="Const")
        node.attr["dtype"].type = tf.string.as_datatype_enum
        node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(text))
    replaced = {facts.op_name(tensor) for tensor in stand_ins}
    for node in facts.needed(graph, [*wanted, *fed], replaced | set(texts)):
        copy = kept.node.add()
        copy.CopyFrom(node)
        copy.input[:] = _inputs(node, stand_ins, replaced)
    _keep_functions(graph, kept)
    return kept, stand_ins


def _inputs(node, stand_ins: dict, replaced: set) -> list[str]:
    inputs = []
    for source in node.input:
        name = facts.op_name(source)
        if name not in replaced:
            inputs.append(source)
        elif not source.startswith("^"):  # drop control inputs from removed ops
            tensor = source if ":" in source else f"{source}:0"
            if tensor not in stand_ins:
                raise ValueError(
                    f"Missing tensor {tensor} among the tensors to feed. Op "
                    f"{node.name} depends on it."
                )
            inputs.append(stand_ins[tensor])
    return inputs


def _keep_functions(graph: tf1.GraphDef, kept: tf1.GraphDef) -> None:
    """Copies the functions that the kept ops call, directly or indirectly."""
    library = {each.signature.name: each for each in graph.library.function}
    waiting, copied = list(kept.node), set()
    while waiting:
        for name in facts.called_functions(waiting.pop(), library):
            if name in library and name not in copied:
                copied.add(name)
                kept.library.function.add().CopyFrom(library[name])
                waiting += library[name].node_def
