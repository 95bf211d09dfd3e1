"""The checks of lesson 13a: an order that a graph leaves open."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.report import answering, drawn, exercise, near
from helpers.graph import ancestors

WRITES = ("AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp")


@exercise(
    "Exercise 1: swap",
    "which function gives tensors back only when all of them are computed?",
    "`new_a, new_b = tf.tuple([b.read_value(), a.read_value()])`. What is left: a "
    "group of two assignments.",
    twice=False,
)
def check_swap(attempt):
    """Runs the swap of `(a, b)`, and looks for an order that is left open."""
    for names, values in drawn(_two_variables, 6):
        with tf.Graph().as_default() as graph:
            pair, others = ([tf1.get_variable(scope + name, initializer=value,
                                              use_resource=True)
                             for name, value in zip(names, values, strict=True)]
                            for scope in ("", "others/"))
            init = tf1.global_variables_initializer()
            attempt(*others)
            before = set(graph.get_operations())
            op = attempt(*pair)
        yield ("returns one op", isinstance(op, tf.Operation),
               f"it returned {type(op).__name__}.")
        writes = [one for one in ancestors([op]) if one.type in WRITES]
        wrong = {write.inputs[0].op.name: late for write in writes
                 if (late := set(names) - _read_before(write))}
        moved = sorted({write.inputs[0].op.name for write in writes})
        yield ("the op writes both variables", moved == sorted(names)
               and not any(new.type in WRITES and new not in writes
                           for new in set(graph.get_operations()) - before),
               f"it runs what writes {moved or 'neither variable'}.")
        with tf1.Session(graph=graph) as session:
            session.run(init)
            seen = []
            for _ in range(2):
                with answering(f"variables {values[0].tolist()}, {values[1].tolist()}"):
                    session.run(op)
                seen.append(session.run(pair))
        yield ("no order is left open", not wrong, f"no edge has the write to the "
               f"first wait until the others are read, and not too late: {wrong}")
        for times, (found, due) in enumerate(zip(seen, (values[::-1], values),
                                                 strict=True), 1):
            yield near("each run exchanges the values", due, found, f"after {times}", 0,
                       0)


def _two_variables(rng, size):
    """Returns two names, and two values of one shape and dtype."""
    names = [("a", "b"), ("left/w", "right/w"), ("b", "a")][size % 3]
    dtype = [np.float32, np.int64][size // 3 % 2]
    shape = [size + 1] * (size % 3)
    return names, [rng.integers(1, 9, shape).astype(dtype) * k for k in (1, 1 - 2**33)]


def _read_before(write):
    """Returns the variables that a write waits to be read, before any write."""
    return {op.inputs[0].op.name for op in ancestors([write])
            if op.type == "ReadVariableOp"
            and not any(one.type in WRITES for one in ancestors([op]))}
