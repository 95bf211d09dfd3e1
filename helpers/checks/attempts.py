"""Detects side effects of a student's function, and calls it under harder conditions.

An attempt may change only what its exercise asks for. It must not change its arguments,
the graph's collections, or process-wide settings. In the second round of a check (see
`report`), the function has been called in the same graph before, and the batch size is
unknown.
"""

import functools
import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

VARIABLES = ("variables", "trainable_variables")
QUEUES = ("queue_runners", "summaries", "variables", "local_variables")


class Watch:
    """Recorder of the side effects of a student's function.

    Attributes:
      second: Whether a check is in its second round.
      changed: Description of the first forbidden change by the attempt, or "".
      unusual: Descriptions of the harder conditions of the last call.
    """

    second = False

    def __init__(self, adds: Iterable[str] = (), twice: bool = True,
                 unknown: bool = True):
        self.adds, self.twice, self.unknown = set(adds), twice, unknown
        self.changed = ""
        self.unusual: set[str] = set()
        self._before: list[tuple[str, Any, Any]] = []

    def over(self, attempt: Callable) -> Callable:
        """Wraps an attempt so that its side effects are recorded."""

        @functools.wraps(attempt)
        def call(*args, **options):
            self.look()
            self.unusual.clear()
            in_graph = not tf.executing_eagerly()
            if in_graph and self.second:
                args = self._of_unknown_length(args) if self.unknown else args
                self._earlier(attempt, args, options)
            given = [*enumerate(args, 1), *options.items()]
            self._before = [(f"its argument {name}", value, snapshot(value))
                            for name, value in given]
            graphs = {id(g): g for g in (getattr(v, "graph", None) for _, v in given)
                      if isinstance(g, tf.Graph)}
            if in_graph:
                graphs[id(tf1.get_default_graph())] = tf1.get_default_graph()
            lists = [(graph, _collections(graph)) for graph in graphs.values()]
            around = _surroundings()
            try:
                return attempt(*args, **options)
            finally:
                self._compare(lists, around)
                self.look()

        return call

    def look(self) -> None:
        """Records whether the last call has changed one of its arguments."""
        for name, value, before in self._before:
            if snapshot(value) != before:
                self._note(f"your answer changed {name}. Work on a copy")

    def _note(self, said: str) -> None:
        self.changed = self.changed or said

    def _compare(self, lists, around) -> None:
        for graph, before in lists:
            after = _collections(graph)
            for key in before | after:
                old, now = ([*map(id, one.get(key, []))] for one in (before, after))
                if now[: len(old)] != old:
                    self._note("your answer removed an item from the graph's "
                               f"collection {key!r}")
                elif len(now) > len(old) and key not in self.adds:
                    self._note(f"your answer added to the graph's collection {key!r}")
                elif key == "train_op" and len(now) > len(old) + 1:
                    self._note("your answer built more than one train op")
        for name, value in _surroundings().items():
            if value != around[name]:
                self._note(f"your answer changed {name} and did not restore it")
        os.environ.clear()
        os.environ.update(around["the environment variables"])
        os.chdir(around["the working folder"])

    def _earlier(self, attempt, args, options) -> None:
        """Calls the attempt once before with other tensors in the same graph."""
        if not self.twice:
            return
        graph = tf1.get_default_graph()
        before = _collections(graph)
        scope = "earlier" if self.adds & {*VARIABLES} else tf1.get_variable_scope()
        others, other_options = tf.nest.map_structure(_other, (args, options))
        with tf1.variable_scope(scope):
            attempt(*others, **other_options)
        for key in _collections(graph):
            graph.get_collection_ref(key)[:] = before.get(key, [])
        self.unusual.add("your answer has been called in this graph before")

    def _of_unknown_length(self, args: tuple) -> tuple:
        """Replaces the first dimension of each tensor argument by None."""
        def forgotten(value):
            if not _is_tensor(value) or not value.shape.rank or value.shape[0] is None:
                return value
            self.unusual.add("the batch size is unknown, that is, None")
            return value[: tf1.placeholder_with_default(tf.constant(2**31 - 1), [])]

        return tuple(map(forgotten, args))


def snapshot(value: object) -> object:
    """Returns a copy that compares equal until the value is changed in place."""
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, dict):
        return [(key, id(item), snapshot(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return [(id(item), snapshot(item)) for item in value]
    if isinstance(value, set | bytearray):
        return type(value)(value)
    if hasattr(value, "SerializeToString"):
        return value.SerializeToString(deterministic=True)
    return None


def _is_tensor(value: object) -> bool:
    return isinstance(value, tf.Tensor) and value.dtype not in (tf.resource, tf.variant)


def _other(value: Any) -> Any:
    """Returns another tensor of the same dtype, or the value if it is no tensor."""
    if not _is_tensor(value):
        return value
    return value + value if value.dtype.is_floating else tf.zeros_like(value)


def _collections(graph: tf.Graph) -> dict[str, list]:
    """Returns the items of each graph collection, without internal contexts."""
    return {key: graph.get_collection(key)
            for key in graph.get_all_collection_keys()
            if isinstance(key, str) and not key.endswith("_context")}


def _surroundings() -> dict[str, Any]:
    """Returns the process-wide settings that an attempt must not change."""
    scope = tf1.get_variable_scope()
    return {"the environment variables": dict(os.environ),
            "the working folder": os.getcwd(),
            "the level of TensorFlow's log": tf1.logging.get_verbosity(),
            "the mode of the open scope": (scope.name, scope.reuse),
            "the default graph": id(tf1.get_default_graph()),
            "the graph's seed": tf1.get_default_graph().seed}
