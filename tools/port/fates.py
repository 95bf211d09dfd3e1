"""What became of a name and of its call, looked up in the installed TensorFlow."""

import functools
import importlib
import importlib.util
import inspect
import types
from typing import NamedTuple

import tensorflow as tf
import tensorflow.compat.v1 as tf1
from tensorflow.tools.compatibility import all_renames_v2

from helpers.tf1_names import LATER_NAMES, SOURCE_NAMES
from tools.port import advice
from tools.port.names import Arguments

VERDICTS = ("kept", "moved", "replaced", "another result", "gone")
_TODAY = {old.name: old.today
          for names in [*SOURCE_NAMES.values(), LATER_NAMES] for old in names}
_NO = object()


class Fate(NamedTuple):
    """What the report says of one use of a name.

    Attributes:
      name: the part of the full name that is TensorFlow's: what follows belongs to a
        value and not to a module or class.
      verdict: `kept`: the call stands as it is; `moved`: `tf.compat.v1` has it;
        `replaced`: `tf` has the name, not for this call; `another result`: `tf`
        takes this call and gives something else; `gone`: nothing has it.
      instead: what to write.
      lesson: the number of the lesson that shows it, two digits.
    """

    name: str
    verdict: str
    instead: str
    lesson: str


def exists(name: str) -> bool:
    """Whether some TensorFlow had this full name, `tf.x.y`."""
    path = name.removeprefix("tf.")
    return (_look(tf1, path) is not _NO or _look(tf, path) is not _NO
            or name in all_renames_v2.symbol_renames)


@functools.cache
def fate(name: str, call: Arguments | None) -> Fate:
    """Returns what became of a full name, called in a certain way.

    Args:
      name: `tf.nn.dropout`, `tf.compat.v1.Session`, `tf.python.ops.rnn_cell`.
      call: its arguments; `None` where it stands without a call.
    """
    path = name.removeprefix("tf.")
    if path == "Dimension.value":
        return Fate("shape[...].value", "gone", "shape[...]: an axis is an int", "10")
    for prefix, module in (("compat.v1", tf1), ("compat.v2", tf)):
        if path == prefix or path.startswith(prefix + "."):
            return _written_today(name, module, path[len(prefix) + 1:])
    if path.split(".")[0] in ("python", "core", "tools", "examples", "models",
                              "tensorboard"):
        return _private(name, path)
    path = _cut(path)
    lesson = advice.lesson(path)
    verdict, instead = _verdict(path, call)
    return Fate(f"tf.{path}", verdict, instead, lesson)


def _verdict(path: str, call: Arguments | None) -> tuple[str, str]:
    old, new = _look(tf1, path), _look(tf, path)
    if path.split(".")[0] == "keras":
        return _keras(path, call, new)
    if old is _NO and new is _NO:
        return "gone", _instead_of_gone(path)
    if new is _NO:
        return "moved", _instead_of_moved(path)
    if old is _NO:
        return ("replaced", f"tf.{path} is another thing") \
            if f"tf.{path}" in all_renames_v2.symbol_renames else ("kept", f"tf.{path}")
    if path in advice.ANOTHER_THING:
        return "replaced", advice.ANOTHER_THING[path]
    if path in advice.AXIS_FIRST and call and call.number_first:
        return "replaced", advice.AXIS_FIRST[path]
    if wrong := _misfit(old, new, path, call):
        return "replaced", wrong
    if old is not new and (other := advice.another_result(path, call)):
        return "another result", other
    return "kept", f"tf.{path}"


def _misfit(old, new, path: str, call: Arguments | None) -> str:
    """Says which argument of a call today's function does not take, or ""."""
    if old is new or isinstance(old, types.ModuleType):
        return ""
    before, after = _parameters(old), _parameters(new)
    if before is None or after is None or call is None:
        return ""
    renamed = advice.keywords(f"tf.{path}")
    names = [*before][:call.positional]
    for place, (one, other) in enumerate(zip(names, after, strict=False), 1):
        if one != other and (one, other) not in advice.SAME_PLACE:
            return f"tf.{path}({one}=...): argument {place} is {other} today"
    for keyword in [*names[len(after):], *call.keywords]:
        if keyword not in after and after.get("**") is None and keyword in before:
            other = renamed.get(keyword, "")
            return (f"tf.{path}({other}=...) for {keyword}=" if other else
                    f"tf.{path} without {keyword}=")
    lost = [k for k in before if k not in after and k not in names]
    if call.open and lost:
        return f"tf.{path}: see that the dictionary has none of {', '.join(lost)}"
    return ""


@functools.cache
def _parameters(function) -> dict | None:
    """Returns names of parameters in order; "**" stands for any keyword."""
    if inspect.isclass(function):
        function = function.__init__
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return {"**" if p.kind is p.VAR_KEYWORD else p.name: p for p in found
            if p.name != "self" and p.kind is not p.VAR_POSITIONAL}


def _look(module, path: str):
    """Returns the value of a dotted name, `_NO` where there is none or a tombstone."""
    value = module
    try:
        for part in path.split("."):
            value = getattr(value, part)
    except Exception:  # a name that Keras 3 put to rest raises what it likes
        return _NO
    return value


def _cut(path: str) -> str:
    """Returns the part of a dotted name that is TensorFlow's own."""
    parts = path.split(".")
    for length in range(1, len(parts)):
        value = _look(tf1, ".".join(parts[:length]))
        if value is _NO:
            value = _look(tf, ".".join(parts[:length]))
        if value is _NO and parts[0] not in ("contrib", "layers", "estimator", "nn"):
            return path
        if value is not _NO and not isinstance(value, types.ModuleType) \
                and not inspect.isclass(value):
            return ".".join(parts[:length])
    return path


def _written_today(name: str, module, path: str) -> Fate:
    """The fate of what is written with `compat.v1` or `compat.v2` already."""
    path = path and _cut(path)
    if not path or _look(module, path) is not _NO:
        return Fate(name, "kept", name, advice.lesson(path))
    return Fate(name, "gone", _instead_of_gone(path), advice.lesson(path))


def _private(name: str, path: str) -> Fate:
    """The fate of a name from TensorFlow's inner modules."""
    written = "tensorflow." + path
    known = advice.longest(path, advice.PRIVATE)
    parts = written.split(".")
    for length in range(len(parts), 1, -1):
        module = ".".join(parts[:length])
        try:
            found = importlib.import_module(module)
        except Exception:  # an inner module of another version breaks as it likes
            continue
        if length == len(parts) or _look(found, ".".join(parts[length:])) is not _NO:
            return Fate(written, "moved", known or "a private module: find the public "
                        f"tf.compat.v1.{parts[-1]} or copy what you need", "10")
        break
    return Fate(written, "gone", known or "TensorFlow's own parts moved: find the "
                f"public name of {parts[-1]}", "10")


def _keras(path: str, call: Arguments | None, new) -> tuple[str, str]:
    """Keras 2's names under Keras 3; `tf_keras` is Keras 2, and says what it took."""
    if new is _NO:
        return "gone", advice.longest(path, advice.GONE) or (
            "tf_keras, or TF_USE_LEGACY_KERAS=1 in the environment")
    after = _parameters(new)
    if call and after is not None and "**" not in after:
        for keyword in call.keywords:
            if keyword not in after:
                return "replaced", f"tf.{path} without {keyword}="
    if call and (other := advice.KERAS_KEYWORDS.keys() & set(call.keywords)):
        keyword = sorted(other)[0]
        return "replaced", f"tf.{path}: {advice.KERAS_KEYWORDS[keyword]}"
    if other := advice.longest(path, advice.KERAS_RESULTS):
        return "another result", other
    return "kept", f"tf.{path}"


def _instead_of_moved(path: str) -> str:
    if path in _TODAY:
        return _TODAY[path]
    if known := advice.longest(path, advice.MOVED):
        return known
    renamed = all_renames_v2.symbol_renames.get(f"tf.{path}", "")
    if renamed and _look(tf, renamed.removeprefix("tf.")) is not _NO:
        return renamed
    return f"tf.compat.v1.{path}"


def _instead_of_gone(path: str) -> str:
    if path in _TODAY:
        return _TODAY[path]
    parts = path.split(".")
    if parts[:2] == ["contrib", "slim"] or parts[:2] in advice.SLIM_PARTS:
        rest = parts[2:]
        if not rest or _in_slim(rest):
            return ".".join(["tf_slim", *rest]) + " (package tf-slim)"
    if known := advice.longest(path, advice.GONE):
        return known
    renamed = all_renames_v2.symbol_renames.get(f"tf.{path}", "")
    if renamed and _look(tf, renamed.removeprefix("tf.")) is not _NO:
        return renamed
    return "nothing: write it yourself, or keep TensorFlow 1.15 for it"


def _in_slim(rest: list[str]) -> bool:
    if importlib.util.find_spec("tf_slim") is None:
        return True
    return _look(importlib.import_module("tf_slim"), ".".join(rest)) is not _NO
