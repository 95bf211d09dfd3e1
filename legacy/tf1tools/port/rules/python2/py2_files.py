"""Opens files in text or binary mode, depending on what the program does with them.

Python 2 made no difference between text and bytes, but Python 3 does: a pickle or a
protocol buffer is bytes, whereas a table or a JSON file is text.

So the file of a pickle or a protocol buffer is opened with `b`. A file that is used for
JSON, `print >>` or text is opened without it, and so is a CSV file, which also gets
`newline=""`. The text in a pickle of Python 2 is read as Latin-1. The mode `U` no
longer exists.

Since: Python 3.0
Lesson: 10a
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
    """Corrects the modes of opened files and the encoding of pickles."""
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
    """Returns whether an expression is clearly text."""
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
    """Removes the letter `U` from a file mode, which Python 3.11 rejects."""
    name = dotted(node.func) or ""
    modes = [*node.args[1:2], *(word.value for word in node.keywords
                                if word.arg == "mode")]
    for mode in modes if name in ("open", "file", "io.open", "codecs.open") else ():
        value = getattr(mode, "value", "")
        if isinstance(value, str) and "U" in value:
            yield _letter("U", mode, part, "r" * (value == "U"))


@rule.python2(ast.Module)
def protos(node, part):
    """Opens the files of protocol buffers in binary mode."""
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
    """Returns the last call of `open` that created a stream, or `None`."""
    calls = [one for one in part.values(stream) if isinstance(one, ast.Call)
             and dotted(one.func) in ("open", "file") and one.lineno <= stream.lineno]
    return max(calls, key=lambda call: call.lineno, default=None)


def _without_b(opened: ast.Call | None, part, more: str = ""):
    mode = opened.args[1] if opened and len(opened.args) == 2 else None
    if isinstance(mode, ast.Constant) and "b" in str(mode.value):
        yield _letter("b", mode, part)
        yield part.behind(mode, more)


def _letter(letter: str, mode, part, new: str = "") -> Change:
    """Returns the change of one letter in a file mode."""
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
