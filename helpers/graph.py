"""Queries about the ops of a graph: their types and their dependencies."""

from collections.abc import Container, Iterable
from typing import Any

import tensorflow as tf

# Types of the ops that hold a variable's value or handle, in `op.type` or `node.op`:
# resource variables, reference variables, and those of graphs older than `VariableV2`.
VARIABLE_TYPES = frozenset({"VarHandleOp", "VariableV2", "Variable"})


def ancestors(
    ops: Iterable[tf.Operation], fed: Container[str] = ()
) -> set[tf.Operation]:
    """Returns the given ops together with all ops on which they depend.

    Args:
      ops: Ops to start from.
      fed: Names of tensors that are fed. The ops that produce them are not needed.
    """
    needed: set[tf.Operation] = set()
    waiting = list(ops)
    while waiting:
        op = waiting.pop()
        if op not in needed:
            needed.add(op)
            waiting += [tensor.op for tensor in op.inputs if tensor.name not in fed]
            waiting += op.control_inputs
    return needed


def fetched_ops(graph: tf.Graph, fetches: Any) -> list[tf.Operation]:
    """Returns the ops that `session.run(fetches)` fetches."""
    elements = [
        graph.as_graph_element(fetch)
        for fetch in tf.nest.flatten(fetches, expand_composites=True)
    ]
    return [getattr(element, "op", element) for element in elements]
