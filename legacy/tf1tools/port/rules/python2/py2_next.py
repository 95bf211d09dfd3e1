"""Replaces the iterator method `next` with `__next__`.

The view of a dictionary is not an iterator and has no `__next__`, so it is wrapped in
`iter(...)`.

Since: Python 3.0
Lesson: 10a
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
    """Renames a call of `next` to `__next__`, unless the file defines `next`."""
    if getattr(node.func, "attr", "") != "next" or node.args or any(
            one.name == "next" for one in _functions(part)):
        return
    end = part.text.span(node.func)[1]
    yield Change(part, end - len("next"), end, "__next__")
    if getattr(getattr(node.func.value, "func", None), "attr", "") in VIEWS:
        yield from part.wrapped(node.func.value, "iter(")


@rule.python2(ast.FunctionDef)
def own(node, part):
    """Marks the definition of a method `next` without arguments."""
    if node.name == "next" and len(node.args.args) < 2:
        yield part.left(node, "this method is called `__next__` in Python 3")


def _functions(part):
    return (one for one in part.nodes if isinstance(one, ast.FunctionDef))
