"""Marks conditions that stop the program unless the TensorFlow version is 1.

Under `compat.v1`, the version is that of TensorFlow 2. A program that only selects a
code path by the version selects the path for the newest version. If the program stops
unless the version is 1, the line is left for you.

Since: TensorFlow 2.0
Lesson: 10a
Side: TensorFlow 1.15

Left:

    import tensorflow as tf
    if tf.__version__.split(".")[0] != "1":  # left: stops unless TensorFlow is 1
        raise Exception("TensorFlow version 1 required")
    assert tf.VERSION.startswith("1.")  # left: stops unless TensorFlow is 1
    tf.Session()

Stays:

    assert LooseVersion(tf.__version__) >= LooseVersion("1.0")
    if tf.__version__ < "1.4":
        raise ValueError("too old")
    tf.Session()
"""

import ast

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)

_SMALLER, _GREATER = (ast.Lt, ast.LtE), (ast.Gt, ast.GtE)


@rule.node(ast.If, ast.Assert)
def stops(node, part):
    """Marks a version check that fails with TensorFlow 2."""
    asked = any(part.full(one) in ("tf.__version__", "tf.VERSION")
                for one in ast.walk(node.test) if isinstance(one, ast.Attribute))
    guards = isinstance(node, ast.Assert) or any(
        isinstance(one, ast.Raise) for one in node.body)
    newest = _GREATER if isinstance(node, ast.Assert) else _SMALLER
    signs = [sign for one in ast.walk(node.test) if isinstance(one, ast.Compare)
             for sign in one.ops]
    if asked and guards and not (signs and isinstance(signs[0], newest)) and \
            part.file.project.is_old(part.file):
        yield part.left(node, "the program stops unless TensorFlow is 1: remove the "
                              "condition")
