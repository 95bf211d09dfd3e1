"""A pickle and a proto are bytes, a table of `csv` is text; to Python 2 all was one.

So the file of a pickle or a proto is opened with `b`, and that of a table without, and
with `newline=""`. A pickle of Python 2 is read with its text as Latin-1.

Since: Python 3.0
Sitting: 10a
Side: Python 2.7

Before:

    import csv, pickle
    f = open("a", "wb")
    csv.writer(f)
    f = open("b")
    print pickle.load(f)
    graph.ParseFromString(open("c").read())

After:

    import csv, pickle
    f = open("a", "w", newline="")
    csv.writer(f)
    f = open("b", "rb")
    print(pickle.load(f, encoding="latin1"))
    graph.ParseFromString(open("c", "rb").read())
"""

import ast

from tf1tools.port.rule import Change, Rule
from tf1tools.port.text.syntax import dotted

rule = Rule(__name__, __doc__, __file__)


@rule.python2(ast.Call)
def modes(node, part):
    """Opens each with its mode, and reads a pickle as one of Python 2."""
    module, _, function = (dotted(node.func) or "").rpartition(".")
    if module.lower() in ("pickle", "cpickle"):
        yield from _pickle(node, function, part)
    elif module == "csv" and node.args:
        yield from _without_b(_opening(node.args[0], part), part)


@rule.python2(ast.Module)
def protos(node, part):
    """Opens the file of a proto as bytes."""
    for file in part.protos():
        if opened := _opening(file, part):
            yield from _with_b(opened, part)


def _pickle(node, function: str, part):
    place = 1 if function == "dump" else 0
    opened = _opening(node.args[place], part) if len(node.args) > place else None
    if opened and function in ("load", "dump"):
        yield from _with_b(opened, part)
    if function in ("load", "loads") and len(node.args) == 1 and not node.keywords:
        yield from part.add_argument(node, 'encoding="latin1"')


def _opening(stream, part) -> ast.Call | None:
    """Returns the call of `open` that an expression stands for, the last before it."""
    calls = [one for one in part.values(stream) if isinstance(one, ast.Call)
             and dotted(one.func) == "open" and one.lineno <= stream.lineno]
    return max(calls, key=lambda call: call.lineno, default=None)


def _without_b(opened: ast.Call | None, part):
    mode = opened.args[1] if opened and len(opened.args) == 2 else None
    if isinstance(mode, ast.Constant) and "b" in str(mode.value):
        text = str(mode.value).replace("b", "")
        yield part.instead(mode, f'"{text}", newline=""')


def _with_b(opened: ast.Call, part):
    if opened.keywords:
        return
    if len(opened.args) == 1:
        yield from part.add_argument(opened, '"rb"')
    elif isinstance(opened.args[1], ast.Constant) and "b" not in str(
            opened.args[1].value):
        end = part.text.span(opened.args[1])[1] - 1
        yield Change(part, end, end, "b")
