"""The check of lesson 07b: the updates of one tower, with the train op."""

from collections.abc import Callable, Iterator

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.report import Claim, answering, drawn, exercise, shown


@exercise(
    "Exercise 1: with_updates",
    "get_collection takes a scope, which is the beginning of a name; tower_10 begins "
    "like tower_1. And what makes one op run whenever another is fetched?",
    "begin with: updates = tf1.get_collection(tf1.GraphKeys.UPDATE_OPS, "
    "scope=f\"{tower}/\"), and end with tf.group.",
)
def check_with_updates(with_updates: Callable) -> Iterator[Claim]:
    """Gives each of up to twelve towers counters to update, and reads them.

    Args:
      with_updates: `(train, tower="tower_0")` to an op.
    """
    def case(rng, size):
        name = ["tower", "replica", "net/tower"][size % 3]
        towers = 1 + size if size < 3 else 12
        asked = 0 if size < 2 else int(rng.integers(2))
        tower = f"{name}_{asked}"
        with tf.Graph().as_default() as graph:
            step = _counter("step")
            train = step.assign_add(1.0).op
            outside = [_update("outside")]
            counters = [_tower(f"{name}_{k}", int(rng.integers(3)))
                        for k in range(towers)]
            op = with_updates(train, tower) if size else with_updates(train)
            yield ("returns an op", isinstance(op, tf.Operation) or tf.is_tensor(op),
                   f"it returned {op!r:.40}")
            init = tf1.global_variables_initializer()
        due = [[2.0] * len(of_one) if k == asked else [0.0] * len(of_one)
               for k, of_one in enumerate(counters)]
        text = f"{tower} of {towers}, fetched twice"
        with tf1.Session(graph=graph) as session:
            session.run(init)
            with answering(text):
                session.run(op)
                session.run(op)
            trained, others, found = session.run([step, outside, counters])
        yield "runs the train op, once", trained == 2, f"{text}: {shown(2, trained)}"
        yield ("runs the updates of that tower, once", found[asked] == due[asked],
               f"{text}: {shown(due[asked], found[asked])}")
        yield ("and no other updates", found == due and others == [0.0],
               f"{text}: updates of {_names(found, due)} ran")

    for claims in drawn(case, 9):
        yield from claims


def _counter(name: str) -> tf.Variable:
    return tf1.get_variable(name, [], initializer=tf1.zeros_initializer())


def _update(name: str) -> tf.Variable:
    counter = _counter(name)
    tf1.add_to_collection(
        tf1.GraphKeys.UPDATE_OPS, counter.assign_add(tf.constant(1.0)))
    return counter


def _tower(scope: str, updates: int) -> list[tf.Variable]:
    with tf1.name_scope(scope):
        return [_update(f"{scope}_{k}") for k in range(updates)]


def _names(found: list, due: list) -> str:
    wrong = [f"tower {k}" for k, pair in enumerate(zip(found, due, strict=True))
             if pair[0] != pair[1]]
    return ", ".join(wrong) or "no tower"
