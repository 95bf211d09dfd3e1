"""Converts or marks values that Python 3 treats differently, such as `None < 1`.

In Python 2, `None` was less than every number, a string could be raised, and the
variable of a list comprehension existed after it. `exec` could set the local variables
of a function, and `round` rounded halves away from zero. In Python 3, bytes never equal
text.

Since: Python 3.0 to 3.7
Lesson: 10a
Side: Python 2.7

Before:

    def numbers(path):
        f = open(path, "rb")
        if f.read(6) != "import":
            raise "no text"
        yield 1
        raise StopIteration
    print list(numbers("a"))

After:

    def numbers(path):
        f = open(path, "rb")
        if f.read(6) != b"import":
            raise Exception("no text")
        yield 1
        return
    print(list(numbers("a")))

Left:

    best = None
    print [one for one in x], one  # left: no longer exists
    if y > best or None < 3:  # left: less than
        print round(y)  # left: halves to even
    def f():
        exec "z = 1"  # left: no local
        return z
"""

import ast

from tf1tools.port.rule import Rule
from tf1tools.port.text.syntax import dotted

rule = Rule(__name__, __doc__, __file__)

NONE = ("`None` was less than every number, but today it cannot be compared: test "
        "`is None` first")
_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_FUNCTIONS = (ast.FunctionDef, ast.Lambda, ast.Module)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SAME_KIND = {"read", "readline", "strip", "lstrip", "rstrip", "lower", "upper"}
_TAKE_TEXT = {"startswith", "endswith", "split", "rsplit", "find", "rfind", "index",
              "count", "replace", "strip", "lstrip", "rstrip", "partition", "join"}


@rule.python2(ast.Raise)
def raised(node, part):
    """Wraps a raised string in `Exception`, and ends a generator with `return`."""
    if isinstance(getattr(node.exc, "value", None), str):
        yield from part.wrapped(node.exc, "Exception(")
    name = dotted(node.exc) or "" if node.exc else ""
    function = _function(node, part)
    if name in ("StopIteration", "StopIteration()") and any(
            isinstance(one, ast.Yield) and _function(one, part) is function
            for one in ast.walk(function)):
        yield part.instead(node, "return")


@rule.python2(ast.Compare)
def compared(node, part):
    """Marks an ordering with `None`, and compares bytes with bytes."""
    sides = [node.left, *node.comparators]
    if isinstance(node.ops[0], _ORDER):
        if any(_may_be_none(one, part) for one in sides):
            yield part.left(node, NONE)
    elif any(_is_bytes(one, part) for one in sides):
        yield from _as_bytes([inner for one in sides for inner in (
            one.elts if isinstance(one, ast.Tuple | ast.List) else [one])], part)


@rule.python2(ast.Call)
def asked(node, part):
    """Passes bytes to methods of bytes, and marks calls that changed meaning."""
    name = dotted(node.func)
    if name == "round" and len(node.args) == 1:
        yield part.left(node, "`round` of 2.5 was 3.0, but today it is the integer 2: "
                              "it rounds halves to even")
    elif name in ("sorted", "min", "max") and any(
            isinstance(one, ast.Constant) and one.value is None for given in node.args
            for one in [given, *getattr(given, "elts", [])]):
        yield part.left(node, NONE)
    elif name == "exec" and len(node.args) == 1 and not isinstance(
            _function(node, part), ast.Module):
        yield part.left(node, "`exec` sets no local variables of a function: pass a "
                              "dictionary, and read the values from it")
    elif getattr(node.func, "attr", "") in _TAKE_TEXT and _is_bytes(
            node.func.value, part):
        yield from _as_bytes(node.args, part)


@rule.python2(ast.ListComp)
def leaked(node, part):
    """Marks a list comprehension whose variable is used after it."""
    function = _function(node, part)
    names = {one.id for made in node.generators for one in ast.walk(made.target)
             if isinstance(one, ast.Name)}
    after = part.text.span(node)[1]
    uses = sorted(((part.start(one), one) for one in ast.walk(function)
                   if isinstance(one, ast.Name) and one.id in names
                   and part.start(one) >= after and _function(one, part) is function),
                  key=lambda pair: pair[0])
    seen: set[str] = set()
    for _, one in uses:
        if one.id not in seen and not _is_of_a_comprehension(one, part):
            seen.add(one.id)
            if isinstance(one.ctx, ast.Load) and not _is_set_by_loop(one, part):
                yield part.left(node, f"its variable {one.id} no longer exists "
                                      "after it: set it before it is used")


def _is_set_by_loop(name: ast.Name, part) -> bool:
    """Returns whether an enclosing loop or `with` binds a name."""
    node = part.parents.get(name)
    while node is not None and not isinstance(node, _FUNCTIONS):
        if isinstance(node, ast.For | ast.With) and any(
                isinstance(one, ast.Name) and one.id == name.id
                and isinstance(one.ctx, ast.Store) for one in ast.walk(node)):
            return True
        node = part.parents.get(node)
    return False


def _is_of_a_comprehension(name: ast.Name, part) -> bool:
    node = part.parents.get(name)
    while node is not None and not isinstance(node, _FUNCTIONS):
        if isinstance(node, _COMPREHENSIONS) and any(
                isinstance(one, ast.Name) and one.id == name.id
                for made in node.generators for one in ast.walk(made.target)):
            return True
        node = part.parents.get(node)
    return False


def _function(node, part):
    """Returns the function that contains a node, or the module."""
    node = part.parents.get(node, part.tree)
    while not isinstance(node, _FUNCTIONS):
        node = part.parents[node]
    return node


def _may_be_none(node, part) -> bool:
    """Returns whether a value may be `None` without being tested."""
    if isinstance(node, ast.Constant):
        return node.value is None
    name = dotted(node)
    given = part.given.get(name or "", [])
    return any(isinstance(one, ast.Constant) and one.value is None
               for one in given) and not any(_asks(one, name) for one in part.nodes)


def _asks(node, name) -> bool:
    """Returns whether a node tests a name for `None`."""
    match node:
        case ast.Compare(left=left, comparators=[ast.Constant(value=None)]):
            return dotted(left) == name
        case ast.If() | ast.IfExp() | ast.While() | ast.Assert():
            return dotted(node.test) == name
        case ast.UnaryOp(op=ast.Not()):
            return dotted(node.operand) == name
        case ast.BoolOp():
            return any(dotted(one) == name for one in node.values)
    return False


def _is_bytes(node, part, depth: int = 0) -> bool:
    """Returns whether a value was read from a file in binary mode."""
    if depth > 5:
        return False
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return _is_bytes(node.value, part, depth + 1)
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _SAME_KIND:
        return _is_bytes(node.func.value, part, depth + 1) or \
            node.func.attr.startswith("read") and any(
                _opens_bytes(one) for one in part.values(node.func.value))
    given = part.given.get(dotted(node) or "", []) if node is not None else []
    return bool(given) and all(_is_bytes(one, part, depth + 1) for one in given)


def _opens_bytes(node) -> bool:
    if not isinstance(node, ast.Call) or dotted(node.func) not in ("open", "file"):
        return False
    return any("b" in str(getattr(mode, "value", "")) for mode in node.args[1:2])


def _as_bytes(nodes, part):
    """Yields changes that add the prefix `b` to string literals."""
    for one in nodes:
        if isinstance(getattr(one, "value", None), str) and part.written(
                one)[:1] in ("'", '"'):
            yield next(part.wrapped(one, "b", ""))
