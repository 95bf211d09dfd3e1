"""Spells current names for a file, with the imports that they need."""

import ast

from tf1tools.port.names.today import is_tensorflow, today
from tf1tools.port.rule import Need, hooks_of
from tf1tools.port.table.known import BESIDE
from tf1tools.port.text.syntax import MODULE_ROOTS


def root(file) -> str:
    """Returns the local name under which a file imports TensorFlow."""
    roots = [local for local, full in file.names.items()
             if full in ("tf", "tf.compat.v1") and local.isidentifier()]
    taken = not roots and any(
        isinstance(node, ast.Name) and node.id == "tf"
        for part in file.parts for node in part.nodes)
    return "tf" if "tf" in roots else roots[0] if roots else "tf1" if taken else "tf"


def written(new: str, part) -> str:
    """Returns a full name with the file's own prefix for TensorFlow."""
    first, dot, rest = new.partition(".")
    return f"{root(part.file)}{dot}{rest}" if first == "tf" else new


def from_import(new: str) -> str:
    """Returns the `from ... import` statement for a full name."""
    home, _, last = new.rpartition(".")
    first, dot, rest = home.partition(".")
    return f"from {'tensorflow' if first == 'tf' else first}{dot}{rest} import {last}"


def needs(new: str, part):
    """Yields the requirements of a current name, each with the rule that defines it."""
    for hook in hooks_of("writes", new):
        for need in hook.ask(new, part):
            yield hook.rule, need


def spelled(use, new: str) -> str | None:
    """Returns the text that replaces an old name at one place in a file.

    Args:
      use: Use of an old name.
      new: Current full name.

    Returns:
      The text to write, "" if the use stays because its import changes, or `None` if
      the name cannot be written.
    """
    name, through = use.name, use.through
    if new.startswith("tf.python.") and through in MODULE_ROOTS and name != through:
        return None  # this name needs a separate import
    if name == through or name.startswith("tf.compat.") or (
            name == new and through in MODULE_ROOTS):
        return ""
    before = through if through in MODULE_ROOTS else today(through)
    if before is not None and before + name[len(through):] == new:
        return ""
    if is_tensorflow(name) or is_tensorflow(new):
        return None if new.startswith("tf.python") else written(new, use.part)
    if new.rpartition(".")[0] == name.rpartition(".")[0] and name != through:
        local = use.part.written(use.function)  # `Image.x` of `from PIL import Image`
        if name == f"{through}.{local}":  # from `from PIL.Image import *`
            return new[len(through) + 1:]
        return local.removesuffix(name[len(through):]) + new[len(through):]
    package = name.partition(".")[0]
    module = new.rpartition(".")[0]
    if not module or module == "str" or not new.startswith(package + "."):
        return new
    if through != package:
        return None
    local = use.part.written(use.function)
    if name == f"{package}.{local}":  # from `from numpy import *`
        return new if "." in new[len(package) + 1:] else new[len(package) + 1:]
    return local.removesuffix(name[len(package):]) + new[len(package):]


def imports(use, new: str):
    """Yields the import that a fully written name needs, if there is one."""
    first, _, _ = new.partition(".")
    module = first if first == "tf_slim" or first in BESIDE else \
        new.rpartition(".")[0]
    own = first == use.name.partition(".")[0] and "." not in module
    there = module == use.name.rpartition(".")[0]
    if module and not there and not own and first not in ("tf", "numpy", "str"):
        yield Need(use.part, f"import {module}")
