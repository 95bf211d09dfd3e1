"""Determines whether TensorFlow 2 still has a name and accepts its call."""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tf1tools.port.names.today import is_tensorflow, refusal, renamed, today
from tf1tools.port.rule import hooks_of, row_of, verdicts, words_of
from tf1tools.port.table.known import (
    BESIDE,
    INNER,
    NOTHING,
    Known,
    inner,
    is_same,
    look,
    section,
    signature,
    value,
)
from tf1tools.port.text.syntax import Arguments

EAGER = ("tf.function", "tf.GradientTape", ".numpy()")
VERDICTS = ("kept", "moved", "replaced", "another result", "gone")
_PLACES = {
    "tf_slim": " (package tf-slim, with slim_shim.py)",
    **{name: f" (tf1tools/port/beside/{name}.py next to the program)"
       for name in BESIDE},
}
# Arguments that were renamed but kept their position, and that are missing in
# TensorFlow's own table.
_SAME_PLACE = {"keep_prob": "rate", "device_name_or_function": "device_name",
               "uniform_noise": "noise", "tensor": "data", "values": "data"}


class Fate(NamedTuple):
    """Verdict on one use of an old TensorFlow name, with its replacement.

    Attributes:
      name: The part of the full name that belongs to TensorFlow. Attributes of a value
        are removed.
      verdict: `kept` if the call needs no change, `moved` if only `tf.compat.v1` has
        the name, `replaced` if `tf` has the name but rejects this call, `another
        result` if `tf` accepts the call but returns something else, and `gone` if
        neither has the name.
      instead: Text that says what to write.
      lesson: Number of the lesson that shows the name, such as `10a`.
    """

    name: str
    verdict: str
    instead: str
    lesson: str


def exists(name: str) -> bool:
    """Returns whether any version of TensorFlow has had a given full name."""
    path = name.removeprefix("tf.")
    return (look("tf1", path) is not NOTHING or look("tf2", path) is not NOTHING
            or name in section("renamed"))


@functools.cache
def fate(name: str, call: Arguments | None) -> Fate:
    """Returns whether TensorFlow 2 keeps, moves or drops a name, with a replacement.

    Args:
      name: Full name, such as `tf.nn.dropout`, `tf.compat.v1.Session`, `numpy.float` or
        `xrange`.
      call: Arguments of the call, or `None` if the name is not called.
    """
    if not (is_tensorflow(name) or name.startswith("keras")):
        return Fate(name.removeprefix("builtins."), "gone", _of_library(name), "10a")
    path = name.removeprefix("tf.")
    for prefix, space in (("compat.v1", "tf1"), ("compat.v2", "tf2")):
        if path == prefix or path.startswith(prefix + "."):
            return _written_today(name, space, path[len(prefix) + 1:])
    if path.split(".")[0] in INNER:
        return _private(path)
    path = _cut(path)
    verdict, instead = _of_call(path, call) or _verdict(path, call)
    return Fate(f"tf.{path}", verdict, instead, lesson(path))


def _of_library(name: str) -> str:
    """Returns the replacement for a removed name of Python or another library."""
    row, new = row_of(name), today(name)
    if new:
        python3 = row is not None and row.rule.since == "Python 3.0"
        return new.lstrip(".") + (", in Python 3" if python3 else "")
    return row and row.words or (
        "no current package has this name: write the code yourself")


def _of_call(path: str, call: Arguments | None) -> tuple[str, str] | None:
    """Returns a verdict if the arguments of a call were renamed or are rejected."""
    new = today(f"tf.{path}")
    if call is None or new is None:
        return None
    if refused := refusal(f"tf.{path}", call):
        return "replaced", f"tf.{path}: {refused}"
    words = renamed(f"tf.{path}", call)
    if words and look("tf1", path) is not NOTHING:
        return "replaced", f"{new} with {', '.join(f'{w}=' for w in words.values())}"
    return None


def _verdict(path: str, call: Arguments | None) -> tuple[str, str]:
    """Returns verdict and replacement, by comparing TensorFlow 1, 2 and the rules."""
    old, new = look("tf1", path), look("tf2", path)
    keras = path.split(".")[0] == "keras"
    if new is NOTHING:
        return ("gone", _instead_of_gone(path)) if keras or old is NOTHING else (
            "moved", _instead_of_moved(path))
    if old is NOTHING and not keras and f"tf.{path}" in section("renamed"):
        return "replaced", f"tf.{path} has another meaning today"
    if old is NOTHING and not keras:
        return "kept", f"tf.{path}"
    said = verdicts(f"tf.{path}", call)
    own = "" if is_same(path) or keras else _own_words(path)
    if words := own or said.get("replaced"):
        return "replaced", words
    if is_same(path):
        return "kept", f"tf.{path}"
    if wrong := _misfit(old, new, path, call):
        return "replaced", wrong
    if words := said.get("another result"):
        return "another result", words
    return "kept", f"tf.{path}"


def _misfit(old: Known, new: Known, path: str, call: Arguments | None) -> str:
    """Returns the first mismatch between a call and the new signature, or ""."""
    before, after = signature(old), signature(new)
    if call is None or after is None or old.kind == "m":
        return ""
    other = {**_SAME_PLACE, **_renamed_arguments(path)}
    given = before.names[:call.positional] if before else []
    for place, (one, its_place) in enumerate(zip(given, after.names, strict=False), 1):
        if its_place not in (one, other.get(one)):
            return f"tf.{path}({one}=...): argument {place} is {its_place} today"
    for word in [*given[len(after.names):], *call.keywords]:
        known = before is None or word in before.names  # Keras 2 is in the table
        if known and word not in after.names and not after.any_keyword:
            return (f"tf.{path}({other[word]}=...) for {word}=" if word in other else
                    f"tf.{path} without {word}=")
    lost = [] if before is None else [
        word for word in before.names if word not in [*after.names, *given]]
    if call.open and lost:
        return f"tf.{path}: the dictionary must contain none of {', '.join(lost)}"
    return ""


def _renamed_arguments(path: str) -> dict[str, str]:
    """Returns the arguments that TensorFlow's upgrade table renames."""
    words = section("arguments").get(f"tf.{path}", [])
    return {old: new for old, _, new in (word.partition(":") for word in words)}


def _cut(path: str) -> str:
    """Removes the attributes of a value from the end of a dotted TensorFlow name."""
    parts = path.split(".")
    for length in range(1, len(parts)):
        value = look("tf1", ".".join(parts[:length]))
        if value is NOTHING:
            value = look("tf2", ".".join(parts[:length]))
        if value is NOTHING:
            if parts[0] not in ("contrib", "layers", "estimator", "nn"):
                return path
        elif value.kind not in ("m", "c"):
            return ".".join(parts[:length])
    return path


def _written_today(name: str, space: str, path: str) -> Fate:
    """Returns the fate of a name that is already written with `compat.v1`."""
    path = path and _cut(path)
    if not path or look(space, path) is not NOTHING:
        return Fate(name, "kept", name, lesson(path))
    return Fate(name, "gone", _instead_of_gone(path), lesson(path))


def _private(path: str) -> Fate:
    """Returns the fate of a name from TensorFlow's private modules."""
    written, new = "tensorflow." + path, today(f"tf.{path}")
    known = words_of(f"tf.{path}")
    if inner(path) is not NOTHING and new == f"tf.{path}":
        return Fate(written, "moved", known or "a private module: use the public name "
                    "in tf.compat.v1, or copy the code", "10a")
    if new:
        known = _written(new) + (f", or {known}" if known else "")
    return Fate(written, "gone", known or "TensorFlow's private modules moved: find "
                f"the public name of {path.split('.')[-1]}", "10a")


def _own_words(path: str) -> str:
    """Returns the remark in a name's own table row, or ""."""
    row = row_of(f"tf.{path}")
    return row.words if row and row.old == f"tf.{path}" else ""


def _of_the_course(path: str) -> str:
    """Returns the remark on a name in the course's table of names, or ""."""
    return " ".join(section("words").get(path, ()))


def _instead_of_moved(path: str) -> str:
    """Returns the replacement for a name that only `tf.compat.v1` has."""
    name = f"tf.{path}"
    if known := _own_words(path) or _of_the_course(path) or words_of(name):
        return known
    other = " ".join(section("renamed").get(name, ()))
    there = other and look("tf2", other.removeprefix("tf.")) is not NOTHING
    return other if there else f"tf.compat.v1.{path}"


def _instead_of_gone(path: str) -> str:
    """Returns the replacement for a name that TensorFlow no longer has."""
    found = today(f"tf.{path}")
    other = (words_of(found) if found else "") or _of_the_course(path) or \
        words_of(f"tf.{path}")
    if found is None:
        return other or "no replacement: write the code yourself, or use TensorFlow 1"
    if _needs_keras_2(found) and other:
        return f"{_written(found)}; in Keras 3 {other}"
    return _written(found)


def _written(full: str) -> str:
    """Returns a `compat.v1` name as the reader has to write it."""
    root, _, path = full.partition(".")
    if root != "tf":
        return full + _PLACES[root]
    if _needs_keras_2(full):
        return f"tf.compat.v1.{path} with TF_USE_LEGACY_KERAS=1"
    return full if look("tf2", path) is not NOTHING else f"tf.compat.v1.{path}"


def runs_as(name: str) -> str:
    """Returns what a name becomes in a copy by `port --write`, or "" if nothing fits.

    Args:
      name: Full name, as in `Fate`.
    """
    full = today(name)
    if full is None or full.partition(".")[0] != "tf":
        return (full or "").lstrip(".")
    path = full.removeprefix("tf.")
    inner_module = path.split(".")[0] in INNER
    return f"tensorflow.{path}" if inner_module else f"tf.compat.v1.{path}"


def _needs_keras_2(name: str) -> bool:
    """Returns whether a current name needs legacy Keras."""
    return any(need.what == "legacy keras" for hook in hooks_of("writes", name)
               for need in hook.ask(name, None))


def lesson(path: str) -> str:
    """Returns the lesson that shows a name, or 10a if no lesson does."""
    parts = path.split(".")
    starts = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next(filter(None, map(_lessons().get, starts)), "10a")


@functools.cache
def _lessons() -> Mapping[str, str]:
    """Reads the table that maps names to lesson numbers."""
    text = (Path(__file__).parents[1] / "table" / "sittings.txt").read_text("utf-8")
    return dict(line.split() for line in text.splitlines())


def age(use) -> str:
    """Returns whether the use of a name suggests TensorFlow 1 or 2, or neither.

    A name or call that TensorFlow 2 no longer accepts belongs to TensorFlow 1. A name
    or call that only TensorFlow 2 accepts belongs to TensorFlow 2, because no program
    of TensorFlow 1 could run with it. If both versions accept it, even with another
    result, it says nothing. A few features, such as `tf.function` and
    `tf.constant(3).numpy()`, exist in TensorFlow 1.15 too, but few programs used them.

    Returns:
      "old", "today's", "eager" for one of these few features, or "".
    """
    name = use.name
    if name in EAGER:
        of_tf = name[0] != "." or use.part.file.origins.of(use.receiver) == {"tf"}
        return "eager" if of_tf else ""
    if use.call and any(hook.ask(use.call) for hook in hooks_of("sign", name)):
        # Methods of models show the age of the package keras; tf.keras had them too.
        of_keras = name[0] != "." or use.part.file.project.has_keras(use.part.file)
        return "old" if of_keras else ""
    if name.partition(".")[0] == "keras":
        return _age_of_keras(use)
    if not is_tensorflow(name) or name.startswith(("tf.keras", "tf.compat")):
        return ""
    if name[3:].split(".")[0] in INNER and inner(name[3:]) is not NOTHING:
        return ""  # programs of both versions import private modules
    old, new = look("tf1", name[3:]), look("tf2", name[3:])
    taken = new is not NOTHING and (use.call is None or _fits(new, use.call))
    if taken and (old is NOTHING or use.call and not _fits(old, use.call)):
        return "today's"
    verdict = fate(name, use.call).verdict
    if verdict == "replaced" and taken:
        return ""  # both versions accept it
    return "old" if verdict in ("moved", "gone", "replaced") else ""


def _age_of_keras(use) -> str:
    """Returns "old" for names of the `keras` package that Keras 3 removed."""
    path = use.name.partition(".")[2]
    if path.split(".")[0] == "src":
        return "today's"  # no Keras of TensorFlow 1 had this folder
    new, old = look("keras3", path), value(f"tf.keras.{path}".rstrip("."))
    if new is NOTHING:
        return "old"
    if path and old is NOTHING:
        return "today's"
    return "old" if use.call and not _fits(new, use.call) and _fits(
        old, use.call) else ""


def _fits(function: Known, call: Arguments) -> bool:
    """Returns whether a function's signature accepts a call."""
    found = signature(function)
    return found is None or found.takes(call)
