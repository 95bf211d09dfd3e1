"""Removes the import of a module that is gone, if nothing uses it any more.

`tensorflow.contrib` is no longer a module. Its import therefore fails, even if every
name under it has been rewritten. If a use of the import is left, so is the import.

Since: TensorFlow 2.0
Lesson: 10a
Side: TensorFlow 1.15

Before:

    import tensorflow as tf
    import tensorflow.contrib as tf_contrib
    x = tf_contrib.layers.fully_connected(tf.zeros([2, 3]), 4)

After:

    import os
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    import slim_shim
    import tf_slim
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    x = tf_slim.fully_connected(tf.zeros([2, 3]), 4)

Left:

    import tensorflow as tf
    import tensorflow.contrib as tf_contrib  # left: no current package has it
    tf_contrib.crf.viterbi_decode(a, b)  # left: a forward pass
    import keras.nowhere as n  # left: find its name in tf.keras
"""

import ast

from tf1tools.port.names.today import is_tensorflow, today
from tf1tools.port.rule import ROWS, Change, Rule, row_of
from tf1tools.port.table import known as installed

rule = Rule(__name__, __doc__, __file__)


@rule.file
def drop(file, work):
    """Removes an unused import of a removed module, or marks it if it is used."""
    old = file.project.is_old(file)
    for use in file.uses:
        if not use.part.tree or not isinstance(use.node, ast.alias) or not is_gone(
                use.name) or not (old or _is_librarys(use.name)):
            continue
        if use.name.startswith("keras"):
            yield use.left("find its name in tf.keras")
        elif not is_unused(use.name, use.node, use.part, work):
            yield use.left(_words(use.name))
        elif len(use.parent.names) == 1:
            yield _without(use.part, use.parent)
        elif isinstance(use.parent, ast.Import):  # `from` drops single names
            yield use.left(_words(use.name))


def _words(name: str) -> str:
    row = row_of(name)
    return row.words if row and row.words else "no current package has it"


def is_gone(name: str) -> bool:
    """Returns whether no current package provides an imported name."""
    return today(name) is None and (
        not _is_librarys(name) or name in ROWS or installed.is_gone(name))


def _is_librarys(name: str) -> bool:
    """Returns whether a name belongs to neither TensorFlow nor Keras."""
    return not is_tensorflow(name) and not name.startswith("keras")


def is_unused(name: str, alias: ast.alias, part, work) -> bool:
    """Returns whether all uses of an import are rewritten.

    What another file imports of this one by its name has to stay.
    """
    project = part.file.project
    local = alias.asname or alias.name
    return local not in project.taken.get(part.file, ()) and all(
        map(work.changed, project.uses_through(part.file, name)))


def _without(part, statement) -> Change:
    """Returns the change that removes a statement."""
    start, end = part.text.span(statement)
    before = part.text.before(start)
    alone = len(getattr(part.parents[statement], "body", [])) == 1
    if alone or before.strip() or part.text.text[end:end + 1] != "\n":
        return Change(part, start, end, "pass")
    return Change(part, start - len(before), end + 1, "")
