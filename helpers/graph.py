"""What a graph's ops are, for every module that looks into a graph."""

# Resource variables first, then the two kinds of reference variable.
_VARIABLE_TYPES = frozenset({"VarHandleOp", "VariableV2", "Variable"})


def holds_variable(op_type: str) -> bool:
    """Says whether an op of a type holds a variable, its value or its handle.

    The ops around it (the initializer, the assignment, the read) do not.

    Args:
      op_type: `op.type` of a `tf.Operation`, `node.op` of a `NodeDef`.

    Returns:
      Whether it is one of the three types that hold one: `VarHandleOp` (resource
      variables), `VariableV2` (reference variables), and `Variable`, which stands in
      graphs that were saved before `VariableV2` came.
    """
    return op_type in _VARIABLE_TYPES
