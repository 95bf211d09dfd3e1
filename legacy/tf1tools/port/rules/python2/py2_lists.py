"""`map`, `filter`, `zip`, `range` and the methods of a dictionary gave lists.

Today they give what can be gone through. Where the text goes through it, or hands it to
something that does, it stays; elsewhere a list is made.

Since: Python 3.0
Sitting: 10a
Side: Python 2.7

Before:

    print map(f, x)[0], sorted(d.keys())
    for k in d.keys():
        print k

After:

    print(list(map(f, x))[0], sorted(d.keys()))
    for k in d.keys():
        print(k)

Left:

    for k, v in frame.iteritems():
        pairs = zip(k, v)  # left: list(...) if it is Python 2
"""

import ast

from tf1tools.port.rule import Rule
from tf1tools.port.text.syntax import dotted

rule = Rule(__name__, __doc__, __file__)

LISTS = {"map", "filter", "zip", "range"}
VIEWS = {"keys", "values", "items"}
# What takes any iterable, once.
TAKERS = {"list", "tuple", "set", "frozenset", "sorted", "sum", "min", "max", "any",
          "all", "enumerate", "zip", "map", "filter", "dict", "join", "extend"}


@rule.python2(ast.Call, perhaps="list(...)")
def make_list(node, part):
    """Makes a list of what gave one."""
    if _gave_list(node, part) and not _is_gone_through(node, part.parents[node]):
        yield from part.wrapped(node, "list(")


def _gave_list(node, part) -> bool:
    if isinstance(node.func, ast.Name):
        return node.func.id in LISTS and node.func.id not in part.given
    return (isinstance(node.func, ast.Attribute) and node.func.attr in VIEWS
            and not node.args and not node.keywords)


def _is_gone_through(node, parent) -> bool:
    if isinstance(parent, ast.For | ast.comprehension):
        return parent.iter is node
    if isinstance(parent, ast.Call):
        name = dotted(parent.func) or getattr(parent.func, "attr", "")
        return name.split(".")[-1] in TAKERS
    return isinstance(parent, ast.Compare | ast.Starred | ast.Expr)
