"""The checks of lesson 14: loops inside a graph."""

from functools import partial

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.claims import answering, drawn, exercise, near, tensor

PATIENT = tf1.ConfigProto(operation_timeout_in_ms=20_000)  # a loop may be endless


def _must_end(graph: tf.Graph) -> None:
    """Raises a ValueError if a loop's condition is a constant: no limit ends that."""
    for each in graph.as_graph_def().library.function:
        if "while_cond" in each.signature.name and {
                node.op for node in each.node_def} <= {"Const", "Identity"}:
            raise ValueError("the loop never ends: `==` and `!=` ask Python, once")


def _collatz(n: int) -> int:
    steps = 0
    while n > 1:
        n, steps = (n // 2 if n % 2 == 0 else 3 * n + 1), steps + 1
    return steps


@exercise(
    "Exercise 1: steps_to_one",
    "`tf.where(tf.equal(n % 2, 0), n // 2, 3 * n + 1)`; `==` would ask Python.",
    "`start = [n, tf.zeros([], tf.int64)]`. What is left: the body, and the loop.",
)
def check_steps_to_one(attempt):
    """Feeds `(n)` numbers small and large, and compares with a loop in Python."""
    with tf.Graph().as_default() as graph:
        n, other = (tf1.placeholder(tf.int64, [], name=name) for name in "nm")
        steps = attempt(n)
        ops = len(graph.get_operations())
        others = attempt(other)
    python = "PyFunc" in str(graph.as_graph_def())
    yield tensor("returns an int64 tensor", tf.int64, steps)
    yield ("is a loop, not steps written out", ops < 500 and not python,
           "Python counts, not the graph." if python else
           f"the graph has {ops} ops: how many steps it takes is not known here.")
    with tf1.Session(graph=graph, config=PATIENT) as session:
        for value in drawn(lambda rng, size: size + 1 if size < 12 else
                           max(rng.integers(2, 2 ** (4 + 2 * size), 99).tolist(),
                               key=_collatz), 24):  # the longest way of 99
            case = f"n = {value}, and beside it {value + 1}"
            with answering(case):
                _must_end(graph)
                found = session.run([steps, others], {n: value, other: value + 1})
            due = [_collatz(value), _collatz(value + 1)]
            yield near("counts the steps", due, found, case, 0, 0)


def _balances(changes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the balances, and the gradient of their sum."""
    found, slope = np.zeros_like(changes), np.zeros_like(changes)
    balance = np.zeros(changes.shape[1:], changes.dtype)
    counting = np.zeros([0, *changes.shape[1:]], changes.dtype)
    for t, change in enumerate(changes):
        alive = balance + change > 0
        balance = np.where(alive, balance + change, 0)
        counting = np.concatenate([counting, np.ones_like(balance)[None]]) * alive
        slope[: t + 1] += counting
        found[t] = balance
    return found, slope


@exercise(
    "Exercise 2: balances",
    "`balance = tf.maximum(balance + changes[t], 0.0)`",
    "`array = tf.TensorArray(tf.float32, size=time)`. What is left: the loop and "
    "`stack`.",
)
def check_balances(attempt):
    """Feeds `(changes)` tables of drawn sizes, and compares gradients too."""
    for people in (1, 2, 3):
        with tf.Graph().as_default(), tf1.Session(config=PATIENT) as session:
            fed = tf1.placeholder(tf.float32, [None, people])
            with answering(f"changes of shape {fed.shape}"):
                found = attempt(fed)
                _must_end(fed.graph)
                [slope] = tf1.gradients(tf.reduce_sum(found), fed)
            yield "has a gradient", slope is not None, "it is None."
            for changes in drawn(partial(_changes, people), 7):
                case = f"changes {changes.tolist()!s:.300}"
                with answering(case):
                    got, slopes = session.run([found, slope], {fed: changes})
                due, due_slopes = _balances(changes)
                yield near("gives the balances", due, got, case, 1e-4, 1e-4)
                yield near("the gradient stops where the balance was 0", due_slopes,
                           slopes, f"{case}, of the sum of all balances")


def _changes(people, rng, size):
    """Returns changes; no sum of them is 0, where the gradient is ambiguous."""
    shape = [size if size < 6 else 150, people]
    changes = rng.integers(-4, 5, shape) + rng.uniform(0.1, 0.4, shape)
    none = (rng.random(shape) < 0.3) & (np.roll(changes, 1, axis=0) > 0)
    none[:1] = False  # a change of 0 comes after a positive one only
    return np.where(none, 0.0, changes).astype("f")
