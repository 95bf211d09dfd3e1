"""Common interface to run a session or a Keras model and read its tensors.

A program runs on a dictionary of inputs and returns its tensors by name, in the order
of its graph or of its calls. Its weights can be read, replaced, and restored.
"""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

Tensors = dict[str, np.ndarray]
Feeds = Mapping[str, np.ndarray]


def program(given: Any) -> "Program":
    """Wraps a model or a `(session, tensors)` pair in the common interface.

    Args:
      given: A program, in any form that `first_difference` accepts for `old`.
    """
    if isinstance(given, (tf.keras.layers.Layer, tf.Module)):
        return LayerProgram(given)
    return SessionProgram(*given)


@contextlib.contextmanager
def holding(given: "Program", values: Tensors) -> Iterator[None]:
    """Context manager that sets some weights temporarily and then restores them."""
    before = {name: w for name, w in given.weights().items() if name in values}
    try:
        given.assign(values)
        yield
    finally:
        given.assign(before)


class SessionProgram:
    """Session and tensors of its graph, in the order of execution."""

    def __init__(self, session: tf1.Session, tensors):
        self._session, graph = session, session.graph
        if not isinstance(tensors, Mapping):
            tensors = {getattr(t, "name", t).split(":")[0]: t for t in tensors}
        tensors = {name: graph.as_graph_element(t) for name, t in tensors.items()}
        # Ops are built after their inputs, so this order is a valid order of execution.
        place = {op: number for number, op in enumerate(graph.get_operations())}
        names = sorted(tensors, key=lambda name: place[tensors[name].op])
        self._tensors = {name: tensors[name] for name in names}
        self._variables = {v.op.name: v for key in ("variables", "local_variables")
                           for v in graph.get_collection(key)}

    def run(self, feeds: Feeds) -> Tensors:
        """Runs the session and returns all tensors by name, in graph order."""
        graph = self._session.graph
        fed = {graph.as_graph_element(name if ":" in name else f"{name}:0"): value
               for name, value in feeds.items()}
        return self._session.run(self._tensors, fed)

    def weights(self) -> Tensors:
        """Returns the values of all variables by name."""
        values = self._session.run(list(self._variables.values()))
        return dict(zip(self._variables, map(np.asarray, values), strict=True))

    def assign(self, values: Tensors) -> None:
        """Assigns values to the named variables."""
        with self._session.graph.as_default():
            for name, value in values.items():
                self._variables[name].load(value, self._session)


class LayerProgram:
    """Keras model with the output of every layer, or a module with named outputs.

    The output of the whole model is called `output`, unless it is a dictionary.
    """

    def __init__(self, root: tf.keras.layers.Layer | tf.Module):
        self._root, self._each = root, None
        if isinstance(root, tf.keras.Model):
            parts = {layer.name: layer.output for layer in root.layers
                     if not isinstance(layer, tf.keras.layers.InputLayer)}
            parts["output"] = root.outputs[0]
            self._names = list(parts)
            self._each = tf.keras.Model(root.inputs, list(parts.values()))

    def run(self, feeds: Feeds) -> Tensors:
        """Calls the model and returns all tensors by name, in layer order."""
        given = {name: tf.constant(value) for name, value in feeds.items()}
        if self._each is not None:
            inputs = [given.get(tensor.name) for tensor in self._root.inputs]
            values = self._each(list(given.values()) if len(given) == 1 else inputs)
            return dict(zip(self._names, map(np.asarray, values), strict=True))
        outputs = (self._root(*given.values()) if len(given) == 1
                   else self._root(**given))
        outputs = outputs if isinstance(outputs, Mapping) else {"output": outputs}
        return {name: np.asarray(value) for name, value in outputs.items()}

    def weights(self) -> Tensors:
        """Returns the values of all variables by name."""
        return {name: np.asarray(v) for name, v in self._variables().items()}

    def assign(self, values: Tensors) -> None:
        """Assigns values to the named variables."""
        variables = self._variables()
        for name, value in values.items():
            variables[name].assign(value)

    def _variables(self) -> dict:
        variables: dict[str, tf.Variable] = {}
        for v in self._root.variables:
            name = getattr(v, "path", v.name)
            variables[name if name not in variables else f"{name} {len(variables)}"] = v
        return variables


Program = SessionProgram | LayerProgram
