"""Exercise checks of lesson 13a: ops whose order the graph does not determine."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.claims import answering, drawn, exercise, near
from helpers.graph import ancestors

WRITES = ("AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp")


@exercise(
    "Exercise 1: swap",
    "What does each of the two assignments have to wait for? Both values must be read "
    "before either variable is written.",
    "Begin with `values = [a.read_value(), b.read_value()]`. The two assignments are "
    "left; build them inside `with tf.control_dependencies(values):`.",
    about={
        "the op writes both variables": (
            "The op that you return has to run both assignments. An assignment that "
            "nobody fetches or waits for does not run."),
        "returns one op": "`tf.group` makes one op of several.",
        "creates no third variable":
            "A value that was read is a tensor, and a tensor can wait until it is "
            "written.",
        "leaves no order open": (
            "Two ops without a dependency may run in any order. Each assignment has "
            "to wait until both values were read, and an op that was built outside "
            "the block does not wait."),
    },
    adds=("variables", "trainable_variables"), twice=False,
)
def check_swap(attempt):
    """Checks that two variables are swapped, and that all reads precede the writes."""
    for names, values in drawn(_two_variables, 6):
        with tf.Graph().as_default() as graph:
            pair, others = ([tf1.get_variable(scope + name, initializer=value,
                                              use_resource=True)
                             for name, value in zip(names, values, strict=True)]
                            for scope in ("", "others/"))
            init = tf1.global_variables_initializer()
            before = _variables(graph)
            attempt(*others)
            new = sorted(_variables(graph) - before)
            yield ("creates no third variable", not new,
                   f"it created {', '.join(new)}. Swap a and b without it.")
            before = set(graph.get_operations())
            op = attempt(*pair)
        yield ("returns one op", isinstance(op, tf.Operation),
               f"expected a tf.Operation, but it returned a {type(op).__name__}.")
        writes = [one for one in ancestors([op]) if one.type in WRITES]
        wrong = {write.inputs[0].op.name: late for write in writes
                 if (late := set(names) - _read_before(write))}
        moved = sorted({write.inputs[0].op.name for write in writes})
        yield ("the op writes both variables", moved == sorted(names)
               and not any(new.type in WRITES and new not in writes
                           for new in set(graph.get_operations()) - before),
               f"the op waits for assignments to {' and '.join(moved) or 'nothing'}, "
               f"but expected exactly {' and '.join(sorted(names))}.")
        with tf1.Session(graph=graph) as session:
            session.run(init)
            ends = []
            for _ in range(2):
                with answering(f"variables {values[0].tolist()}, {values[1].tolist()}"):
                    session.run(op)
                ends.append(session.run(pair))
        yield ("leaves no order open", not wrong, " ".join(
            f"The assignment to {name} may run before {' and '.join(sorted(late))} "
            "has been read." for name, late in wrong.items()))
        for times, (found, due) in enumerate(zip(ends, (values[::-1], values),
                                                 strict=True), 1):
            yield near("exchanges the values in each run", due, found,
                       f"after {times} run{'s' * (times > 1)}", 0, 0)


def _variables(graph):
    """Returns the names of all ops that hold a variable."""
    return {op.name for op in graph.get_operations()
            if op.type in ("VarHandleOp", "VariableV2")}


def _two_variables(rng, size):
    """Draws the names and the initial values of two variables to swap."""
    names = [("a", "b"), ("left/w", "right/w"), ("b", "a")][size % 3]
    dtype = [np.float32, np.int64][size // 3 % 2]
    shape = [size + 1] * (size % 3)
    values = [rng.integers(1, 9, shape).astype(dtype) * k for k in (1, 1 - 2**33)]
    if dtype is np.float32 and size:  # what is copied, and not computed, keeps it
        values[size % 2].flat[0] = (np.nan, np.inf)[size % 2]
    return names, values


def _read_before(write):
    """Returns the variables that are read before a write op can run."""
    return {op.inputs[0].op.name for op in ancestors([write])
            if op.type == "ReadVariableOp"
            and not any(one.type in WRITES for one in ancestors([op]))}
