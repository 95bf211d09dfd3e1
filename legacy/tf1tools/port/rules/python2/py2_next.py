"""`next` of an iterator is `__next__`; the view of a dictionary has none.

Since: Python 3.0
Sitting: 10a
Side: Python 2.7

Before:

    print rows.next(), d.iterkeys().next()

After:

    print(rows.__next__(), iter(d.keys()).__next__())

Left:

    class Rows:
        def next(self): return 1  # left: `__next__` in Python 3
    print Rows().next()
"""

import ast

from tf1tools.port.rule import Change, Rule

rule = Rule(__name__, __doc__, __file__)

VIEWS = ("iterkeys", "itervalues", "iteritems")


@rule.python2(ast.Call)
def ask(node, part):
    """Writes the name of today, unless the file has a `next` of its own."""
    if getattr(node.func, "attr", "") != "next" or node.args or any(
            one.name == "next" for one in _functions(part)):
        return
    end = part.text.span(node.func)[1]
    yield Change(part, end - len("next"), end, "__next__")
    if getattr(getattr(node.func.value, "func", None), "attr", "") in VIEWS:
        yield from part.wrapped(node.func.value, "iter(")


@rule.python2(ast.FunctionDef)
def own(node, part):
    """Leaves a method of that name; with more arguments it is none of Python's."""
    if node.name == "next" and len(node.args.args) < 2:
        yield part.left(node, "`next` is `__next__` in Python 3")


def _functions(part):
    return (one for one in part.nodes if isinstance(one, ast.FunctionDef))
