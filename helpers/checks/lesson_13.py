"""The checks of lesson 13: orders that a graph leaves open, NaNs, parts of a batch."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.report import exercise

WRITES = ("AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp")


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
    "new_a, new_b = tf.tuple([b.read_value(), a.read_value()])",
)
def check_swap(attempt):
    """Runs the swap, and looks for an assignment that waits for no read.

    Args:
      attempt: two variables to one op.
    """
    with tf.Graph().as_default() as graph:
        a = tf1.get_variable("a", initializer=[1.0, 5.0], use_resource=True)
        b = tf1.get_variable("b", initializer=[2.0, 7.0], use_resource=True)
        init = tf1.global_variables_initializer()
        before = set(graph.get_operations())
        op = attempt(a, b)
        written = [new for new in graph.get_operations()
                   if new not in before and new.type in WRITES]
    yield ("returns one op", isinstance(op, tf.Operation),
           f"it returned {type(op).__name__}.")
    runs = _needed(op)
    moved = {write.inputs[0].op.name for write in written if write in runs}
    yield ("the op writes both variables", moved == {"a", "b"},
           f"it runs what writes {sorted(moved) or 'neither variable'}.")
    with tf1.Session(graph=graph) as session:
        session.run(init)
        session.run(op)
        once = np.array(session.run([a, b]))
        session.run(op)
        twice = np.array(session.run([a, b]))
    for write in written:
        yield from _waits(write, runs, once)
    yield ("one run exchanges the values", np.array_equal(once, [[2, 7], [1, 5]]),
           f"a was [1 5] and b [2 7]; after one run they are {once[0]} and {once[1]}.")
    yield ("a second run exchanges them back", np.array_equal(twice, [[1, 5], [2, 7]]),
           f"after two runs they are {twice[0]} and {twice[1]}.")


def _waits(write: tf.Operation, runs: set, once: np.ndarray):
    """Claims that a write waits for reads of both variables, and they for no write."""
    name, behind = write.inputs[0].op.name, _needed(write) - {write}
    reads = [op for op in behind if op.type == "ReadVariableOp"]
    other = {"a": "b", "b": "a"}[name]
    early = [op for op in runs if op.type == "ReadVariableOp" and any(
        before.type in WRITES for before in _needed(op))]
    fed = {op.inputs[0].op.name for op in reads if op not in early}
    yield (f"no read waits for a write of {name}", not any(
        write in _needed(op) for op in early),
        f"a value is read after {name} was written: the values become {once[0]} and "
        f"{once[1]}.")
    yield (f"{name} waits until {other} is read", other in fed,
           f"what is written to {name} does not come from {other}.")
    yield (f"{name} is not overwritten before it is read", name in fed,
           f"the assignment of {name} may run before {name} is read: no edge says "
           "which comes first.")


def _cases():
    """Yields claim, graph, fetch, feed and the name of the op to blame."""
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [2], name="x")
        never = tf1.placeholder(tf.float32, [], name="never_fed")
        tf.math.log(0.0 * never, name="aside")
        tf.math.log(x - 9.0, name="unneeded")
        both = tf.add(tf.multiply(tf.sqrt(x, name="root"), 2.0), x, name="both")
        large = tf.cast(tf.greater(both, 1.0), tf.float32, name="large")
        hidden = tf.exp(tf.math.log(x, name="log"), name="hidden")
    yield "finds none where all is finite", graph, both, [4.0, 1.0], None
    yield "finds the first of three bad ops", graph, both, [-1.0, 1.0], "root"
    yield "goes on through ops that are no floats", graph, large, [-1.0, 1.0], "root"
    yield "finds an infinity that the fetch hides", graph, hidden, [0.0, 1.0], "log"


@exercise(
    "Exercise 2: first_bad",
    "walk back from `fetch.op` over `op.inputs`; run the float outputs of those ops in "
    "one `session.run`; then look for the op that is bad while its inputs are good.",
    "waiting, needed = [fetch.op], []",
)
def check_first_bad(attempt):
    """Tries a graph with a NaN, an infinity, neither, and ops that nobody needs.

    Args:
      attempt: `(session, fetch, feeds)` to the name of an op, or `None`.
    """
    for claim, graph, fetch, fed, wanted in _cases():
        with tf1.Session(graph=graph) as session:
            found = attempt(session, fetch, {"x:0": fed})
        if found is not None:
            yield ("returns a name", isinstance(found, str),
                   f"it returned {type(found).__name__}.")
            yield ("the name is that of an op", ":" not in found,
                   f"'{found}' is the name of a tensor.")
        yield (claim, found == wanted,
               f"for the fetch {fetch.op.name} and x = {fed} it gave {found!r}, "
               f"wanted {wanted!r}.")


class _Run:
    """A gradient to ask for, which notes the rows that it was given."""

    def __init__(self):
        self.given: list[np.ndarray] = []

    def __call__(self, part) -> np.ndarray:
        self.given.append(np.array(part))
        return np.mean([np.outer(row, np.sin(row)) for row in part], axis=0)


@exercise(
    "Exercise 3: in_parts",
    "the last part may be smaller than the others; how much of the mean over all rows "
    "is its mean?",
    "part = rows[first:first + size]",
)
def check_in_parts(attempt):
    """Compares with one large batch, and counts the rows of every part.

    Args:
      attempt: `(run, rows, size)` to the gradient of the mean loss over all rows.
    """
    rows = np.random.default_rng(13).normal(size=(10, 3))
    wanted = _Run()(rows)
    for size, claim in ((5, "equal parts"), (4, "a last part that is smaller"),
                        (1, "parts of one row"), (64, "one part that holds all")):
        run, before = _Run(), rows.copy()
        found = attempt(run, rows, size)
        largest = max(map(len, run.given), default=0)
        sent = sum(map(len, run.given))
        yield ("returns an array like the gradient", np.shape(found) == wanted.shape,
               f"the shape is {np.shape(found)}, wanted {wanted.shape}.")
        yield (f"{claim}: no part above {size} rows", largest <= size,
               f"a part of {largest} rows was run.")
        yield (f"{claim}: every row is used once", sent == len(rows) and np.array_equal(
            np.unique(np.concatenate(run.given), axis=0), np.unique(before, axis=0)),
            f"{sent} rows were run, there are {len(rows)}.")
        yield (f"{claim}: equal to the large batch", np.allclose(found, wanted),
               f"the gradient is {np.ravel(found)[0] / wanted[0, 0]:.2f} times what it "
               "should be, in its first number: do all rows count the same?")
        yield (f"{claim}: the rows stay as they are", np.array_equal(rows, before),
               "the array that you were given is changed.")
