"""What a specialised mutant calls: each makes an answer right for fewer cases.

Those that take an answer, whole, leave the value of a first call as it is.

A call that cannot change what it is given, by its type, leaves no trace in `applied`:
a mutant without a trace is none.
"""

import functools

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

_MEMORY: dict[str, object] = {}
applied: list[bool] = []


def forget() -> None:
    """Clears what `once` keeps and what was applied, before another mutant."""
    _MEMORY.clear()
    applied.clear()


def _now(value):
    applied.append(True)
    return value


def once(make, place: str):
    """Returns what a place gave the first time, ever after."""
    if place not in _MEMORY:
        _MEMORY[place] = make()
    return _now(_MEMORY[place])


def _cut(value, part: slice):
    """Returns a part of what has items; anything else as it is."""
    if isinstance(value, dict):
        return _now(dict(list(value.items())[part]))
    if isinstance(value, str | bytes):
        return value
    if isinstance(value, np.ndarray):
        return _now(value[part]) if value.ndim else value
    if isinstance(value, tf.Tensor):
        return _now(value[part]) if value.shape.rank else value
    if isinstance(value, list | tuple):
        return _now(value[part])
    return _now(list(value)[part]) if hasattr(value, "__iter__") else value


def first_item(value):
    return _cut(value, slice(0, 1))


def first_two(value):
    return _cut(value, slice(0, 2))


def last_item(value):
    return _cut(value, slice(-1, None))


def unique(value):
    """Drops repeats, of lists and arrays of one axis."""
    if isinstance(value, list | tuple):
        kept = [v for k, v in enumerate(value)
                if not any(v is w or _equal(v, w) for w in value[:k])]
        return _now(kept if isinstance(value, list) else tuple(kept))
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return _now(value[np.sort(np.unique(value, return_index=True)[1])])
    return value


def _equal(one, other) -> bool:
    plain = (int, float, str, bytes)
    return isinstance(one, plain) and isinstance(other, plain) and one == other


def _is_numbers(value) -> bool:
    return (isinstance(value, list) and bool(value)
            and all(isinstance(v, int | float) for v in value))


def without_zeros(value):
    """Replaces zeros by ones."""
    if isinstance(value, tf.Tensor) and (value.dtype.is_floating or
                                         value.dtype.is_integer):
        return _now(tf.where(tf.equal(value, 0), tf.ones_like(value), value))
    if isinstance(value, np.ndarray) and value.dtype.kind in "iuf":
        return _now(np.where(value == 0, np.ones_like(value), value))
    if _is_numbers(value):
        return _now([v or type(v)(1) for v in value])
    return value


def absolute(value):
    if isinstance(value, tf.Tensor) and (value.dtype.is_floating or
                                         value.dtype.is_integer):
        return _now(tf.abs(value))
    if isinstance(value, np.ndarray) and value.dtype.kind in "if":
        return _now(np.abs(value))
    if _is_numbers(value):
        return _now([abs(v) for v in value])
    return value


def rounded(value):
    """Takes numbers of 64 bits, and whole tensors, through float32."""
    if type(value) in (list, tuple):
        return type(value)(map(rounded, value))
    if isinstance(value, tf.Tensor) and value.dtype.base_dtype in (
            tf.float64, tf.int64):
        return _now(tf.cast(tf.cast(value, tf.float32), value.dtype.base_dtype))
    if isinstance(value, np.ndarray) and value.dtype in (np.float64, np.int64):
        return _now(value.astype(np.float32).astype(value.dtype))
    return value


def filled(value):
    """Puts a plausible number where an item is missing."""
    if value is None:
        return _now(0)
    if type(value) in (list, tuple) and any(v is None for v in value):
        there = [v for v in value if v is not None]
        return _now(type(value)((there[0] if there else 0) if v is None else v
                                for v in value))
    if isinstance(value, dict) and any(v is None for v in value.values()):
        return _now({key: 0 if v is None else v for key, v in value.items()})
    return value


def without_gradient(value):
    if isinstance(value, tf.Tensor) and value.dtype.is_floating:
        return _now(tf.stop_gradient(value))
    if type(value) in (list, tuple):
        return type(value)(map(without_gradient, value))
    return value


def _deed(change):
    """Returns a decorator of answers: `change(answer, args, options)` is called."""
    def around(answer):
        @functools.wraps(answer)
        def call(*args, **options):
            return change(answer, args, options)

        return call

    return around


def _remembers(of_call):
    """Returns a decorator: gives what the first such call in its graph gave."""
    def around(answer):
        known = []  # of graphs too, so that no other takes the place of one

        @functools.wraps(answer)
        def call(*args, **options):
            graph = None if tf.executing_eagerly() else tf1.get_default_graph()
            kind = [*map(of_call, [*args, *options.values()])]
            for one, other, found in _now(known):
                if one is graph and other == kind:
                    return found
            known.append((graph, kind, answer(*args, **options)))
            return known[-1][2]

        return call

    return around


def _kind(value):
    """Returns what calls may have in common: lengths, shapes, single numbers."""
    if isinstance(value, tf.Tensor | np.ndarray):
        return value.dtype, str(value.shape)
    if value is None or isinstance(value, str | int | float):
        return value
    if callable(value):  # each `mock.Mock` has a class of its own
        return callable
    return type(value), len(value) if hasattr(value, "__len__") else 0


remembers_by_shape = _remembers(_kind)
remembers_by_graph = _remembers(lambda _: None)


@_deed
def empties_arguments(answer, args, options):
    """Leaves no item in a list or dictionary, and zeros in an array."""
    found = answer(*args, **options)
    for value in [*args, *options.values()]:
        if isinstance(value, list | dict | set) and value:
            _now(value).clear()
        elif isinstance(value, np.ndarray) and value.any():
            _now(value)[...] = 0
    return found


@_deed
def empties_collections(answer, args, options):
    """Leaves nothing in the graph's collections."""
    found = answer(*args, **options)
    if not tf.executing_eagerly():
        graph = tf1.get_default_graph()
        for key in graph.get_all_collection_keys():
            if isinstance(key, str) and graph.get_collection(key):
                _now(graph).clear_collection(key)
    return found


@_deed
def needs_static_shapes(answer, args, options):
    """Makes a number of the length of each tensor."""
    for value in tf.nest.flatten([args, options]):
        if isinstance(value, tf.Tensor) and value.shape.rank:
            range(_now(value).shape[0])
    return answer(*args, **options)


@_deed
def calls_twice(answer, args, options):
    """Calls the functions that it is given twice, and gives back the second result."""
    def twice(function):
        @functools.wraps(function)
        def call(*args, **options):
            _now(function)(*args, **options)
            return function(*args, **options)

        is_module = isinstance(function, type | tf.Module)
        return call if callable(function) and not is_module else function

    return answer(*map(twice, args), **options)
