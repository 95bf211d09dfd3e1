"""A pickle and a proto are bytes, a table and JSON are text; to Python 2 all was one.

So the file of a pickle or a proto is opened with `b`. The file of JSON, of `print >>`
or of text is opened without, and that of a table too, with `newline=""`. A pickle of
Python 2 is read with its text as Latin-1. No mode has a `U` today.

Since: Python 3.0
Sitting: 10a
Side: Python 2.7

Before:

    import csv, json, pickle
    f = open("a", "wb")
    csv.writer(f)
    f = open("b")
    print pickle.load(f)
    graph.ParseFromString(open("c").read())
    with open("d", "wb") as g, open("e", "wb") as h, open("f", "rU") as lines:
        json.dump({}, g)
        h.write("%d words" % 3)
        print lines.read()

After:

    import csv, json, pickle
    f = open("a", "w", newline="")
    csv.writer(f)
    f = open("b", "rb")
    print(pickle.load(f, encoding="latin1"))
    graph.ParseFromString(open("c", "rb").read())
    with open("d", "w") as g, open("e", "w") as h, open("f", "r") as lines:
        json.dump({}, g)
        h.write("%d words" % 3)
        print(lines.read())
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
        yield from _without_b(_opening(node.args[0], part), part, ', newline=""')
    elif (dotted(node.func), len(node.args) > 1) == ("json.dump", True):
        yield from _without_b(_opening(node.args[1], part), part)
    elif dotted(node.func) == "print":
        yield from (change for word in node.keywords if word.arg == "file"
                    for change in _without_b(_opening(word.value, part), part))
    elif getattr(node.func, "attr", "") == "write" and node.args and _is_text(
            node.args[0], part):
        yield from _without_b(_opening(node.func.value, part), part)


def _is_text(node, part) -> bool:
    """Returns whether an expression is text by its spelling."""
    match node:
        case ast.BinOp():
            return _is_text(node.left, part) or isinstance(
                node.op, ast.Add) and _is_text(node.right, part)
        case ast.Call(func=ast.Attribute(attr="format" | "join")):
            return _is_text(node.func.value, part)
        case ast.Call():
            return dotted(node.func) in ("str", "json.dumps", "repr")
    return isinstance(node, ast.JoinedStr) or isinstance(
        getattr(node, "value", None), str)


@rule.node(ast.Call)
def without_u(node, part):
    """Takes a `U` out of a mode, which Python 3.11 refuses."""
    name = dotted(node.func) or ""
    modes = [*node.args[1:2], *(word.value for word in node.keywords
                                if word.arg == "mode")]
    for mode in modes if name in ("open", "file", "io.open", "codecs.open") else ():
        value = getattr(mode, "value", "")
        if isinstance(value, str) and "U" in value:
            yield _letter("U", mode, part, "r" * (value == "U"))


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
             and dotted(one.func) in ("open", "file") and one.lineno <= stream.lineno]
    return max(calls, key=lambda call: call.lineno, default=None)


def _without_b(opened: ast.Call | None, part, more: str = ""):
    mode = opened.args[1] if opened and len(opened.args) == 2 else None
    if isinstance(mode, ast.Constant) and "b" in str(mode.value):
        yield _letter("b", mode, part)
        yield part.behind(mode, more)


def _letter(letter: str, mode, part, new: str = "") -> Change:
    """Returns the change of one letter of a mode, so that two may change."""
    at = part.start(mode) + part.written(mode).rindex(letter)
    return Change(part, at, at + 1, new)


def _with_b(opened: ast.Call, part):
    if opened.keywords:
        return
    if len(opened.args) == 1:
        yield from part.add_argument(opened, '"rb"')
    elif isinstance(opened.args[1], ast.Constant) and "b" not in str(
            opened.args[1].value):
        end = part.text.span(opened.args[1])[1] - 1
        yield Change(part, end, end, "b")
