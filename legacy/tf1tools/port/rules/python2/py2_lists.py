"""Wraps `map`, `filter`, `zip`, `range` and dictionary views in `list(...)`.

In Python 2, these functions and methods returned lists, but today they return iterators
or views. If the program only iterates over the result, or passes it to a function that
does, nothing is changed. Otherwise it is wrapped in `list(...)`, and so it is if a loop
modifies the object that it iterates over. `map` of several lists continued to the end
of the longest list, and `filter` of a string returned a string.

Since: Python 3.0
Lesson: 10a
Side: Python 2.7

Before:

    print map(f, x)[0], sorted(d.keys())
    for k in d.keys():
        print k
    map(seen.append, x)
    for k in enumerate(d.keys()):
        del d[k]
    a = map(f, x, y)
    b = map(None, x, y)
    print filter(f, "a1b2"), d.keys() == x

After:

    import itertools
    print(list(map(f, x))[0], sorted(d.keys()))
    for k in d.keys():
        print(k)
    list(map(seen.append, x))
    for k in enumerate(list(d.keys())):
        del d[k]
    a = list(itertools.starmap(f, itertools.zip_longest(x, y)))
    b = list(itertools.zip_longest(x, y))
    print("".join(filter(f, "a1b2")), list(d.keys()) == x)

Left:

    for k, v in frame.iteritems():
        pairs = zip(k, v)  # left: list(...) if this is Python 2 code

Left:

    print filter(str.isdigit, word)  # left: "".join
"""

import ast

from tf1tools.port.rule import Change, Need, Rule
from tf1tools.port.rules.python2.py2_division import kind_of
from tf1tools.port.text.syntax import dotted

rule = Rule(__name__, __doc__, __file__)

LISTS = {"map", "filter", "zip", "range"}
VIEWS = {"keys", "values", "items"}
# Functions that accept any iterable and read it once.
TAKERS = {"list", "tuple", "set", "frozenset", "sorted", "sum", "min", "max", "any",
          "all", "enumerate", "zip", "map", "filter", "dict", "join", "extend"}


# Functions that read their argument only while they are iterated over.
LATE = {"enumerate", "zip", "map", "filter"}
CHANGES = {"add", "append", "clear", "discard", "extend", "insert", "pop", "popitem",
           "remove", "reverse", "setdefault", "sort", "update"}


@rule.python2(ast.Call, perhaps="write list(...)")
def make_list(node, part):
    """Wraps a call in `list(...)` if it has to return a list."""
    if not _gave_list(node, part):
        return
    name = getattr(node.func, "id", "")
    if name == "filter" and len(node.args) == 2:
        if getattr(getattr(part.parents[node], "func", None), "attr", "") == "join":
            return
        if kind_of(node.args[1], part) == "str":
            yield from part.wrapped(node, '"".join(')
            return
        if (dotted(node.args[0]) or "").partition(".")[0] in ("str", "unicode"):
            yield part.left(node, '`filter` of a string returned a string: write '
                                  '"".join(filter(...)) if this is a string')
            return
    elif name == "map" and len(node.args) > 1 and not any(
            isinstance(one, ast.Starred) for one in node.args):
        yield from _map(node, part)
    if not _is_gone_through(node, part.parents[node]) or _is_changed(node, part):
        yield from part.wrapped(node, "list(")


def _map(node, part):
    """Yields the changes for `map` of several lists or with `None`."""
    several, nothing = len(node.args) > 2, dotted(node.args[0]) is None and getattr(
        node.args[0], "value", "") is None
    if not several and not nothing:
        return
    function = part.text.span(node.func)
    (start, end), (second, _), *_ = spans = part.arguments(node)
    longest = "itertools.zip_longest"
    if nothing:
        yield Change(part, *function, longest if several else "iter")
        yield Change(part, start, second, "")
    else:
        yield Change(part, *function, "itertools.starmap")
        yield Change(part, second, second, f"{longest}(", part.depth(node) + 0.5)
        yield Change(part, spans[-1][1], spans[-1][1], ")", -part.depth(node) - 0.5)
    if several:
        yield Need(part, "import itertools")


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
        return name.split(".")[-1] in TAKERS and parent.func is not node
    if isinstance(parent, ast.Compare):
        return not isinstance(parent.ops[-1], ast.Eq | ast.NotEq) and \
            parent.comparators[-1] is node
    return isinstance(parent, ast.Starred)


def _is_changed(node, part) -> bool:
    """Returns whether a loop over a value modifies the value's source."""
    taken, parent = node, part.parents[node]
    while isinstance(parent, ast.Call) and dotted(parent.func) in LATE:
        taken, parent = parent, part.parents[parent]
    loop = parent if isinstance(parent, ast.For) and parent.iter is taken else \
        part.parents[parent] if isinstance(parent, ast.comprehension) else None
    names = {dotted(one) for one in ast.walk(node)} - {None}
    return loop is not None and any(
        changed in names for one in ast.walk(loop) for changed in _changed(one))


def _changed(node) -> list[str | None]:
    match node:
        case ast.Subscript(ctx=ast.Store() | ast.Del()):
            return [dotted(node.value)]
        case ast.Call(func=ast.Attribute(attr=name)) if name in CHANGES:
            return [dotted(node.func.value)]
    return []
