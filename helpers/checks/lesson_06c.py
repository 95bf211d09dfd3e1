"""Exercise check of lesson 06c: the name mapping of a Saver."""

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.claims import answering, drawn, exercise

SCOPES = ("net", "encoder", "model/encoder", "a/b/net", "conv1")
NAMES = ("conv1/kernel", "conv1/bias", "net/kernel", "fc8/kernel", "fc8/bias",
         "encoder/net/gain", "step", "model/encoder/kernel")


@exercise(
    "Exercise 1: restore into another net",
    'Begin with the name of each variable without the scope, `variable.op.name.'
    'removeprefix(scope + "/")`.',
    "Keep a name `if saved.get(name) == variable.shape.as_list()`. What is left is to "
    "return the dictionary of the names that you keep.",
    about={
        "contains every variable that fits, and no other": (
            "Cut off the scope only once, at the beginning of the name, and all of "
            "its parts. Then compare the whole shape, because another shape may hold "
            "as many numbers."),
        "runs without an error": (
            "A name may be missing from the checkpoint. `saved.get(name)` returns "
            "None in this case."),
    },
)
def check_name_map(attempt):
    """Checks the mapping of checkpoint names to the variables that fit."""
    for scope, saved, shapes in drawn(_case, 12):
        about = (f"for the scope {scope!r}, the checkpoint {saved}, and the variables "
                     f"{shapes}")
        with tf.Graph().as_default():
            variables = [tf1.get_variable(f"{scope}/{name}", shape,
                                          trainable=name != "step")
                         for name, shape in shapes.items()]
            other = tf1.get_variable(f"{scope}/of/another/net", [2])
            with answering(about):
                attempt(dict(saved), [other] * len(shapes), scope)
                found = attempt(saved, list(variables), scope)
        due = {name: f"{scope}/{name}" for name, shape in shapes.items()
               if saved.get(name) == shape}
        with answering(about):
            names = {name: variable.op.name for name, variable in found.items()}
        missing = sorted(due.items() - names.items())
        wrong = sorted(names.items() - due.items())
        said = [f"it has no {key!r} for {name!r}" for key, name in missing]
        said += [f"it has {key!r} for {name!r}, which does not fit"
                 for key, name in wrong]
        yield ("contains every variable that fits, and no other", not said,
               f"{', and '.join(said)}, {about}")


def _case(rng, size):
    """Draws a scope, the shapes in a checkpoint, and the shapes of the variables."""
    scope = SCOPES[size % len(SCOPES)]
    names = rng.choice(NAMES, min(len(NAMES), 1 + size // 2), replace=False).tolist()
    saved, shapes = {"of/another/net": [2]}, {}
    for name in names:
        shapes[name] = rng.integers(1, 4, rng.integers(0, 4)).tolist()
        fate = rng.choice(["fits", "fits", "other shape", "transposed", "absent"])
        other = {"other shape": [*shapes[name], 2], "transposed": shapes[name][::-1]}
        if fate != "absent":
            saved[name] = other.get(fate, shapes[name])
        else:  # a trap: it is there with its scope, which is another variable
            saved[f"{scope}/{name}"] = shapes[name]
        saved[f"{name}/Momentum"] = shapes[name]
    return scope, saved, shapes
