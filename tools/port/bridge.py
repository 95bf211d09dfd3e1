"""What an old name and its call are under `tensorflow.compat.v1` and legacy Keras."""

import functools
import importlib
import inspect
import types
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import tensorflow.compat.v1 as tf1
from tensorflow.tools.compatibility import all_renames_v2

from tools.port import library
from tools.port.syntax import Arguments

RENAMED = dict(
    line.split()
    for line in Path(__file__).with_name("renamed.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
)
KEYWORDS = {
    "concat": {"concat_dim": "axis"},
    "split": {"split_dim": "axis", "num_split": "num_or_size_splits"},
    "batch_matmul": {"adj_x": "adjoint_a", "adj_y": "adjoint_b"},
    "scalar_summary": {"tags": "name", "values": "tensor"},
    "histogram_summary": {"tag": "name"}, "audio_summary": {"tag": "name"},
    "image_summary": {"tag": "name", "max_images": "max_outputs"},
    "nn.sigmoid_cross_entropy_with_logits": {"targets": "labels"},
}
CROSS_ENTROPIES = tuple(f"nn.{kind}_cross_entropy_with_logits"
                        for kind in ("softmax", "sparse_softmax", "sigmoid"))
_LEGACY = "tf_keras.api._v1.keras"
_HOMES = {"layers": f"{_LEGACY}.__internal__.legacy.layers",
          "nn.rnn_cell": f"{_LEGACY}.__internal__.legacy.rnn_cell",
          "keras": _LEGACY}
MNIST = ("", "read_data_sets", "load_mnist")
INNER = ("python", "core", "tools", "examples", "models", "tensorboard")
NOTHING = object()


class Bridge(NamedTuple):
    """What `port --write` makes of a use.

    Attributes:
      name: the full name under compat.v1; `None` where it is left to the reader.
      names: what the first arguments, which stand without a name, are called.
      keywords: arguments with another name, old to new.
      refused: why this call is not taken, although the name is there.
    """

    name: str | None
    names: tuple[str, ...] = ()
    keywords: MappingProxyType | dict = MappingProxyType({})
    refused: str = ""

    @property
    def left(self) -> bool:
        """Whether somebody has to look at it."""
        return self.name is None or bool(self.refused)


@functools.cache
def bridge(path: str, call: Arguments | None) -> Bridge:
    """Returns what a name without `tf.`, called in a certain way, becomes.

    Args:
      path: `nn.dropout`, `contrib.rnn.GRUCell`.
      call: its arguments; `None` where it is not called.
    """
    name = today(path)
    if name is None or call is None:
        return Bridge(name)
    if path.startswith("contrib.layers.xavier") and (
            call.positional or "uniform" in call.keywords):
        name = f"tf_slim.{path.split('.')[-1]}"
    names = _names(path, call)
    if names and (call.open or call.positional != len(names)):
        return Bridge(name, refused="name its arguments")
    renames = {old: new for old, new in KEYWORDS.get(path, {}).items()
               if old in call.keywords}
    after = Arguments(
        max(call.positional - len(names), 0),
        (*names, *(renames.get(k, k) for k in call.keywords)), call.open, call.first,
        call.second)
    return Bridge(name, names, renames, _refusal(name, after))


def _names(path: str, call: Arguments) -> tuple[str, ...]:
    """Before TensorFlow 1.0 the axis stood first, and the logits before the labels."""
    names: tuple[str, ...] = ()
    if path == "concat" and call.first != "list" and (
            call.first == "int" or call.second == "list"):
        names = "axis", "values"
    elif path == "split" and call.positional > 2 and call.first == "int":
        names = "axis", "num_or_size_splits", "value"
    elif path in CROSS_ENTROPIES and call.positional and \
            not {"logits", "labels"} & {*call.keywords}:
        names = ("logits", "labels")[:call.positional]
    return names


def _refusal(name: str, call: Arguments) -> str:
    """Returns why a function of today does not take a call, or ""."""
    if name == "tf.image.resize_images" and call.positional > 2 \
            and call.second != "list":
        return "its size is one list, [height, width]"
    parameters = signature(_value(name))
    if parameters is None:
        return ""
    kinds = {parameter.kind for parameter in parameters}
    places = [p.name for p in parameters
              if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(places) < call.positional and inspect.Parameter.VAR_POSITIONAL not in kinds:
        return f"it takes {len(places)} arguments"
    if name.startswith("tf.nn.rnn_cell") and "input_size" in call.keywords:
        return "it takes no input_size="
    if name == "tf.nn.rnn_cell.MultiRNNCell" and call.first == "repeated":
        return "each layer needs a cell of its own, [make() for _ in range(n)]"
    known = {parameter.name for parameter in parameters}
    other = [word for word in call.keywords if word not in known]
    if other and inspect.Parameter.VAR_KEYWORD not in kinds:
        return f"it takes no {other[0]}="
    return ""


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
def today(path: str) -> str | None:
    """Returns the full name under compat.v1, `None` where nothing has it."""
    if path.split(".")[0] not in INNER and available(path):
        return f"tf.{path}"
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        new = RENAMED.get(".".join(parts[:length]))
        full = ".".join([new or "", *parts[length:]])
        if new and _value(full) is not NOTHING:
            return full
    if parts[0] in INNER and inner(path) is not NOTHING:
        return f"tf.{path}"
    renamed = all_renames_v2.symbol_renames.get(f"tf.{path}", "")
    renamed = renamed.replace("tf.compat.v1.", "tf.")
    if renamed and available(renamed[3:]) and "summary" not in path:
        return renamed
    if parts[:2] in (["python", "ops"], ["python", "framework"]) and len(parts) == 4:
        for home in ("", "nn."):
            if available(home + parts[-1]):
                return f"tf.{home}{parts[-1]}"
    return None


def legacy(name: str | None) -> bool:
    """Whether a full name stands on Keras 2."""
    return bool(name) and str(name).startswith(
        ("tf.layers", "tf.nn.rnn_cell", "tf.keras", "tf_slim"))


def available(path: str) -> bool:
    """Whether compat.v1 has a name without `tf.`, with legacy Keras where needed."""
    return _value(f"tf.{path}") is not NOTHING


@functools.cache
def _value(name: str):
    root, _, path = name.partition(".")
    if root == "tutorials_mnist":
        return root if path in MNIST else NOTHING
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


def is_library(name: str) -> bool:
    """Whether a full name is none of TensorFlow's."""
    return not name.startswith("tf.") and name != "tf"


def of(name: str, call: Arguments | None) -> Bridge:
    """Returns the bridge of any use, TensorFlow's or another library's."""
    if name.partition(".")[0] == "keras":  # of its own once, and Keras 2
        return bridge(name, call)
    if is_library(name):
        return Bridge(library.today(name))
    path = name.removeprefix("tf.")
    for prefix in ("compat.v1.", "compat.v2."):
        path = path.removeprefix(prefix)
    return bridge(path, call)
