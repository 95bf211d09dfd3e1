"""What became of a name and of its call, looked up in the table of names."""

import functools
from inspect import Parameter
from typing import NamedTuple

from tools.port import advice
from tools.port.installed import (
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
from tools.port.rule import ARGUMENTS, SIGNS, row_of
from tools.port.syntax import Arguments
from tools.port.today import is_tensorflow, needs_keras_2, refusal, today

VERDICTS = ("kept", "moved", "replaced", "another result", "gone")
_PLACES = {
    "tf_slim": " (package tf-slim, beside slim_shim.py)",
    **{name: f" (tools/port/beside/{name}.py beside the program)" for name in BESIDE},
}


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
    return (look("tf1", path) is not NOTHING or look("tf2", path) is not NOTHING
            or name in section("renamed"))


@functools.cache
def fate(name: str, call: Arguments | None) -> Fate:
    """Returns what became of a full name, called in a certain way.

    Args:
      name: `tf.nn.dropout`, `tf.compat.v1.Session`, `numpy.float`, `xrange`.
      call: its arguments; `None` where it stands without a call.
    """
    if not (is_tensorflow(name) or name.startswith("keras")):
        return Fate(name.removeprefix("builtins."), "gone", _of_library(name), "10a")
    path = name.removeprefix("tf.")
    if path == "Dimension.value":
        return Fate("shape[...].value", "moved", "shape[...]: an axis is an int (under "
                    "compat.v1 it has a value)", "10a")
    for prefix, space in (("compat.v1", "tf1"), ("compat.v2", "tf2")):
        if path == prefix or path.startswith(prefix + "."):
            return _written_today(name, space, path[len(prefix) + 1:])
    if path.split(".")[0] in INNER:
        return _private(path)
    path = _cut(path)
    verdict, instead = _verdict(path, call)
    if call and (new := today(f"tf.{path}")):
        verdict, instead = _of_call(path, new, call) or (verdict, instead)
    return Fate(f"tf.{path}", verdict, instead, advice.lesson(path))


def _of_library(name: str) -> str:
    """Returns what to write for a name of Python or of a library that is gone."""
    row, new = row_of(name), today(name)
    if new:
        python3 = row is not None and row.rule.since == "Python 3.0"
        return new.lstrip(".") + (", in Python 3" if python3 else "")
    if row and row.words:
        return row.words
    return "nothing has this name today: write what it did"


def _of_call(path: str, new: str, call: Arguments) -> tuple[str, str] | None:
    """Returns verdict and words where an argument's name, or the call, is another."""
    renames = {old: word for old, (word, _) in ARGUMENTS.get(f"tf.{path}", {}).items()
               if old in call.keywords}
    after = call._replace(keywords=tuple(renames.get(k, k) for k in call.keywords))
    if refused := refusal(new, after):
        return "replaced", f"tf.{path}: {refused}"
    if renames and look("tf1", path) is not NOTHING:
        return "replaced", f"{new} with {', '.join(f'{w}=' for w in renames.values())}"
    return None


def _verdict(path: str, call: Arguments | None) -> tuple[str, str]:
    old, new = look("tf1", path), look("tf2", path)
    if path.split(".")[0] == "keras":
        return _keras(path, call, new)
    if old is NOTHING and new is NOTHING:
        return "gone", _instead_of_gone(path)
    if new is NOTHING:
        return "moved", _instead_of_moved(path)
    if old is NOTHING:
        return ("replaced", f"tf.{path} is another thing") \
            if f"tf.{path}" in section("renamed") else ("kept", f"tf.{path}")
    if path in advice.ANOTHER_THING:
        return "replaced", advice.ANOTHER_THING[path]
    if path == "device" and call and call.first != "str":
        return "replaced", "tf.device with a name: it takes no function"
    if path in advice.AXIS_FIRST and call and call.first == "int":
        return "replaced", advice.AXIS_FIRST[path]
    if wrong := _misfit(old, new, path, call):
        return "replaced", wrong
    if not is_same(path) and (other := advice.another_result(path, call)):
        return "another result", other
    return "kept", f"tf.{path}"


def _misfit(old, new, path: str, call: Arguments | None) -> str:
    """Says which argument of a call today's function does not take, or ""."""
    if is_same(path) or old.kind == "m":
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


def _parameters(known: Known) -> dict | None:
    """Returns names of parameters in order; "**" stands for any keyword."""
    found = signature(known)
    if found is None:
        return None
    return {"**" if p.kind is p.VAR_KEYWORD else p.name: p for p in found
            if p.kind is not p.VAR_POSITIONAL}


def _cut(path: str) -> str:
    """Returns the part of a dotted name that is TensorFlow's own."""
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
    """The fate of what is written with `compat.v1` or `compat.v2` already."""
    path = path and _cut(path)
    lesson = advice.lesson(path)
    if not path or look(space, path) is not NOTHING:
        return Fate(name, "kept", name, lesson)
    return Fate(name, "gone", _instead_of_gone(path), lesson)


def _private(path: str) -> Fate:
    """The fate of a name from TensorFlow's inner modules."""
    written, new = "tensorflow." + path, today(f"tf.{path}")
    known = advice.longest(path, advice.PRIVATE)
    if inner(path) is not NOTHING and new == f"tf.{path}":
        return Fate(written, "moved", known or "a private module: find the public "
                    "tf.compat.v1 name or copy what you need", "10a")
    if new:
        known = _written(new) + (f", or {known}" if known else "")
    return Fate(written, "gone", known or "TensorFlow's own parts moved: find the "
                f"public name of {path.split('.')[-1]}", "10a")


def _keras(path: str, call: Arguments | None, new) -> tuple[str, str]:
    """Keras 2's names under Keras 3; `tf_keras` is Keras 2, and says what it took."""
    if new is NOTHING:
        return "gone", _instead_of_gone(path)
    after = _parameters(new)
    if call and after is not None and "**" not in after:
        for keyword in call.keywords:
            if keyword not in after:
                return "replaced", f"tf.{path} without {keyword}="
    known = advice.KERAS_KEYWORDS.keys() - set(after or ())
    if call and (other := known & set(call.keywords)):
        keyword = sorted(other)[0]
        return "replaced", f"tf.{path}: {advice.KERAS_KEYWORDS[keyword]}"
    if other := advice.longest(path, advice.KERAS_RESULTS):
        return "another result", other
    return "kept", f"tf.{path}"


def _of_the_course(path: str) -> str:
    """Returns what the course's own table of old names says, or ""."""
    return " ".join(section("words").get(path, ()))


def _instead_of_moved(path: str) -> str:
    if path not in advice.MOVED and (known := _of_the_course(path)):
        return known
    if known := advice.longest(path, advice.MOVED):
        return known
    renamed = " ".join(section("renamed").get(f"tf.{path}", ()))
    if renamed and look("tf2", renamed.removeprefix("tf.")) is not NOTHING:
        return renamed
    return f"tf.compat.v1.{path}"


def _instead_of_gone(path: str) -> str:
    """What runs it as it was comes first, what Keras 3 has comes second."""
    found, row = today(f"tf.{path}"), row_of(f"tf.{path}")
    other = advice.longest(found.removeprefix("tf."), advice.KERAS_3) if found else ""
    other = other or _of_the_course(path) or (row.words if row else "")
    if found is None:
        return other or "nothing: write it yourself, or keep TensorFlow 1.15 for it"
    if needs_keras_2(found) and other:
        return f"{_written(found)}; in Keras 3 {other}"
    return _written(found)


def _written(full: str) -> str:
    """Returns how a name under the bridge is written out, with what it needs."""
    root, _, path = full.partition(".")
    if root != "tf":
        return full + _PLACES[root]
    if needs_keras_2(full):
        return f"tf.compat.v1.{path} under TF_USE_LEGACY_KERAS=1"
    return full if look("tf2", path) is not NOTHING else f"tf.compat.v1.{path}"


def age(use) -> str:
    """Returns what a use says of the program: "old", "today's" or "".

    A name or a call that TensorFlow 2 has no more is of TensorFlow 1. What TensorFlow 2
    alone has or takes is of today: no program of TensorFlow 1 ran with it. What both
    take, and answer otherwise, may be of either, and says nothing.
    """
    name = use.name
    if name in SIGNS:
        return "old"
    if name.partition(".")[0] == "keras":
        return _age_of_keras(use)
    if not is_tensorflow(name) or name.startswith(("tf.keras", "tf.compat")):
        return ""
    old, new = look("tf1", name[3:]), look("tf2", name[3:])
    if new is not NOTHING and (old is NOTHING or (
            use.call and _takes(new, use.call) and not _takes(old, use.call))):
        return "today's"
    verdict = fate(name, use.call).verdict
    axis_first = name[3:] in advice.AXIS_FIRST and use.call and use.call.first == "int"
    if verdict == "replaced" and new is not NOTHING and not axis_first and (
            use.call is None or _takes(new, use.call)):
        return ""  # both take it
    return "old" if verdict in ("moved", "gone", "replaced") else ""


def _age_of_keras(use) -> str:
    """Of Keras as a package: what Keras 3 has no more is old."""
    path = use.name.partition(".")[2]
    new, old = look("keras3", path), value(f"tf.keras.{path}".rstrip("."))
    if new is NOTHING:
        return "old"
    if path and old is NOTHING:
        return "today's"
    return "old" if use.call and not _takes(new, use.call) and _takes(
        old, use.call) else ""


def _takes(function, call) -> bool:
    """Whether a function takes a call, by its signature."""
    found = signature(function)
    if found is None or call.open:
        return True
    places = [p for p in found if p.kind in (p.POSITIONAL_ONLY,
                                             p.POSITIONAL_OR_KEYWORD)]
    names = {p.name for p in found}
    wanted = {p.name for p in places[call.positional:] if p.default is p.empty}
    kinds, given = {p.kind for p in found}, {*call.keywords}
    return (wanted <= given
            and (call.positional <= len(places) or Parameter.VAR_POSITIONAL in kinds)
            and (given <= names or Parameter.VAR_KEYWORD in kinds))
