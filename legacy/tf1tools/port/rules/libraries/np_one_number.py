"""Adds `.item()` to one-element arrays that are passed to `int` or `float`.

NumPy 2.4 raises an error where earlier versions only warned: an array with an axis is
not a number. For example, a NumPy function that receives `np.random.rand(1)` returns
such an array.

Since: NumPy 2.4
Lesson: 10a
Side: any Python 3 with NumPy 1

Before:

    import numpy as np
    t = np.cumsum([0.2, 0.8])
    print(int(np.searchsorted(t, np.random.rand(1) * 0.1)), int(np.argmax(t)))

After:

    import numpy as np
    t = np.cumsum([0.2, 0.8])
    print(int(np.searchsorted(t, np.random.rand(1) * 0.1).item()), int(np.argmax(t)))
"""

import ast

from tf1tools.port.rule import Rule
from tf1tools.port.text.syntax import dotted

rule = Rule(__name__, __doc__, __file__)


@rule.node(ast.Call)
def number(node, part):
    """Adds `.item()` to a one-element array passed to `int` or `float`."""
    if dotted(node.func) not in ("int", "float") or len(node.args) != 1 or \
            not _is_numpy(node.args[0], part):
        return
    if any(_gives_one(one, part) for one in ast.walk(node.args[0])):
        yield part.behind(node.args[0], ".item()")


def _gives_one(node, part) -> bool:
    """Returns whether a call creates a random array with one element."""
    return _is_numpy(node, part) and not node.keywords and len(node.args) == 1 and \
        part.full(node.func) in ("numpy.random.rand", "numpy.random.randn") and \
        getattr(node.args[0], "value", None) == 1


def _is_numpy(node, part) -> bool:
    """Returns whether an expression is a call of a NumPy function."""
    return isinstance(node, ast.Call) and part.full(node.func).startswith("numpy.")
