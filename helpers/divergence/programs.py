"""One way to run a program and see its tensors: a session, or layers.

A program runs on feeds and gives its tensors by name, in the order of its graph or of
its calls. Its weights can be read, set to one constant, and put back.
"""

import contextlib
from collections.abc import Iterator, Mapping

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

Tensors = dict[str, np.ndarray]
Feeds = Mapping[str, np.ndarray]


def program(given: object) -> "Program":
    """Returns what `first_difference` was given in the form that it walks.

    Args:
      given: `(session, tensors)`, with tensors as a list or a dictionary by name; a
        Keras layer or model; or a `tf.Module`.

    Raises:
      TypeError: it is none of these.
    """
    if isinstance(given, tuple) and len(given) == 2 and hasattr(given[0], "run"):
        return SessionProgram(*given)
    if isinstance(given, (tf.keras.layers.Layer, tf.Module)):
        return LayerProgram(given)
    raise TypeError(
        "a program is (session, tensors), a Keras layer or a tf.Module, not "
        f"{type(given).__name__}"
    )


class Program:
    """What the two kinds have in common."""

    def run(self, feeds: Feeds) -> Tensors:
        """Returns every tensor by name, in order."""
        raise NotImplementedError

    def weights(self) -> Tensors:
        """Returns every weight by name."""
        raise NotImplementedError

    def assign(self, values: Tensors) -> None:
        """Sets the weights that are named."""
        raise NotImplementedError

    @contextlib.contextmanager
    def constant_weights(self, value: float) -> Iterator[None]:
        """Holds all float weights at one value, and puts the old ones back."""
        before = {name: weight for name, weight in self.weights().items()
                  if np.issubdtype(weight.dtype, np.floating)}
        try:
            self.assign({name: np.full_like(w, value) for name, w in before.items()})
            yield
        finally:
            self.assign(before)


class SessionProgram(Program):
    """A session and some tensors of its graph, walked in the order of the graph."""

    def __init__(self, session: tf1.Session, tensors):
        self._session, graph = session, session.graph
        if not isinstance(tensors, Mapping):
            tensors = {getattr(t, "name", t).split(":")[0]: t for t in tensors}
        tensors = {name: graph.as_graph_element(t) for name, t in tensors.items()}
        # An op can only be built after its inputs, so the order of ops is one of runs.
        place = {op: number for number, op in enumerate(graph.get_operations())}
        names = sorted(tensors, key=lambda name: place[tensors[name].op])
        self._tensors = {name: tensors[name] for name in names}
        self._variables = {v.op.name: v for key in ("variables", "local_variables")
                           for v in graph.get_collection(key)}

    def run(self, feeds: Feeds) -> Tensors:
        """Returns every tensor by name, in order."""
        graph = self._session.graph
        fed = {graph.as_graph_element(name if ":" in name else f"{name}:0"): value
               for name, value in feeds.items()}
        return self._session.run(self._tensors, fed)

    def weights(self) -> Tensors:
        """Returns every weight by name."""
        values = self._session.run(list(self._variables.values()))
        return dict(zip(self._variables, map(np.asarray, values), strict=True))

    def assign(self, values: Tensors) -> None:
        """Sets the weights that are named."""
        with self._session.graph.as_default():
            for name, value in values.items():
                self._variables[name].load(value, self._session)


class LayerProgram(Program):
    """A Keras layer or a `tf.Module`: the output of each part, in order of the calls.

    A part has the name of its layer or of its attribute; what the whole returns is
    called `output`, unless it is a dictionary of tensors by name.
    """

    def __init__(self, root: tf.keras.layers.Layer | tf.Module):
        self._root = root
        self._names = {id(part): name for name, part in _parts(root, "")}
        self._kept = [part for _, part in _parts(root, "")]
        self._kinds: set[type] = {
            type(part) for part in self._kept if callable(part)}

    def run(self, feeds: Feeds) -> Tensors:
        """Returns every tensor by name, in order."""
        seen: Tensors = {}
        eager = tf.config.functions_run_eagerly()
        tf.config.run_functions_eagerly(True)  # within a graph there are no values
        try:
            with _recorded(self._kinds, self._names, seen):
                result = self._call(feeds)
        finally:
            tf.config.run_functions_eagerly(eager)
        if not isinstance(result, Mapping):
            result = {"output": result}
        return seen | {name: np.asarray(value) for name, value in result.items()}

    def _call(self, feeds):
        if len(feeds) == 1:
            return self._root(tf.constant(next(iter(feeds.values()))))
        inputs = getattr(self._root, "inputs", None)
        if inputs is None:
            return self._root(**{k: tf.constant(v) for k, v in feeds.items()})
        return self._root([tf.constant(feeds[tensor.name]) for tensor in inputs])

    def weights(self) -> Tensors:
        """Returns every weight by name."""
        return {name: np.asarray(v) for name, v in self._variables().items()}

    def assign(self, values: Tensors) -> None:
        """Sets the weights that are named."""
        variables = self._variables()
        for name, value in values.items():
            variables[name].assign(value)

    def _variables(self) -> dict:
        found: dict[str, tf.Variable] = {}
        for part in [self._root, *self._kept]:
            for v in getattr(part, "variables", ()):
                if all(v is not known for known in found.values()):
                    name = getattr(v, "path", v.name)
                    found[name if name not in found else f"{name} {len(found)}"] = v
        return found


def _parts(whole, prefix: str) -> Iterator[tuple[str, object]]:
    """Yields every layer and module within another, with its name."""
    if isinstance(whole, tf.keras.Model):
        inside = [(layer.name, layer) for layer in whole.layers]
    else:
        inside = [(key, value) for key, value in vars(whole).items()
                  if not key.startswith("_")]
    for key, value in inside:
        if isinstance(value, (list, tuple)):
            value = dict(enumerate(value))
        many = isinstance(value, Mapping)
        for place, part in (value if many else {"": value}).items():
            if isinstance(part, (tf.keras.layers.Layer, tf.Module)):
                name = f"{prefix}{key}" + (f"/{place}" if many else "")
                yield name, part
                yield from _parts(part, f"{name}/")


@contextlib.contextmanager
def _recorded(kinds: set[type], names: dict[int, str], seen: Tensors) -> Iterator[None]:
    """Writes down what each call of a named object of these classes returns."""
    owners = {next(k for k in kind.__mro__ if "__call__" in vars(k))
              for kind in kinds}
    before = {owner: owner.__call__ for owner in owners}

    def recording(call):
        def wrapped(self, *args, **kwargs):
            result = call(self, *args, **kwargs)
            if id(self) in names:
                for value in tf.nest.flatten(result)[:1]:
                    seen.setdefault(names[id(self)], np.asarray(value))
            return result

        return wrapped

    try:
        for owner, call in before.items():
            owner.__call__ = recording(call)  # type: ignore[method-assign]
        yield
    finally:
        for owner, call in before.items():
            owner.__call__ = call  # type: ignore[method-assign]
