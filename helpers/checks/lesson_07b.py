"""Exercise check of lesson 07b: the update ops of one tower in the training op."""

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.claims import answering, drawn, exercise, near, same


@exercise(
    "Exercise 1: with_updates",
    "`get_collection` takes a scope, a regular expression for the beginning of "
    "a name. The name of tower_10 begins like that of tower_1, and a dot matches every "
    "character.",
    'Begin with `pattern = re.escape(tower) + "/"` and `updates = '
    "tf1.get_collection(tf1.GraphKeys.UPDATE_OPS, scope=pattern)`. What is left is to "
    "group them with `train`, with `tf.group`.",
)
def check_with_updates(attempt):
    """Checks that a training op runs the update ops of one tower only."""
    for size, name, towers, asked, each in drawn(_towers, 9):
        tower = f"{name}_{asked}"
        case = f"updates of {tower}, one of {towers} towers; the op ran twice"
        with tf.Graph().as_default() as graph:
            step = tf1.get_variable("step", initializer=0.0)
            train = step.assign_add(1.0).op
            outside = [_of_tower(scope, 1)[0] for scope in
                       {f"another/{tower}", tower.replace(".", "x"), "last"} - {tower}]
            counters = [_of_tower(f"{name}_{k}", each[k]) for k in range(towers)]
            attempt(tf.no_op(), tower)  # another train op, which has no say
            op = attempt(train, tower) if size else attempt(train)
            yield ("returns an op or a tensor",
                   isinstance(op, tf.Operation) or tf.is_tensor(op),
                   f"it returned {op!r:.40}")
            init = tf1.global_variables_initializer()
        with tf1.Session(graph=graph) as session, answering(case):
            session.run(init)
            session.run(op)
            session.run(op)
            trained, others, found = session.run([step, outside, counters])
        due = [[2.0 * (k == asked)] * each[k] + [0.0] for k in range(towers)]
        yield near("runs the train op once per run", 2.0, trained, case)
        yield same("runs the updates of this tower once per run, and no others",
                   [*due, 0.0],
                   [*([float(n) for n in of_one] for of_one in found),
                    float(sum(others))],
                   f"{case}; counts of the updates of each tower, and of other scopes")


def _towers(rng, size):
    """Draws the name and the number of the towers, and their numbers of updates."""
    towers = 1 + size if size < 3 else 12
    asked = 0 if size < 2 else int(rng.integers(2))
    each = rng.integers(0, 3, towers).tolist()
    return size, ["tower", "v1.5/tower", "net/tower"][size % 3], towers, asked, each


def _of_tower(scope, updates):
    """Creates counters whose increments, except the last, are update ops."""
    counters = [tf1.get_variable(f"{scope}_{k}", initializer=0.0)
                for k in range(updates + 1)]
    with tf1.name_scope(scope):
        added = [counter.assign_add(1.0, name="norm/add").op for counter in counters]
    for op in added[:-1]:
        tf1.add_to_collection(tf1.GraphKeys.UPDATE_OPS, op)
    return counters
