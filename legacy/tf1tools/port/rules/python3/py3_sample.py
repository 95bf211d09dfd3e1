"""Converts sets and arrays to lists before they are passed to `random.sample`.

`random.sample` accepts only a sequence. Python 2 accepted arrays and sets too, and
Python 3 accepted sets until 3.11.

Since: Python 3.3, 3.11
Lesson: 10a
Side: Python 2.7

Before:

    import random
    import numpy as np
    valid = random.sample(np.arange(100), 16)
    chosen = set(words)
    some = random.sample(chosen, 2), random.sample(range(9), 2)

After:

    import random
    import numpy as np
    valid = random.sample(list(np.arange(100)), 16)
    chosen = set(words)
    some = random.sample(list(chosen), 2), random.sample(range(9), 2)
"""

import ast

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)

ARRAYS = [f"numpy.{name}" for name in (
    "arange", "argsort", "array", "asarray", "linspace", "random.permutation",
    "setdiff1d", "unique")]


@rule.call("random.sample")
def of_a_list(use):
    """Wraps the first argument in `list(...)` unless it is a sequence."""
    if use.node.args and any(_is_none(one, use.part)
                             for one in use.part.values(use.node.args[0])):
        yield from use.part.wrapped(use.node.args[0], "list(")


def _is_none(node, part) -> bool:
    """Returns whether an expression is a set, an array or a dictionary view."""
    if isinstance(node, ast.Set | ast.SetComp):
        return True
    if not isinstance(node, ast.Call):
        return False
    full = part.full(node.func)
    view = isinstance(node.func, ast.Attribute) and not node.args and \
        node.func.attr in ("keys", "values", "items")
    return view or full in ("set", "frozenset", *ARRAYS)
