"""Determines whether a TensorFlow 1 call still works, by running it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

VERDICTS = ("kept", "moved", "replaced", "another result", "gone")


class OldName(NamedTuple):
    """TensorFlow 1 name with an example call and its modern replacement.

    Attributes:
      name: Name without the leading `tf.`.
      call: Function that receives the module to use as `tf`, makes the call inside a
        graph, and returns a tensor or a Python value.
      today: Replacement in current code.
    """

    name: str
    call: Callable[[ModuleType], object]
    today: str


def verdict(old: OldName) -> str:
    """Determines the fate of an old name by running its old call.

    Returns:
      One of these strings:
      `"kept"` if the old call gives the same result under `tf.` as under
      `tf.compat.v1.`;
      `"moved"` if only `tf.compat.v1.` has the name and accepts the call;
      `"replaced"` if `tf.` has the name too, but rejects the old call;
      `"another result"` if `tf.` accepts the old call and returns something else;
      `"gone"` if the old call works nowhere.
    """
    new_way, old_way = _outcome(old, tf), _outcome(old, tf1)
    if isinstance(old_way, Exception):
        return "gone"
    if isinstance(new_way, Exception):
        return "moved" if isinstance(new_way, AttributeError) else "replaced"
    return "kept" if _same(new_way, old_way) else "another result"


def entered(context: AbstractContextManager) -> Any:
    """Returns the value that a context manager yields."""
    with context as value:
        return value


def _outcome(old: OldName, module: ModuleType):
    """Returns the result of the old call in a new graph, or its exception."""
    try:
        with tf.Graph().as_default() as graph:
            result = old.call(module)
            if not isinstance(result, (tf.Tensor, tf.Variable)):
                return result
            init = [tf1.global_variables_initializer(),
                    tf1.local_variables_initializer()]
            with tf1.Session(graph=graph) as session:
                session.run(init)
                return session.run(result)
    except Exception as error:  # whatever a library of another version raises
        return error


def _same(one, other) -> bool:
    """Returns whether two results are equal, or objects of the same type."""
    if isinstance(one, (np.ndarray, np.generic)):
        return np.array_equal(one, other)
    if isinstance(one, (bool, int, str, bytes, list)):
        return one == other
    return type(one) is type(other)
