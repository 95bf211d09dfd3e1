"""Exercise check of lesson 13b: the first op that turns finite inputs into NaN."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.claims import answering, drawn, exercise, same

BAD = {"root": tf.sqrt, "log": tf.math.log, "ratio": tf.math.reciprocal}


@exercise(
    "Exercise 1: first_bad",
    "Walk back from `fetch.op` through `op.inputs`, and stop at ops that are fed. Then "
    "fetch all float outputs of these ops in one `session.run`.",
    "Begin with `waiting, needed = [fetch.op], []`. The walk, the run, and the search "
    "are left.",
    about={
        "names the op to blame": (
            "Infinity is as bad as NaN, and float16 and float64 are floats, too. Look "
            "at all outputs of an op, and at all of its float inputs. What lies "
            "behind a fed tensor has no say."),
        "runs one step, and no op that the fetch does not need": (
            "Collect the tensors first, and then fetch all of them in one run. Every "
            "further run takes another row from the queue."),
        "runs without an error": (
            "The graph has placeholders that nobody feeds. Run only the ops that you "
            "meet on the way back from the fetch. If the queue has too few elements, "
            "you have run the session more than once."),
    },
    twice=False, unknown=False,
)
def check_first_bad(attempt):
    """Checks an attempt on graphs with one bad op, with none, and with decoys."""
    for number, (fetch, rows, fed, due) in enumerate(drawn(_graph_with_a_fault, 20)):
        case = f"x = {fed}, where {due or 'no op'} is to blame"
        with tf1.Session(graph=fetch.graph) as session, answering(case):
            session.run("init")
            feeds = {"x:0": fed, "u:0": 1.0, "v:0": 2.0}
            if rows == 9 and fetch.op.name == "fetch":
                more = {"row:0": 3.0}  # first or last of what is fed
                feeds = more | feeds if number // 4 % 2 else feeds | more
            attempt(session, session.graph.get_tensor_by_name("x:0"),
                    feeds | {"x:0": [1.0, 1.0]})  # where nothing is bad
            found = attempt(session, fetch, feeds)
            left = session.run("left:0")
        yield same("names the op to blame", due, found, case)
        yield ("runs one step, and no op that the fetch does not need", left == rows,
               f"{case}: the queue of the graph lost {9 - left} of its rows, but "
               f"expected {9 - rows}. Each run takes another row, and so does a "
               "dequeue op that the fetch does not need")


def _graph_with_a_fault(rng, size):
    """Builds a graph in which at most one op has a bad output.

    The result is the tensor to fetch, the number of rows that a step leaves in the
    queue, the values to feed, and the name of the bad op, or None. From size 18 on, the
    bad op is the dequeue op, one of whose outputs is bad.
    """
    kind, bad = sorted(BAD)[size % 3], size % 4 != 0
    with tf.Graph().as_default():
        dtype = [tf.float32, tf.float64, tf.float16][size // 2 % 3]
        x = tf1.placeholder(dtype, [None], name="x")
        queue = tf1.FIFOQueue(9, [tf.float32] * 2, shapes=[[], []], name="rows")
        rows = np.linspace(1, 9, 9, dtype=np.float32)  # two steps do not fit together
        others = np.full(9, np.nan if size >= 18 else 1.0, np.float32)
        order = [1, -1][size % 2]  # which of the two outputs is bad
        with tf.control_dependencies([queue.enqueue_many([rows, others][::order])]):
            queue.close(name="init")  # so that too many runs fail, and none waits
        row, other = queue.dequeue()[::order]
        row = tf.identity(row, name="row")
        tf.math.log(-tf.abs(queue.dequeue()[0]), name="aside")
        never = tf1.placeholder(tf.float32, [], name="never_fed")
        tf.math.log(0.0 * never, name="unfed")
        y = x
        for step in range(size // 4):
            y = tf.multiply(y, 1.5, name=f"step_{step}")
        with tf.control_dependencies([tf.math.log(-tf.square(y), name="before")]):
            worst = BAD[kind](y)
            if size % 7 == 6:
                worst = tf.constant(np.nan, dtype, [2])
        if size >= 18:
            worst = other
            y += tf.cast(other, dtype)
        here = y if size >= 18 else tf.identity(worst, name=kind + "_seen")
        here = tf.stack(tf.unstack(here, 2))  # an op with two outputs, one of them bad
        hidden = tf.where(tf.math.is_finite(here), here, tf.zeros_like(here))
        after = [here, hidden, tf.cast(here > 0.5, dtype)][size % 3]
        for name in "uv":
            row += tf1.placeholder(tf.float32, [], name=name)
        both = [after, tf.cast(row, dtype)]
        fetch = tf.add(*both[:: 1 - size % 2 * 2], name="fetch")
        queue.size(name="left")
    first = x if size % 5 == 2 else worst
    fetch, left = (worst, 9) if size % 5 == 1 else (fetch, 9 if size % 4 == 1 else 8)
    value = np.nan if first is x else -1.0 if kind == "root" else 0.0
    value = value if bad and size < 18 else 2.0
    fed = [value, float(rng.integers(1, 9))][:: rng.choice([1, -1])]
    return fetch, left, fed, first.op.name if bad else None
