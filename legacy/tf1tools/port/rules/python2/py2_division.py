"""Replaces `/` with `//` if both operands are integers, as in Python 2.

In Python 2, `/` of two integers returned an integer. If both operands are clearly
integers, the operator becomes `//`. If one is clearly not an integer, or if the file
imports the new division, the operator stays. Otherwise the line is left for you.

Since: Python 3.0
Lesson: 10a
Side: Python 2.7

Before:

    n = len(x)
    print n / 2, 0.5 * n / 3, [0] * n, range(n / 2)
    halves = [k / 2 for k in range(n)]
    steps = size / batch_size
    for step in range(steps): pass

After:

    n = len(x)
    print(n // 2, 0.5 * n / 3, [0] * n, list(range(n // 2)))
    halves = [k // 2 for k in range(n)]
    steps = size // batch_size
    for step in range(steps): pass

Files that import each other are of one Python:

Before:

    # file: main.py
    from net import half
    print half(3)
    # file: net.py
    def half(n):
        return len(n) / 2

After:

    # file: main.py
    from net import half
    print(half(3))
    # file: net.py
    def half(n):
        return len(n) // 2

Left:

    print a / b  # left: write `//` if both are

Left:

    for name, column in frame.iteritems():
        print(name, 7 / 2)  # left: write `//` if this is Python 2 code
"""

import ast

from tf1tools.port.rule import Change, Rule
from tf1tools.port.text.syntax import dotted

rule = Rule(__name__, __doc__, __file__)

WHOLE = {"len", "int", "ord"}
FLOATS = {"float", "sqrt", "exp", "log", "mean", "std", "float32", "float64",
          "to_float", "reduce_mean", "random_normal", "truncated_normal",
          "random_uniform", "time"}


@rule.python2(ast.BinOp, ast.AugAssign, perhaps="write `//`")
def divide(node, part):
    """Writes `//` for integers, or marks the line if the types are unknown."""
    if not isinstance(node.op, ast.Div) or _divides_as_today(part):
        return
    left, right = (node.left, node.right) if isinstance(node, ast.BinOp) else (
        node.target, node.value)
    kinds = {kind_of(left, part), kind_of(right, part)}
    if "float" in kinds or _is_argument(node, part, "int"):  # it drops the fraction
        return
    if kinds == {"int"} or any(_is_argument(one, part, "range", "xrange")
                               for one in _named(node, part)):
        end, start = part.text.span(left)[1], part.text.span(right)[0]
        sign = part.text.text.index("/", end, start)
        yield Change(part, sign, sign + 1, "//")
    else:
        yield part.left(node, "in Python 2, `/` of two integers returned an integer: "
                              "write `//` if both are integers")


def _divides_as_today(part) -> bool:
    return any(alias.name == "division" for node in part.tree.body
               if isinstance(node, ast.ImportFrom) and node.module == "__future__"
               for alias in node.names)


def _named(node, part):
    """Yields a value and the uses of the name that it is assigned to."""
    yield node
    match part.parents[node]:
        case ast.Assign(targets=[ast.Name(name)]):
            yield from (one for one in part.nodes if isinstance(one, ast.Name)
                        and one.id == name and isinstance(one.ctx, ast.Load))


def _is_argument(node, part, *names: str) -> bool:
    """Returns whether a node is an argument of one of the given functions."""
    call = part.parents[node]
    return isinstance(call, ast.Call) and node in call.args and \
        dotted(call.func) in names


def kind_of(node, part, depth: int = 0) -> str:
    """Returns the type of a value, such as "int" or "float", or "" if unknown."""
    if node is None or depth > 8:
        return ""
    if isinstance(node, ast.Constant):
        return type(node.value).__name__
    if isinstance(node, ast.UnaryOp):
        return kind_of(node.operand, part, depth + 1)
    if isinstance(node, ast.BinOp):
        kinds = {kind_of(one, part, depth + 1) for one in (node.left, node.right)}
        return "float" if "float" in kinds else "int" if kinds == {"int"} else ""
    if isinstance(node, ast.Subscript):
        whole = node.value.func if isinstance(node.value, ast.Call) else node.value
        return "int" if getattr(whole, "attr", "") == "shape" else ""
    if isinstance(node, ast.Call):
        return _kind_of_call(node)
    values = part.given.get(dotted(node) or "", [])
    kinds = {kind_of(value, part, depth + 1) for value in values}
    return kinds.pop() if len(kinds) == 1 else ""


def _kind_of_call(node) -> str:
    name = dotted(node.func) or ""
    if name.startswith("math.") or name.split(".")[-1] in FLOATS or any(
            (dotted(one) or "").endswith(".float32") for one in node.args):
        return "float"
    return "int" if name in WHOLE else ""
