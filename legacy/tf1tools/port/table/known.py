"""Looks up names of TensorFlow, legacy Keras and other libraries in tables.

The table `known.txt` is written by `python -m makers.known`. Only modules of Python's
standard library are imported.
"""

import ast
import functools
import importlib
import importlib.util
import sys
import types
from pathlib import Path
from typing import NamedTuple

from tf1tools.port.text.syntax import Arguments, parse

INNER = ("python", "core", "tools", "examples", "models", "tensorboard")
# Support files that are copied next to old programs.
BESIDE = {path.stem: path
          for path in (Path(__file__).parents[1] / "beside").glob("*.py")}
_OURS = {*Path(__file__).resolve().parents[3:5]}
_HOMES = ("layers", "nn.rnn_cell", "keras")
_WINDOWS = {"startfile", "ProactorEventLoop", "duplicate", "get_last_error"}
# Modules of Python are imported to look up names, because that has no side effects.
_OWN = sys.stdlib_module_names - {"antigravity", "this"}


class Known(NamedTuple):
    """Table entry of a name, with its kind, its parameters and its members.

    Attributes:
      kind: `m` for a module, `c` for a class, `f` for a function, or `v` for a value.
      parameters: Names of the parameters as the table lists them, or `None` if they are
        unknown.
      members: Names of a class's members, or `None` if they are unknown.
    """

    kind: str
    parameters: tuple[str, ...] | None = None
    members: frozenset[str] | None = None


NOTHING = Known("")
_ANY = Known("v")  # attributes of values are not checked


@functools.cache
def section(name: str) -> dict[str, list[str]]:
    """Returns one section of the table, keyed by the first word of each line."""
    return _sections()[name]


@functools.cache
def _sections() -> dict[str, dict[str, list[str]]]:
    text = Path(__file__).with_name("known.txt").read_text("utf-8")
    found = {}
    for part in text.split("\n["):
        name, _, lines = part.lstrip("[").partition("]\n")
        found[name] = {first: rest.split(" ") if rest else [] for first, _, rest in (
            line.partition(" ") for line in lines.split("\n") if line)}
    return found


@functools.cache
def look(space: str, path: str) -> Known:
    """Returns the table entry of a dotted name in a section, or `NOTHING`."""
    if not path:
        return Known("m")
    if space == "tf2" and path.startswith("compat."):
        return look({"v1": "tf1", "v2": "tf2"}.get(path[7:9], "tf1"), path[10:])
    if (words := section(space).get(path)) is not None:
        return look("tf1", path) if words == ["="] else _known(words)
    above, _, last = path.rpartition(".")
    whole = look(space, above) if above else Known("m")
    if whole.kind == "c" and whole.members is not None:
        return _ANY if last in whole.members else NOTHING
    return _ANY if whole.kind in ("c", "f", "v") else NOTHING


def _known(words: list[str]) -> Known:
    kind, *rest = words
    members = None
    if "|" in rest:
        bar = rest.index("|")
        rest, members = rest[:bar], frozenset(rest[bar + 1:])
    return Known(kind, tuple(rest[1:]) if rest else None, members)


@functools.cache
def value(name: str) -> Known:
    """Returns the table entry of a full name under `compat.v1`, or `NOTHING`."""
    root, _, path = name.partition(".")
    if root in BESIDE:
        return Known("f") if path in _functions(root) else NOTHING
    if root != "tf":
        return look(root, path) if root == "tf_slim" else NOTHING
    for home in _HOMES:
        if path == home or path.startswith(home + "."):
            found = look("keras2", path)
            return found if found is not NOTHING or home != "keras" else look(
                "tf2", path)
    return look("tf1", path)


@functools.cache
def _functions(beside: str) -> set[str]:
    """Returns the function names in a support file, and "" for the module."""
    tree = parse(BESIDE[beside].read_text("utf-8"))
    return {"", *(node.name for node in tree.body if isinstance(node, ast.FunctionDef))}


def is_same(path: str) -> bool:
    """Returns whether `tf` and `compat.v1` have the same object for a name."""
    return section("tf2").get(path) == ["="]


def inner(path: str) -> Known:
    """Returns the table entry of a private TensorFlow name, or `NOTHING`."""
    full = f"tensorflow.{path}"
    return Known("m") if full in section("inner") else \
        _ANY if _in_modules("inner", full) else NOTHING


def _in_modules(space: str, name: str) -> bool:
    """Returns whether the table lists a name as a member of its module."""
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        if (names := section(space).get(".".join(parts[:length]))) is not None:
            return parts[length] in names
    return False


class Signature:
    """Parameters of a function or class.

    Attributes:
      names: All named parameters, in order.
      places: Parameters that may be passed by position.
      optional: Parameters that have a default.
      any_place: Whether more positional arguments are accepted.
      any_keyword: Whether all keyword arguments are accepted.
    """

    def __init__(self, words: tuple[str, ...]):
        """Parses parameters such as `x`, `name=`, `y/`, `*` and `**options`."""
        self.names: list[str] = []
        self.places: list[str] = []
        self.optional: set[str] = set()
        self.any_place = self.any_keyword = False
        keyword_only = False
        for word in words:
            name = word.strip("*=/")
            if word.startswith("**"):
                self.any_keyword = True
            elif word.startswith("*"):
                keyword_only, self.any_place = True, self.any_place or bool(name)
            else:
                self.names.append(name)
                self.places += [] if keyword_only else [name]
                self.optional |= {name} if "=" in word else set()

    def refusal(self, call: Arguments) -> str:
        """Returns why the function rejects a call, or ""."""
        if len(self.places) < call.positional and not self.any_place:
            return f"it accepts only {len(self.places)} positional arguments"
        other = [word for word in call.keywords if word not in self.names]
        return f"it does not accept {other[0]}=" if other and not self.any_keyword \
            else ""

    def takes(self, call: Arguments) -> bool:
        """Returns whether the function accepts a call."""
        wanted = {*self.places[call.positional:]} - self.optional
        return call.open or wanted <= {*call.keywords} and not self.refusal(call)


@functools.cache
def signature(known: Known) -> Signature | None:
    """Returns the parameters of a function or class, or `None` for other names."""
    return None if known.parameters is None else Signature(known.parameters)


@functools.cache
def resolves(name: str) -> bool:
    """Returns whether a dotted name exists in Python, NumPy or another package."""
    package, *rest = name.split(".")
    if package == "numpy":
        return name in section("numpy") or _in_modules("numpy", name)
    if package not in _OWN:
        return is_package(package)
    try:
        value = importlib.import_module(package)
        for number, part in enumerate(rest, 1):
            if not isinstance(value, types.ModuleType):
                return True
            if not hasattr(value, part):
                importlib.import_module(".".join([package, *rest[:number]]))
            value = getattr(value, part)
    except Exception:  # an import may raise anything
        return False
    return True


def is_gone(name: str) -> bool:
    """Returns whether Python's library or NumPy lacks a name.

    Some names exist on Windows only, and private ones in some versions only, so this
    Python cannot be asked for them.
    """
    package, *rest = name.split(".")
    if any(part[:1] == "_" for part in rest) or package in _OWN and (
            not resolves(package) or any(
                part.isupper() or "win" in part.lower() or part in _WINDOWS
                for part in rest)):
        return False
    return package in _OWN | {"numpy"} and not resolves(name)


@functools.cache
def is_package(module: str) -> bool:
    """Returns whether a module is available outside the project."""
    first = module.partition(".")[0]
    if first in section("packages") or first in _OWN:
        return True
    try:
        found = importlib.util.find_spec(first)
    except (ImportError, ValueError):
        return False
    if found is None or found.origin is None:  # a folder without a package
        return False
    home = Path(found.origin).parent
    # Ignore the checkout from which this package runs.
    return not _OURS & {home, home.parent}
