"""Checks that the gradients of all towers match, before the graph runs."""

from typing import TypeAlias

import tensorflow as tf

Gradient: TypeAlias = tf.Tensor | tf.IndexedSlices
GradientsAndVariables: TypeAlias = list[tuple[Gradient | None, tf.Variable]]


def plain_name(variable: tf.Variable) -> str:
    """Returns the name of a variable without its output index."""
    return variable.name.split(":")[0]


def check_variables(towers: list[GradientsAndVariables]) -> None:
    """Raises `ValueError` unless all towers list the same variables in order."""
    known = {id(v): (v, k) for k, tower in enumerate(towers) for _, v in tower}
    for k, tower in enumerate(towers):
        missing = known.keys() - {id(v) for _, v in tower}
        for key, (variable, other) in known.items():
            if key in missing:
                name = plain_name(variable)
                raise ValueError(
                    f"Tower {other} has a gradient for variable '{name}', but tower "
                    f"{k} does not. Check that the towers share their variables."
                )
    for k, tower in enumerate(towers):
        for (_, ours), (_, theirs) in zip(towers[0], tower, strict=True):
            if ours is not theirs:
                name, expected = plain_name(theirs), plain_name(ours)
                raise ValueError(
                    f"Tower {k} lists variable '{name}' where tower 0 lists "
                    f"'{expected}'. All towers must list their variables in the same "
                    "order."
                )


def check_missing(towers: list[GradientsAndVariables]) -> None:
    """Raises `ValueError` if a gradient is `None` in some towers only."""
    for pairs in zip(*towers, strict=True):
        without = [k for k, (gradient, _) in enumerate(pairs) if gradient is None]
        if 0 < len(without) < len(pairs):
            name, numbers = plain_name(pairs[0][1]), ", ".join(map(str, without))
            raise ValueError(
                f"Variable '{name}' has a gradient in some towers but not in tower "
                f"{numbers}. Check that the loss of that tower depends on it."
            )
