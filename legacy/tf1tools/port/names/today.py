"""Looks up current names in the tables of the rules and of TensorFlow."""

import functools

from tf1tools.port.rule import ROWS, argument, hooks_of, row_of, rows_of
from tf1tools.port.table.known import (
    BESIDE,
    INNER,
    NOTHING,
    inner,
    is_gone,
    is_package,
    resolves,
    section,
    signature,
    value,
)
from tf1tools.port.text.syntax import MODULE_ROOTS, Arguments


@functools.cache
def today(name: str) -> str | None:
    """Returns the current full name under `compat.v1`, or `None` if there is none."""
    if name in MODULE_ROOTS:
        return name
    root, _, path = name.partition(".")
    for prefix in ("compat.v1.", "compat.v2."):
        path = path.removeprefix(prefix)
    tensorflow = root in ("tf", "keras")
    if root == "tf" and path.split(".")[0] not in INNER and _is_known(path):
        return f"tf.{path}"
    full = f"tf.{path}" if root == "tf" else name
    for row in rows_of(full):
        new = row.new + full[len(row.old):]
        if row.new and _is_there(new, tensorflow):
            return new
        if not row.new and not tensorflow:
            return None  # a shorter row does not know that this name is gone
    return _from_tensorflow(path) if root == "tf" else None


def _is_known(path: str) -> bool:
    """Returns whether `compat.v1` or legacy Keras has a name."""
    return value(f"tf.{path}") is not NOTHING


def _is_there(new: str, tensorflow: bool) -> bool:
    if new.startswith((".", "str.")) or not new.strip("."):
        return True
    if tensorflow or new.startswith("tf.") or new.partition(".")[0] in BESIDE:
        return value(new) is not NOTHING
    # A package that is not installed cannot be checked; its import is reported.
    return "." not in new or resolves(new) or not is_package(new.partition(".")[0])


def _from_tensorflow(path: str) -> str | None:
    """Looks up a name in TensorFlow's rename table and private modules."""
    parts = path.split(".")
    if parts[0] in INNER and inner(path) is not NOTHING:
        return f"tf.{path}"
    renamed = " ".join(section("renamed").get(f"tf.{path}", ()))
    renamed = renamed.replace("tf.compat.v1.", "tf.")
    if renamed and _is_known(renamed[3:]) and "summary" not in path:
        return renamed
    if parts[:2] in (["python", "ops"], ["python", "framework"]) and len(parts) == 4:
        for home in ("", "nn."):
            if _is_known(home + parts[-1]):
                return f"tf.{home}{parts[-1]}"
    return None


def is_tensorflow(name: str) -> bool:
    """Returns whether a full name belongs to TensorFlow."""
    return name.partition(".")[0] == "tf"


def renamed(name: str, call: Arguments) -> dict[str, str]:
    """Returns the renamed arguments of a call, as a dict from old to new names."""
    return {word: row.new for word in call.keywords if (row := argument(name, word))}


def refusal(name: str, call: Arguments) -> str:
    """Returns why the current function rejects an old call, or ""."""
    parameters = signature(value(today(name) or ""))
    words = renamed(name, call)
    new = call._replace(keywords=tuple(words.get(word, word) for word in call.keywords))
    return parameters.refusal(new) if parameters else ""


@functools.cache
def _with_arguments() -> set[str]:
    """Returns the functions that have a table row for an argument."""
    return {old.partition("(")[0] for old in ROWS if "(" in old}


def asks(name: str) -> bool:
    """Returns whether a porting rule handles a name outside TensorFlow."""
    if is_tensorflow(name):
        return False
    own = name.startswith("builtins.")
    return (row_of(name) is not None or name in _with_arguments() or name == ".numpy()"
            or not own and is_gone(name)
            or any(hooks_of("call", name)) or any(hooks_of("sign", name)))
