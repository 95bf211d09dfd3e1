"""Exercise check of lesson 08b: an update of some of the variables."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.claims import answering, drawn, exercise, near

NAMES = ("decoder/w", "decoder_2/w", "encoder/conv/kernel", "look/decoder/b",
         "encoder/bias", "decoder/gru/b", "decode")


@exercise(
    "Exercise 1: phase_update",
    "`tf1.trainable_variables` matches the beginning of a name. End it with a slash.",
    "`variables = [v for scope in scopes for v in "
    'tf1.trainable_variables(f"{scope}/")]`. What is left are the gradients, clipped '
    "by their global norm, and a plain step.",
    about={
        "leaves all other variables as they are": (
            "The name of a variable has to *begin* with a scope and a slash, and only "
            "trainable variables move."),
        "moves the variables inside the scopes by one step": (
            "All gradients of the step have one common length, to which variables "
            "outside the scopes do not belong. The gradients are shortened only if "
            "this length is above `clip`."),
    },
    adds=["train_op"],
)
def check_phase_update(attempt):
    """Checks a clipped gradient step that updates only some scopes."""
    for case in drawn(_case, 12):
        values, factors, scopes, rate, clip = case
        before, after = _run(attempt, *case)
        due = [before, *_oracle(before, factors, scopes, rate, clip)]
        text = (f"with the variables {', '.join(values)}, the scopes {scopes}, rate "
                f"{rate:.2f} and clip {clip:.2f}")
        for name in values:
            inside = name in _inside(values, scopes)
            claim = ("moves the variables inside the scopes by one step" if inside
                     else "leaves all other variables as they are")
            for run in (1, 2):
                yield near(claim, due[run][name], after[run - 1][name],
                           f"{text}, {name} after {run} runs", 1e-4 * inside,
                           1e-5 * inside)


def _case(rng, size):
    near = ["decoder/w", "decoder_2/w", "encoder/bias", "look/decoder/b", "look/b"]
    others = [str(name) for name in rng.permutation(NAMES) if name not in near]
    names = rng.permutation([*near, *others][: 5 + size % 4]).tolist()
    shapes = [tuple(rng.integers(1, 4, rng.integers(0, 3))) for _ in names]
    values = {name: np.float32(rng.normal(0, 3, shape))
              for name, shape in zip(names, shapes, strict=True)}
    # The loss is the sum of factor * value ** 2 / 2; with a factor of 0, the variable
    # does not matter.
    factors = {name: float(rng.choice([0.5, 1.0, -2.0] if name in near else [0.0, 1.0]))
               for name in values}
    scopes = [["decoder"], ["encoder"], ["decoder", "encoder", "look"],
              ["look"], ["look/decoder"]][size % 5]
    return (values, factors, scopes, float(rng.uniform(0.05, 0.5)),
            float(rng.choice([0.5, 2.0, 1e3])))


def _inside(values, scopes):
    return [name for name in values
            if any(name.startswith(scope + "/") for scope in scopes)]


def _oracle(before, factors, scopes, rate, clip):
    """Computes the expected values of all variables after one and two steps."""
    inside, values, steps = _inside(before, scopes), dict(before), []
    for _ in range(2):
        gradients = {name: factors[name] * values[name] for name in inside}
        length = np.sqrt(sum((g.astype(float) ** 2).sum() for g in gradients.values()))
        short = min(1.0, clip / length) if length else 1.0
        values = {name: value - rate * short * gradients.get(name, 0.0)
                  for name, value in values.items()}
        steps.append(values)
    return steps


def _run(attempt, values, factors, scopes, rate, clip):
    with tf.Graph().as_default(), tf1.Session() as session:
        variables = {name: tf1.get_variable(name, initializer=value)
                     for name, value in values.items()}
        still = tf1.get_variable(f"{scopes[0]}/still", initializer=9.0, trainable=False)
        loss = tf.add_n([still] + [
            factors[name] * tf.reduce_sum(v * v) / 2
            for name, v in variables.items() if factors[name]])
        if len(values) == 5:
            loss -= tf.stop_gradient(loss)  # a loss of 0 has a gradient, too
        with answering(f"with variables {', '.join(values)} and scopes {scopes}"):
            update = attempt(loss, scopes, rate, clip)
            session.graph.as_graph_element(update)  # fails for a list
            session.run(tf1.global_variables_initializer())
            before, after = session.run(variables), []
            for _ in range(2):
                session.run(update)
                after.append(session.run(variables))
    return before, after
