"""Exercise check of lesson 01b: an optimizer whose variables have their own scope."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.claims import answering, drawn, exercise, near

MODES = [False, True, tf1.AUTO_REUSE]


@exercise(
    "Exercise 1: minimize_anywhere",
    "Read `Two optimizers, one slot` again. Which reuse mode may both create a "
    "variable and return an existing one?",
    "Open `with tf1.variable_scope(name, reuse=tf1.AUTO_REUSE):`. What is left to do "
    "is to call minimize inside it, and to return its result.",
    about={
        "runs without an error": (
            "If the open scope reuses, nothing can be created in it. Open a "
            "*variable* scope with a mode of its own before the optimizer creates its "
            "variables."),
        "creates the optimizer's own variables in the scope `name`": (
            "The slots are created when you apply the gradients, so the scope has to "
            "be open at that moment. Its name is the argument `name`."),
        "does not change variables that its loss does not use": (
            "If the loss does not use a variable, its gradient is None. Do not turn "
            "None into zeros, because an optimizer with momentum also moves such a "
            "variable."),
        "changes nothing else": (
            "A mode that you set on the open scope itself stays there. Open another "
            "scope in a `with` block, which gives the old mode back."),
    },
    adds=("variables", "train_op"), twice=False,
)
def check_minimize_anywhere(attempt):
    """Checks training steps of one or two optimizers against NumPy."""
    for kind, rate, mode, names, pulls, inside in drawn(_training, how_many=9):
        case = f"{kind} at {rate}, reuse={mode}, names {names}"
        with tf.Graph().as_default() as graph:
            weights = [tf1.get_variable(f"{'w' if n else 'model/w'}_{n}", [len(pull)],
                                        trainable=n < 2,
                                        initializer=tf1.ones_initializer())
                       for n, pull in enumerate(pulls)]  # one in the scope to come
            optimizers, trains = [_optimizer(kind, rate) for _ in names], []
            with tf1.variable_scope("apart"), answering(case):
                other = tf1.get_variable("other", initializer=1.0)
                shared = kind == "momentum"  # which would move on by itself
                aside = attempt(optimizers[0] if shared else _optimizer(kind, rate),
                                other**2, names[0])
            for name, optimizer in zip(names, optimizers, strict=True):
                known = tf1.global_variables()
                with tf1.variable_scope(inside or tf1.get_variable_scope(),
                                        reuse=mode), answering(case):
                    loss = sum(tf.reduce_sum(w**2 * pull)
                               for w, pull in zip(weights, pulls, strict=True))
                    trains.append(attempt(optimizer, loss, name))
                yield ("returns an op", isinstance(trains[-1], tf.Operation),
                       f"{case}: it returned {trains[-1]!r}.")
                own = [v.op.name for v in tf1.global_variables()[len(known):]]
                yield ("creates the optimizer's own variables in the scope `name`",
                       all(name in v.split("/") for v in own),
                       f"{case}: the call with `{name}` created {own}.")
            due = _by_hand(kind, rate, pulls, len(names))
            with answering(case), tf1.Session(graph=graph) as session:
                session.run(tf1.global_variables_initializer())
                session.run(aside)
                before = session.run(other)
                for step in range(6):
                    session.run(trains[step % len(trains)])
                found, after = np.concatenate(session.run(weights)), session.run(other)
        yield ("does not change variables that its loss does not use", before == after,
               f"{case}: the weight of another loss went from {before} to {after}.")
        yield near("trains as NumPy does, with separate slots for each optimizer",
                   due, found, f"{case}, after six steps in turn", 1e-4, 1e-5)


def _training(rng, size):
    """Draws an optimizer, a reuse mode, scope names, and gradients for one case."""
    kind = ["descent", "momentum", "Adam"][size % 3]
    names = [f"{word}_{rng.integers(9)}"
             for word in ("encoder", "decoder")[: 1 + size % 2]]
    pulls = [rng.integers(-2, 3, 1 + rng.integers(3)).astype(np.float32)
             for _ in range(1 + size % 4)]
    pulls[0][0] = 1.0
    mode = MODES[(size + size // 3) % 3]  # each of them with each optimizer
    return (kind, float(rng.choice([0.01, 0.02, 0.05])), mode, names, pulls,
            "model" if size % 4 > 1 else None)


def _optimizer(kind, rate):
    if kind == "momentum":
        return tf1.train.MomentumOptimizer(rate, 0.9)
    return {"descent": tf1.train.GradientDescentOptimizer,
            "Adam": tf1.train.AdamOptimizer}[kind](rate)


def _by_hand(kind, rate, pulls, optimizers):
    """Computes the weights after six training steps with NumPy."""
    moves = np.concatenate([np.full(len(p), n < 2) for n, p in enumerate(pulls)])
    pull, w = np.concatenate(pulls), np.ones(len(moves))
    m, v = np.zeros([2, optimizers, len(w)])
    for step in range(6):
        mine, t, slope = step % optimizers, step // optimizers + 1, 2 * w * pull
        if kind == "descent":
            w -= rate * slope * moves
        elif kind == "momentum":
            m[mine] = 0.9 * m[mine] + slope
            w -= rate * m[mine] * moves
        else:
            m[mine] = 0.9 * m[mine] + 0.1 * slope
            v[mine] = 0.999 * v[mine] + 0.001 * slope**2
            rate_now = rate * np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
            w -= rate_now * m[mine] / (np.sqrt(v[mine]) + 1e-8) * moves
    return w
