"""Exercise checks of lesson 14: loops inside a graph."""

from functools import partial

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.claims import (
    answering,
    drawn,
    exercise,
    listed,
    near,
    shortened,
    tensor,
)

PATIENT = tf1.ConfigProto(operation_timeout_in_ms=20_000)  # a loop may be endless


def _must_end(graph: tf.Graph) -> None:
    """Raises `ValueError` if the condition of a loop in the graph is constant."""
    for each in graph.as_graph_def().library.function:
        if "while_cond" in each.signature.name and {
                node.op for node in each.node_def} <= {"Const", "Identity"}:
            raise ValueError(
                "The loop never ends, because its condition is constant. Compare "
                "tensors with tf.equal or tf.not_equal, because Python evaluates `==` "
                "and `!=` at once."
            )


def _collatz(n: int) -> int:
    steps = 0
    while n > 1:
        n, steps = (n // 2 if n % 2 == 0 else 3 * n + 1), steps + 1
    return steps


@exercise(
    "Exercise 1: steps_to_one",
    "The next number is `tf.where(tf.equal(n % 2, 0), n // 2, 3 * n + 1)`. Python "
    "would answer `==` while the graph is built.",
    "Begin with `start = [n, tf.zeros([], tf.int64)]`. The body and the loop are left.",
    about={
        "is a loop of TensorFlow's own ops": (
            "A loop of Python runs while the graph is built. The section `A loop of "
            "ops` has one that runs with the graph."),
        "counts the steps": (
            "The number 1 takes no step, and each other step is either a half or 3n + "
            "1. On the way, numbers become much larger than n, so all of them stay "
            "int64, and the loop has no limit."),
    },
)
def check_steps_to_one(attempt):
    """Checks Collatz step counts of a graph loop against a Python loop."""
    with tf.Graph().as_default() as graph:
        n, other = (tf1.placeholder(tf.int64, [], name=name) for name in "nm")
        steps = attempt(n)
        ops = len(graph.get_operations())
        others = attempt(other)
    python = "PyFunc" in str(graph.as_graph_def())
    yield tensor("returns an int64 tensor", tf.int64, steps)
    yield ("is a loop of TensorFlow's own ops", ops < 500 and not python,
           "it calls Python while the graph runs." if python else
           f"the graph has {ops} ops, so the steps seem to be written out. How many "
           "steps there are is not known while the graph is built.")
    with tf1.Session(graph=graph, config=PATIENT) as session:
        for value in drawn(_start, 25):
            case = f"n = {value}, and in the same graph {value + 1}"
            with answering(case):
                _must_end(graph)
                found = session.run([steps, others], {n: value, other: value + 1})
            due = [_collatz(value), _collatz(value + 1)]
            yield near("counts the steps", due, found, case, 0, 0)


def _start(rng, size):
    """Draws a starting number, at larger sizes one that takes many steps."""
    if size < 12:
        return size + 1
    if size == 24:
        return 989_345_275_647
    return max(rng.integers(2, 2 ** (4 + 2 * size), 99).tolist(), key=_collatz)


def _balances(changes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Computes the expected balances and the gradient of their sum."""
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
    "In each step, `balance = tf.maximum(balance + changes[t], 0.0)`. The balances go "
    "into an array.",
    "Begin with `array = tf.TensorArray(tf.float32, size=time)`. The loop and `stack` "
    "are left.",
    about={
        "returns the balances": (
            "The bound holds in the first step, too, and the next step continues with "
            "the balance *after* the bound."),
        "has a gradient that stops where the balance is 0": (
            "The balance at the bound does not depend on the changes before it. "
            "`tf.maximum` takes care of that if each step begins with the bounded "
            "balance."),
        "runs without an error": (
            "The number of steps is not known while the graph is built, and it may be "
            "0. The array and the beginning must not depend on a first row."),
    },
)
def check_balances(attempt):
    """Checks a graph loop over account balances, and its gradients."""
    for people in (1, 2, 3):
        with tf.Graph().as_default(), tf1.Session(config=PATIENT) as session:
            fed = tf1.placeholder(tf.float32, [None, people])
            with answering(f"changes of shape {fed.shape}"):
                found = attempt(fed)
                _must_end(fed.graph)
                [slope] = tf1.gradients(tf.reduce_sum(found), fed)
            yield ("has a gradient", slope is not None,
                   "the gradient for `changes` is None.")
            for changes in drawn(partial(_changes, people), 7):
                case = f"changes {shortened(str(listed(changes, 3)), 300)}"
                with answering(case):
                    got, slopes = session.run([found, slope], {fed: changes})
                due, due_slopes = _balances(changes)
                yield near("returns the balances", due, got, case, 1e-4, 1e-4)
                yield near("has a gradient that stops where the balance is 0",
                           due_slopes, slopes,
                           f"{case}, gradient of the sum of all balances")


def _changes(people, rng, size):
    """Draws balance changes whose partial sums are never exactly 0."""
    shape = [size if size < 6 else 1_100, people]
    changes = rng.integers(-4, 5, shape) + rng.uniform(0.1, 0.4, shape)
    none = (rng.random(shape) < 0.3) & (np.roll(changes, 1, axis=0) > 0)
    none[:1] = False  # a change of 0 comes after a positive one only
    return np.where(none, 0.0, changes).astype("f")
