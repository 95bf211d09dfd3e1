"""The names of the installed TensorFlow and of its company, written down as data.

    python -m makers.known

`port` reads `known.txt` and imports nothing, so that it answers where nothing is
installed. A line is a name, its kind and its parameters:

    nn.conv2d f () input filters strides padding data_format= dilations= name=

A kind is `m` module, `c` class, `f` function or `v` value; `=` says that it is the very
thing of this name in the section `tf1`. Behind a bar stands what a class has.
The sections:

    tf1       tensorflow.compat.v1, but for what Keras has
    tf2       tensorflow
    keras2    legacy Keras, as `TF_USE_LEGACY_KERAS` puts it under compat.v1
    keras3    the package keras
    tf_slim   the package tf_slim
    numpy     the names of each module, without kinds
    inner     the same of TensorFlow's inner modules
    renamed   old name and new, as TensorFlow's own tables have them
    arguments the same, of arguments: name, then old:new
    words     what the course's own table of old names says
    packages  what a learner has installed
"""

import contextlib
import importlib
import inspect
import io
import itertools
import os
import pkgutil
import re
import sys
import types
import warnings
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from tf1tools.port.table.known import INNER

TABLE = Path(__file__).parents[1] / "tf1tools" / "port" / "table" / "known.txt"
LEGACY = "tf_keras.api._v1.keras"
HOMES = {"layers": f"{LEGACY}.__internal__.legacy.layers",
         "nn.rnn_cell": f"{LEGACY}.__internal__.legacy.rnn_cell",
         "keras": LEGACY}
_PUBLIC = re.compile(r"tensorflow\.(_api|compat|experimental|python\.platform\.flags)\b"
                     r"|keras(?!\.src)|tf_keras\.api|tf_slim")
_NO_MODULE = re.compile(r"test|benchmark|__main__|\.setup|numpy\.(distutils|f2py)"
                        r"|\._simd$")  # its names are those of the processor at hand
_MARKS: dict = {inspect.Parameter.VAR_POSITIONAL: "*",
                inspect.Parameter.VAR_KEYWORD: "**"}


def made() -> str:
    """Returns the table of what is installed here."""
    import keras
    import tensorflow as tf
    import tensorflow.compat.v1 as tf1
    import tf_slim
    from tf_slim import nets

    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        old = dict(_members(tf1, skipped={"compat.v1", "compat.v2", *HOMES}))
        sections = {
            "tf1": _lines(old),
            "tf2": _lines(dict(_members(tf, {"compat.v1", "compat.v2", "tools",
                                             "dtensor"})), old),
            "keras2": [line for home in HOMES for line in _lines(_of_keras_2(home))],
            "keras3": _lines(dict(_members(keras))),
            "tf_slim": _lines(dict(_members(nets, path="nets.", deep=1))
                              | dict(_members(tf_slim, deep=1))),
            "numpy": _modules("numpy", public=True),
            "inner": [line for top in INNER for line in _modules(f"tensorflow.{top}")],
            **_of_tensorflow(), "words": _words(), "packages": _packages()}
    return "".join(f"[{name}]\n" + "".join(f"{line}\n" for line in lines)
                   for name, lines in sections.items())


def _of_keras_2(home: str) -> dict:
    """Returns the names below one that legacy Keras gives compat.v1."""
    module = importlib.import_module(HOMES[home])
    found = _members(module, {"__internal__"})
    return {home: module, **{f"{home}.{name}": value for name, value in found}}


def _members(module, skipped=(), path: str = "", above=(), deep: int = 9) -> Iterator:
    """Yields names and values below a module; classes are not looked into."""
    for name in _names(module):
        if name.startswith("_") or f"{path}{name}" in skipped:
            continue
        try:
            value = getattr(module, name)
        except Exception:  # a name that Keras 3 put to rest raises what it likes
            continue
        if id(value) not in above and _is_public(value):
            yield f"{path}{name}", value
            if deep and isinstance(value, types.ModuleType):
                yield from _members(value, skipped, f"{path}{name}.",
                                    (*above, id(value)), deep - 1)


def _names(module) -> list[str]:
    try:
        return dir(module)
    except ImportError:  # a module that waits to be loaded, and is not there
        return []


def _is_public(value) -> bool:
    """Whether a value is no module, or one of a public interface."""
    try:
        return not isinstance(value, types.ModuleType) or bool(
            _PUBLIC.match(value.__name__))
    except AttributeError:  # a module that Keras 3 put to rest
        return False


def _lines(names: dict, old: dict | None = None) -> list[str]:
    """Returns the lines of names and values."""
    return [f"{name} =" if old and name in old and old[name] is value else
            f"{name} {_kind(value)}{_parameters(value)}{_of_class(value)}"
            for name, value in sorted(names.items())]


def _of_class(value) -> str:
    """Returns the public names of a class behind a bar; Keras's have too many."""
    if not inspect.isclass(value) or "keras" in value.__module__:
        return ""
    proto = getattr(value, "DESCRIPTOR", None)
    enums = getattr(proto, "enum_values_by_name", {})
    return " ".join([" |", *(name for name in dir(value) if name[0] != "_"), *enums])


def _kind(value) -> str:
    return ("m" if isinstance(value, types.ModuleType) else
            "c" if inspect.isclass(value) else
            "f" if inspect.isroutine(value) else "v")


def _parameters(value) -> str:
    """Returns the parameters behind a blank; nothing where none can be told.

    Asking `FLAGS` for anything makes it read this program's own command line.
    """
    if _kind(value) not in "cf":
        return ""
    try:
        found = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return ""
    words, named = [], False
    for one in found:
        if one.kind is one.KEYWORD_ONLY and not named:
            words.append("*")
        named |= one.kind in (one.KEYWORD_ONLY, one.VAR_POSITIONAL)
        words.append(_MARKS.get(one.kind, "") + one.name + (
            "" if one.default is one.empty else "=") + (
            "/" if one.kind is one.POSITIONAL_ONLY else ""))
    return " " + " ".join(["()", *words])


def _modules(package: str, *, public: bool = False) -> list[str]:
    """Returns a line for each module below a package, with its names."""
    try:
        top = importlib.import_module(package)
    except ImportError:
        return []
    below = {name for _, name, _ in pkgutil.walk_packages(
        top.__path__, f"{package}.", onerror=lambda name: None)
        if not _NO_MODULE.search(name)}
    lines = []
    for full in [package, *sorted(below)]:
        try:
            module = importlib.import_module(full)
        except (Exception, SystemExit):  # of another version, or a program
            continue
        names = [name for name, value in inspect.getmembers(module)
                 if not name.startswith("_" if public else "__")
                 and (not isinstance(value, types.ModuleType)
                      or public and value.__name__.startswith(f"{package}."))]
        lines.append(" ".join([full, *names]))
    return lines


def _of_tensorflow() -> dict[str, list[str]]:
    """Returns TensorFlow's own tables of what has another name."""
    from tensorflow.tools.compatibility import all_renames_v2, tf_upgrade_v2

    keywords = tf_upgrade_v2.TFAPIChangeSpec().function_keyword_renames
    pairs = {name: " ".join(f"{old}:{new}" for old, new in sorted(renamed.items()))
             for name, renamed in keywords.items()}
    names = all_renames_v2.symbol_renames
    return {"renamed": [f"{old} {new}" for old, new in sorted(names.items())],
            "arguments": [f"{name} {words}" for name, words in sorted(pairs.items())]}


def _words() -> list[str]:
    from helpers.tf1_names import LATER_NAMES, SOURCE_NAMES

    names = [*itertools.chain(*SOURCE_NAMES.values()), *LATER_NAMES]
    return sorted({f"{old.name} {old.today}" for old in names})


def _packages() -> list[str]:
    """Returns the packages that `requirements.txt` brings."""
    from helpers.files import ROOT

    lock = (ROOT / "requirements.txt").read_text("utf-8")
    pinned = {_plain(name) for name in re.findall(r"^([\w.-]+)==", lock, re.M)}
    return sorted(name for name, owners in metadata.packages_distributions().items()
                  if pinned & {_plain(one) for one in owners}
                  and name.isidentifier())


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    if sys.argv[1:] == ["-"]:
        print(made(), end="")
    else:
        TABLE.write_text(made(), encoding="utf-8")
