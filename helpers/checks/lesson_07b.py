"""Exercise check of lesson 07b: the update ops of one tower in the training op."""

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.claims import answering, drawn, exercise, near


@exercise(
    "Exercise 1: with_updates",
    "`get_collection` takes a scope, a regular expression for the beginning of "
    "a name. The name of tower_10 begins like that of tower_1, and a dot matches every "
    "character.",
    'Begin with `pattern = re.escape(tower) + "/"` and `updates = '
    "tf1.get_collection(tf1.GraphKeys.UPDATE_OPS, scope=pattern)`. What is left is to "
    "group them with `train`, with `tf.group`.",
    about={
        "runs the train op once per run":
            "The op that you return has to run `train` even if the tower has no "
            "updates.",
        "runs the updates of this tower once per run, and no others": (
            "The name of an update has to begin with the name of the tower and a "
            "slash. The same words further on in a name are another scope, and a dot "
            "stands for itself."),
    },
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
            with answering(case):
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
        yield near("runs the train op once per run", 2.0, trained, f"{case}; train ran")
        wrong = [f"update {n} of {name}_{k} ran {count:g} times instead of {due}"
                 for k, of_one in enumerate(found)
                 for n, count in enumerate(of_one, 1)
                 if count != (due := 2 * (k == asked and n <= each[k]))]
        wrong += [f"an update of another scope ran {count:g} times"
                  for count in others if count]
        yield ("runs the updates of this tower once per run, and no others", not wrong,
               f"{case}: {', '.join(wrong)}")


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
