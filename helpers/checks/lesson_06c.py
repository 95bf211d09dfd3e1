"""The check of lesson 06c: a map of names for a Saver."""

import tempfile

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.report import answering, close, drawn, exercise, same

SCOPES = ("net", "encoder", "model/encoder", "a/b/net", "conv1")
NAMES = ("conv1/kernel", "conv1/bias", "net/kernel", "fc8/kernel", "fc8/bias",
         "encoder/net/gain", "step", "model/encoder/kernel")


@exercise(
    "Exercise 1: restore into another net",
    'begin with `variable.op.name.removeprefix(scope + "/")` of each variable',
    "Keep a name `if saved.get(name) == variable.shape.as_list()`. What is left: "
    "return those that you keep.",
)
def check_name_map(attempt):
    """Restores drawn checkpoints through what `(saved, variables, scope)` maps."""
    for scope, held, shapes in drawn(_case, 12):
        about = f"scope {scope}, saved { {k: list(v.shape) for k, v in held.items()} }"
        with tempfile.TemporaryDirectory() as folder:
            path = _saved(held, folder)
            with tf.Graph().as_default(), tf1.Session() as session:
                variables = [tf1.get_variable(f"{scope}/{name}", shape,
                                              trainable=name != "step")
                             for name, shape in shapes.items()]
                due = {name: variable for (name, shape), variable in zip(
                           shapes.items(), variables, strict=True)
                       if name in held and list(held[name].shape) == shape}
                other = tf1.get_variable(f"{scope}/of/another/net", [2])
                saved = dict(tf.train.list_variables(path))
                attempt(dict(saved), [other] * len(shapes), scope)
                found = attempt(saved, list(variables), scope)
                with answering(about):
                    names, yours = ({name: variable.op.name for name, variable in
                                     one.items()} for one in (due, found))
                yield same("holds every variable that fits, and no other", names,
                           yours, f"{about}, variables {shapes}")
                if due:
                    with answering(about):
                        tf1.train.Saver(found).restore(session, path)
                    yield ("a Saver of it restores the saved values",
                           all(close(session.run(v), held[k]) for k, v in due.items()),
                           about)


def _case(rng, size):
    """A scope, the arrays of a checkpoint, and the shapes of a graph's variables."""
    scope = SCOPES[size % len(SCOPES)]
    names = rng.choice(NAMES, min(len(NAMES), 1 + size // 2), replace=False).tolist()
    held, shapes = {"of/another/net": np.zeros(2, np.float32)}, {}
    for name in names:
        shapes[name] = rng.integers(1, 4, rng.integers(0, 4)).tolist()
        fate = rng.choice(["fits", "fits", "other shape", "transposed", "absent"])
        saved = {"other shape": [*shapes[name], 2], "transposed": shapes[name][::-1]}
        if fate != "absent":
            held[name] = rng.normal(size=saved.get(fate, shapes[name]))
        else:  # a trap: it is there with its scope, which is another variable
            held[f"{scope}/{name}"] = rng.normal(size=shapes[name])
        held[f"{name}/Momentum"] = rng.normal(size=shapes[name])
    return scope, {k: np.float32(v) for k, v in held.items()}, shapes


def _saved(held: dict[str, np.ndarray], folder: str) -> str:
    """Writes a checkpoint of these arrays; returns its path."""
    with tf.Graph().as_default(), tf1.Session() as session:
        for name, value in held.items():
            tf1.get_variable(name, initializer=value)
        session.run(tf1.global_variables_initializer())
        return tf1.train.Saver().save(session, f"{folder}/small")
