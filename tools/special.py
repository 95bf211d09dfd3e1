"""What a specialised mutant calls: each makes an answer right for fewer cases.

A call that cannot change what it is given, by its type, leaves no trace in `applied`:
a mutant without a trace is none.
"""

import numpy as np
import tensorflow as tf

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
