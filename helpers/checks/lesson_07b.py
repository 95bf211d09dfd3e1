"""The check of lesson 07b: the updates of one tower, with the train op."""

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.claims import answering, drawn, exercise, near, same


@exercise(
    "Exercise 1: with_updates",
    "`get_collection` takes a scope, and tower_10 begins like tower_1.",
    "begin with: `updates = tf1.get_collection(tf1.GraphKeys.UPDATE_OPS, "
    'scope=f"{tower}/")`. What is left: `tf.group`.',
)
def check_with_updates(attempt):
    """Gives the towers of `(train, tower="tower_0")` counters, and reads them."""
    for size, name, towers, asked, each in drawn(_towers, 9):
        tower = f"{name}_{asked}"
        case = f"{tower} of {towers}, fetched twice"
        with tf.Graph().as_default() as graph:
            step = tf1.get_variable("step", initializer=0.0)
            train = step.assign_add(1.0).op
            outside, _ = _of_tower(f"another/{tower}", 1)
            counters = [_of_tower(f"{name}_{k}", each[k]) for k in range(towers)]
            attempt(tf.no_op(), tower)  # another train op, which has no say
            op = attempt(train, tower) if size else attempt(train)
            yield ("returns an op", isinstance(op, tf.Operation) or tf.is_tensor(op),
                   f"it returned {op!r:.40}")
            init = tf1.global_variables_initializer()
        with tf1.Session(graph=graph) as session, answering(case):
            session.run(init)
            session.run(op)
            session.run(op)
            trained, others, found = session.run([step, outside, counters])
        due = [[2.0 * (k == asked)] * each[k] + [0.0] for k in range(towers)]
        yield near("runs the train op, once", 2.0, trained, case)
        yield same("runs the updates of that tower, once, and no others", [*due, 0.0],
                   [*([float(n) for n in of_one] for of_one in found), float(others)],
                   case)


def _towers(rng, size):
    """Draws what towers are called, how many there are, and the updates of each."""
    towers = 1 + size if size < 3 else 12
    asked = 0 if size < 2 else int(rng.integers(2))
    each = rng.integers(0, 3, towers).tolist()
    return size, ["tower", "replica", "net/tower"][size % 3], towers, asked, each


def _of_tower(scope, updates):
    """Returns counters, of which one is in no collection, and stays at 0."""
    counters = [tf1.get_variable(f"{scope}_{k}", initializer=0.0)
                for k in range(updates + 1)]
    with tf1.name_scope(scope):
        added = [counter.assign_add(1.0, name="norm/add").op for counter in counters]
    for op in added[:-1]:
        tf1.add_to_collection(tf1.GraphKeys.UPDATE_OPS, op)
    return counters
