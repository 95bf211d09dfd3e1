"""The import of a module that is gone goes too, if nothing is used through it any more.

`tensorflow.contrib` is no module today, so its import fails even where every name under
it has been written anew. If one name under it is left, so is the import.

Since: TensorFlow 2.0
Sitting: 10a
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
    import tensorflow.contrib as tf_contrib  # left: nothing has it today
    tf_contrib.crf.viterbi_decode(a, b)  # left: a forward pass
"""

import ast

from tools.port.rule import Change, file
from tools.port.today import is_tensorflow, today


@file
def drop(file, work):
    """Drops the statement, or leaves it."""
    for use in file.uses if file.project.is_old(file) else ():
        keras = use.name.startswith("keras")
        if not isinstance(use.node, ast.alias) or today(use.name) is not None or not (
                keras or is_tensorflow(use.name)):
            continue
        if keras:
            yield use.left("find its name in tf.keras")
            continue
        through = [one for other in file.project.together(file) for one in other.uses
                   if one.through == use.name and not isinstance(one.node, ast.alias)]
        statement = use.parent
        if len(statement.names) > 1 or not all(map(work.changed, through)):
            yield use.left("nothing has it today")
            continue
        text = use.part.text
        start, end = text.span(statement)
        alone = len(getattr(use.part.parents[statement], "body", [])) == 1
        if alone:
            yield Change(use.part, start, end, "pass")
        elif text.text[end:end + 1] == "\n" and not text.text[
                text.text.rfind("\n", 0, start) + 1:start].strip():
            yield Change(use.part, text.text.rfind("\n", 0, start) + 1, end + 1, "")
        else:
            yield Change(use.part, start, end, "pass")
