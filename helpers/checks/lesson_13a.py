"""The checks of lesson 13a: an order that a graph leaves open, the op that is bad."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.report import answering, drawn, exercise, near, same

WRITES = ("AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp")
BAD = {"root": lambda x: tf.sqrt(x), "log": lambda x: tf.math.log(x),
       "ratio": lambda x: 1.0 / x}


def _needed(op: tf.Operation) -> set[tf.Operation]:
    """Returns the ops that must have run before this one ends, and itself."""
    found, waiting = set(), [op]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += [tensor.op for tensor in one.inputs] + list(one.control_inputs)
    return found


@exercise(
    "Exercise 1: swap",
    "both reads have to be over before either assignment begins; which function of "
    "TensorFlow gives tensors back only when all of them are computed?",
    "`new_a, new_b = tf.tuple([b.read_value(), a.read_value()])`. What is left: a "
    "group of two assignments.",
)
def check_swap(attempt):
    """Runs the swap of `(a, b)`, and looks for an order that is left open."""
    for names, values in drawn(_two_variables, 6):
        with tf.Graph().as_default() as graph:
            pair = [tf1.get_variable(name, initializer=value, use_resource=True)
                    for name, value in zip(names, values, strict=True)]
            init = tf1.global_variables_initializer()
            before = set(graph.get_operations())
            op = attempt(*pair)
        yield ("returns one op", isinstance(op, tf.Operation),
               f"it returned {type(op).__name__}.")
        writes = [one for one in _needed(op) if one.type in WRITES]
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
            yield near("each run exchanges the values", due, found, f"after {times}")


def _two_variables(rng, size):
    """Returns two names, and two values of one shape and dtype."""
    names = [("a", "b"), ("left/w", "right/w"), ("b", "a")][size % 3]
    dtype = [np.float32, np.int64][size // 3 % 2]
    shape = [size + 1] * (size % 3)
    return names, [rng.integers(1, 9, shape).astype(dtype) * k for k in (1, -2**33)]


def _read_before(write):
    """Returns the variables that a write waits to be read, before any write."""
    return {op.inputs[0].op.name for op in _needed(write)
            if op.type == "ReadVariableOp"
            and not any(one.type in WRITES for one in _needed(op))}


@exercise(
    "Exercise 2: first_bad",
    "walk back from `fetch.op` over `op.inputs`; run the float outputs of those ops in "
    "one `session.run`; then look for the op that is bad while its inputs are good.",
    "`waiting, needed = [fetch.op], []`. What is left: the walk, the run, the search.",
)
def check_first_bad(attempt):
    """Gives `(session, fetch, feeds)` graphs with a bad op or none, and traps."""
    for fetch, rows, fed, due in drawn(_graph_with_a_fault, 16):
        case = f"x = {fed}, the first bad op {due!r}"
        with tf1.Session(graph=fetch.graph) as session, answering(case):
            session.run("init")
            found = attempt(session, fetch, {"x:0": fed, "u:0": 1.0, "v:0": 2.0})
            left = session.run("left:0")
        yield ("returns the name of an op, or None",
               found is None or isinstance(found, str) and ":" not in found,
               f"{case}: it returned {found!r}.")
        yield same("blames the first bad op", due, found, case)
        yield near("runs one step, and nothing aside", rows, left,
                   f"{case}, rows left in the queue")


def _graph_with_a_fault(rng, size):
    """Returns a tensor, the rows that a step leaves, what is fed, whom to blame."""
    kind, bad = sorted(BAD)[size % 3], size % 4 != 0
    with tf.Graph().as_default():
        dtype = [tf.float32, tf.float64, tf.float16][size // 2 % 3]
        x = tf1.placeholder(dtype, [2], name="x")
        queue = tf1.FIFOQueue(9, tf.float32, shapes=[[]], name="rows")
        rows = np.linspace(1, 9, 9, dtype=np.float32)  # two steps do not fit together
        tf.group(queue.enqueue_many([rows]), name="init")
        row = queue.dequeue(name="row")
        tf.math.log(-tf.abs(queue.dequeue()), name="aside")
        never = tf1.placeholder(tf.float32, [], name="never_fed")
        tf.math.log(0.0 * never, name="unfed")
        y = x
        for step in range(size // 4):
            y = tf.multiply(y, 1.5, name=f"step_{step}")
        worst = BAD[kind](y)
        here = tf.identity(worst, name=kind + "_seen")
        here = tf.stack(tf.unstack(here))  # an op with two outputs, one of them bad
        hidden = tf.where(tf.math.is_finite(here), here, tf.zeros_like(here))
        after = [here, hidden, tf.cast(here > 0.5, dtype)][size % 3]
        for name in "uv":
            row += tf1.placeholder(tf.float32, [], name=name)
        both = [after, tf.cast(row, dtype)]
        fetch = tf.add(*both[:: 1 - size % 2 * 2], name="fetch")
        queue.size(name="left")
    first = x if size % 5 == 2 else worst
    fetch, left = (worst, 9) if size % 5 == 1 else (fetch, 8)
    value = np.nan if first is x else -1.0 if kind == "root" else 0.0
    fed = [value if bad else 2.0, float(rng.integers(1, 9))][:: rng.choice([1, -1])]
    return fetch, left, fed, first.op.name if bad else None
