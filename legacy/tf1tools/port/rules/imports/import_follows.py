"""Imports the current name under the old local name, so that its uses can stay.

Since: TensorFlow 2.0
Lesson: 10a
Side: TensorFlow 1.15

Before:

    import tensorflow as tf
    from tensorflow.contrib.rnn import GRUCell as Cell
    from tensorflow import pack
    import tensorflow.contrib.slim as slim
    from tensorflow.contrib import layers, seq2seq
    x = pack([Cell(3)]), seq2seq.sequence_loss(a, b, c)

After:

    import old_seq2seq
    import os
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    import slim_shim
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    Cell = tf.nn.rnn_cell.GRUCell
    from tensorflow.compat.v1 import stack as pack
    import tf_slim as slim
    import tf_slim as layers
    x = pack([Cell(3)]), old_seq2seq.batch_sequence_loss(a, b, c)

A file of the project has the first right to its name:

Before:

    # file: main.py
    import tensorflow as tf
    import input_data
    print(tf.Session().run(input_data.read()))
    # file: input_data.py
    def read():
        return 1

After:

    # file: main.py
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    import input_data
    print(tf.Session().run(input_data.read()))
"""

import ast
import builtins

from tf1tools.port.names.fates import exists
from tf1tools.port.names.spelling import from_import, written
from tf1tools.port.names.today import today
from tf1tools.port.reading import handed_on as handed
from tf1tools.port.rule import ROWS, Change, Rule, hooks_of
from tf1tools.port.rules.imports.import_unused import is_gone, is_unused
from tf1tools.port.rules.running.compat_v1 import anchor
from tf1tools.port.table.known import INNER, NOTHING, look
from tf1tools.port.text.syntax import MODULE_ROOTS, canonical

rule = Rule(__name__, __doc__, __file__)


@rule.file
def follow(file, work):
    """Rewrites the imports of a file, except the first import of TensorFlow."""
    old = file.project.is_old(file)
    top = anchor(file) if old else None
    for part in file.parts:
        for node in part.imports if part.tree else ():
            span = part.text.span(node)
            if top and part is top[0] and span == top[1:]:
                continue
            if isinstance(node, ast.Import):
                yield from _import(node, part, work, old)
            elif not (node.level or _is_own(node.module, file)):
                yield from _import_from(node, part, work, old)


def _import(node, part, work, old):
    for alias in node.names:
        new = _module(alias, old)
        if new is None or _is_own(alias.name, part.file):
            continue
        local = alias.asname or alias.name
        work.need(new, part)
        if not new.startswith("tf."):
            short = local.partition(".")[0] if not alias.asname else local
            yield part.instead(alias, new if new == short else f"{new} as {short}")
        elif len(node.names) == 1 and (alias.asname or "." not in local):
            yield part.instead(node, f"{local} = {written(new, part)}")
        else:
            yield part.left(node, f"import {alias.name} by its current name, in a line "
                                  "of its own")


def _is_own(module: str | None, file) -> bool:
    """Returns whether a module is a file of the project."""
    return file.project.own(file.path, module or "") is not None


def _module(alias, old: bool) -> str | None:
    full = canonical(alias.name)
    package = full.partition(".")[0]
    if package == "tf":
        if not old:
            return None
        if full in MODULE_ROOTS or not alias.asname:
            return None if "compat" in full else "tensorflow.compat.v1"
        new = today(full)
        if new == "tf":
            return "tensorflow.compat.v1"
        return None if new == full and full.split(".")[1] in INNER else new
    if package == "keras":
        return today(full) if old else None
    return today(full)


def _import_from(node, part, work, old):
    module = canonical(node.module or "")
    ours = module.partition(".")[0] in ("tf", "keras")
    handed_on = [*_handed_on(module, node, part, old)] if any(
        alias.name == "*" for alias in node.names) else []
    yield from handed_on
    if ours and not old:
        return
    lines, moved = [], False
    for alias in node.names:
        if alias.name == "*" and ours and module not in MODULE_ROOTS:
            uses = [use for use in part.file.project.uses_through(part.file, module)
                    if use.part.file is part.file]
            lines, moved = list(_of_star(module, part, work, uses)), True
            if not uses:
                if not handed_on:
                    yield part.left(node, f"import the names that are used from "
                                          f"{node.module} one by one")
                return
            continue
        if len(node.names) > 1 and is_gone(f"{module}.{alias.name}") and \
                is_unused(f"{module}.{alias.name}", alias, part, work):
            moved = True
            continue
        line = _one_from(module, alias, part, work)
        local = f" as {alias.asname}" if alias.asname else ""
        moved |= bool(line)
        lines.append(line or f"from {node.module} import {alias.name}{local}")
    start, end = part.text.span(node)
    before = part.text.before(start).strip("\f")
    glue = "; " if before.strip() or part.text.text[end:end + 1] == ";" else \
        f"\n{before}"
    if moved:
        yield Change(part, start, end, glue.join(lines) or "pass")


def _handed_on(module: str, node, part, old: bool):
    """Marks a star import from which other files take names that are gone."""
    own, takers = handed.binds(part.file), {}
    for name, taker in part.file.project.taken.get(part.file, {}).items():
        full = f"{module}.{name}"
        if name[:2] != "__" and name not in own and (
                _was_brought(full) and not _is_brought(full, old)):
            takers[name] = taker.path.name
    if takers:
        names = ", ".join(sorted(takers))
        files = ", ".join(sorted(set(takers.values())))
        yield part.left(node, f"other files ({files}) get {names} of {node.module} "
                              "through this star import: import it there by name")


def _was_brought(full: str) -> bool:
    """Returns whether a star import provided a known name."""
    return full in ROWS or any(hooks_of("call", full)) or (
        full.startswith(("tf.", "keras.")) and exists(full))


def _is_brought(full: str, old: bool) -> bool:
    """Returns whether the star import still provides a name."""
    if full.startswith(("tf.", "keras.")) and not old:  # it stays as it is
        return full.startswith(("keras.", "tf.keras.")) or (
            look("tf2", full.removeprefix("tf.")) is not NOTHING)
    inside = full.startswith(("tf.", "keras.")) and full.count(".") > 1
    return today(full) == full and not inside  # their star imports become single ones


def _of_star(module: str, part, work, uses):
    """Yields an explicit import for each name that is used from a star import."""
    names = sorted({use.name[len(module) + 1:].partition(".")[0] for use in uses
                    if not work.changed(use)})
    for name in names:
        if today(f"{module}.{name}") is not None:
            alias = ast.alias(name)
            yield _one_from(module, alias, part, work) or from_import(
                f"{module}.{name}")


def _one_from(module: str, alias, part, work) -> str:
    """Returns the statement that imports the current name of one alias, or ""."""
    local = alias.asname or alias.name
    if module in MODULE_ROOTS and alias.name in ("compat", "v1", "*"):
        return f"from tensorflow.compat.v1 import {alias.name}" if module == "tf" \
            else ""
    full = f"{module}.{alias.name}"
    new = today(full)
    if new is None or new == full and module.startswith(("tf.python", "tf.core")):
        return ""
    work.need(new, part)
    if new == "tf":
        return f"import tensorflow.compat.v1 as {local}"
    home, _, last = new.rpartition(".")
    as_last = f" as {local}" if last != local else ""
    if home == "tf":
        return f"from tensorflow.compat.v1 import {last}{as_last}"
    if not home and last in dir(builtins):
        return f"{local} = {last}"
    if new.startswith("tf.") or home == "str":
        return f"{local} = {written(new, part)}"
    return f"from {home} import {last}{as_last}" if home else f"import {last}{as_last}"
