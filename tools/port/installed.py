"""What is installed here: the names of TensorFlow, of legacy Keras and of libraries."""

import functools
import importlib
import importlib.util
import inspect
import sys
import types
import warnings
from pathlib import Path

import tensorflow.compat.v1 as tf1

from helpers.files import ROOT

INNER = ("python", "core", "tools", "examples", "models", "tensorboard")
NOTHING = object()
_LEGACY = "tf_keras.api._v1.keras"
_HOMES = {"layers": f"{_LEGACY}.__internal__.legacy.layers",
          "nn.rnn_cell": f"{_LEGACY}.__internal__.legacy.rnn_cell",
          "keras": _LEGACY}
# Of what lies beside an old program, by `tools/port/beside`.
BESIDE = {"tutorials_mnist": ("", "read_data_sets", "load_mnist"),
          "old_seq2seq": ("", "sequence_loss", "sequence_loss_by_example",
                          "batch_sequence_loss", "rnn_decoder")}
# Only these are looked into: they are there, and importing them does nothing.
_KNOWN = (sys.stdlib_module_names | {"numpy", "tf_keras"}) - {"antigravity", "this"}


def available(path: str) -> bool:
    """Whether compat.v1 has a name without `tf.`, with legacy Keras where needed."""
    return value(f"tf.{path}") is not NOTHING


@functools.cache
def value(name: str):
    """Returns what a full name under compat.v1 is, or `NOTHING`."""
    root, _, path = name.partition(".")
    if root in BESIDE:
        return root if path in BESIDE[root] else NOTHING
    if root != "tf":
        return look(importlib.import_module(root), path)
    for home, module in _HOMES.items():
        if path == home or path.startswith(home + "."):
            found = look(importlib.import_module(module), path[len(home) + 1:])
            return found if found is not NOTHING else look(tf1, path)
    return look(tf1, path)


def look(module, path: str):
    """Returns the value of a dotted name; `NOTHING` for none and for a tombstone."""
    value = module
    try:
        for part in filter(None, path.split(".")):
            if isinstance(value, types.ModuleType) and not hasattr(value, part):
                importlib.import_module(f"{value.__name__}.{part}")
            value = getattr(value, part)
    except Exception:  # a name that Keras 3 put to rest raises what it likes
        return NOTHING
    return value


def inner(path: str):
    """Returns the value of a name of TensorFlow's inner modules, or `NOTHING`."""
    parts = ["tensorflow", *path.split(".")]
    for length in range(len(parts), 1, -1):
        try:
            module = importlib.import_module(".".join(parts[:length]))
        except Exception:  # an inner module of another version breaks as it likes
            continue
        return look(module, ".".join(parts[length:]))
    return NOTHING


def signature(function) -> list[inspect.Parameter] | None:
    """Returns the parameters of a function or class, `None` for what is neither.

    Asking `FLAGS` for anything makes it read this program's own command line.
    """
    if not (inspect.isroutine(function) or inspect.isclass(function)):
        return None
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


@functools.cache
def resolves(name: str) -> bool:
    """Whether a dotted name is there; what is no module's own is taken for there."""
    package, *rest = name.split(".")
    with warnings.catch_warnings():  # NumPy warns of names that it will take
        warnings.simplefilter("ignore")
        try:
            value = importlib.import_module(package)
            for number, part in enumerate(rest, 1):
                if not isinstance(value, types.ModuleType):
                    return True
                if not hasattr(value, part):
                    importlib.import_module(".".join([package, *rest[:number]]))
                value = getattr(value, part)
        except Exception:  # whatever an import says
            return False
    return True


def is_gone(name: str) -> bool:
    """Whether the library that is installed here, Python's or NumPy, lacks a name."""
    return name.partition(".")[0] in _KNOWN and not resolves(name)


@functools.cache
def is_package(module: str) -> bool:
    """Whether a module is there without the project."""
    try:
        found = importlib.util.find_spec(module.partition(".")[0])
    except (ImportError, ValueError):
        return False
    if found is None or found.origin is None:  # a folder that holds no package
        return False
    home = Path(found.origin).parent
    return ROOT not in (home, home.parent)  # a folder of this course's own
