"""The rules by which `tools.mutants` changes an answer; nothing is run here.

Each mutant is a whole source. A specialiser calls one of the functions of
`tools.special`, which the source then imports.
"""

import ast
import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

SWAPPED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
}
# Attributes and calls that a one-case answer writes out.
WRITTEN_OUT = {"shape", "dtype", "name", "ndim", "size", "rank", "op", "device"}
MODULES = {"tf", "tf1", "np"}  # `tf.device` is no device
COUNTED = {"len", "range", "sum", "max", "min", "sorted", "set", "enumerate"}
OF_INPUTS = ("once", "first_item", "first_two", "last_item", "unique", "without_zeros",
             "absolute", "rounded", "filled")
OF_RESULTS = ("once", "without_gradient", "rounded", "first_item")
DEEDS = ("remembers_by_shape", "remembers_by_graph", "empties_arguments",
         "empties_collections", "needs_static_shapes", "calls_twice")
NO_TWICE = {"add", "assign", "close", "join", "request_stop", "restore", "save",
            "restore_or_initialize"}  # a second time changes nothing
WAITS = {"tf.control_dependencies", "tf1.control_dependencies", "tf.group", "tf.tuple"}
IMPORT = "from tools import special as _s\n"
# Annotations, defaults and the words of an error stay as they are.
KEPT = {
    ast.FunctionDef: ("args", "returns", "decorator_list"), ast.Lambda: ("args",),
    ast.AnnAssign: ("annotation",), ast.Raise: ("exc", "cause"),
}
GUARD = "strict"  # a keyword that no right list meets

# Where a node stands: the field and, of a list, the place in it, from the tree down.
Path = list[tuple[str, int | None]]
Change = tuple[str, ast.AST]  # which rule, and what stands there then


class Mutant(NamedTuple):
    """One changed answer.

    Attributes:
      name: which rule changed what; no two of an answer are alike.
      special: whether it is a specialiser.
      source: the whole answer.
    """

    name: str
    special: bool
    source: str


def mutants(answer: str) -> list[Mutant]:
    """Returns every mutant of an answer, each a single change.

    Args:
      answer: source whose last statement is the function or class to write.
    """
    tree = ast.parse(answer)
    known, found, names = {ast.unparse(tree)}, [], {}
    for special, rules in ((False, operators), (True, specialisers), (True, deeds)):
        for path, node in _nodes(tree):
            for rule, changed in rules(node):
                whole = ast.fix_missing_locations(_with(tree, path, changed))
                source = ast.unparse(whole)
                if source in known:
                    continue
                known.add(source)
                name = f"{rule}: {_short(node)}"
                names[name] = names.get(name, 0) + 1
                name += f" #{names[name]}" * (names[name] > 1)
                found.append(Mutant(name, special, IMPORT * special + source))
    return found


def operators(node: ast.AST) -> Iterator[Change]:
    """Yields the ordinary changes of a node."""
    if isinstance(node, ast.Constant):
        yield from _of_constant(node)
    elif isinstance(node, ast.Call):
        yield from _of_call(node)
    elif isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPPED:
        other = SWAPPED[type(node.op)]
        yield other.__name__, _but(node, op=other())
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPPED:
        other = SWAPPED[type(node.ops[0])]
        yield other.__name__, _but(node, ops=[other(), *node.ops[1:]])
    elif isinstance(node, ast.UnaryOp):
        yield "without its sign", node.operand
    elif isinstance(node, ast.Slice):
        yield "whole slice", ast.Slice()
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        yield "condition turned", _but(node, test=ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.comprehension):
        yield "condition gone", _but(node, ifs=[])
    elif isinstance(node, ast.With):
        for k, item in enumerate(node.items):
            rest = node.items[:k] + node.items[k + 1:]
            if not item.optional_vars:
                yield f"without `with` {k + 1}", (
                    _but(node, items=rest) if rest
                    else ast.If(ast.Constant(True), node.body, []))
    elif (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
          and getattr(node.value.func, "attr", "") not in NO_TWICE):
        yield "done twice", ast.If(ast.Constant(True), [node, node], [])
    elif isinstance(node, ast.FunctionDef) and node.decorator_list:
        yield "without its decorator", _but(node, decorator_list=[])
    if isinstance(node, ast.stmt) and not isinstance(
            node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
    ) and not _is_docstring(node):
        yield "statement gone", ast.Pass()


def _of_constant(node):
    if isinstance(node.value, bool):
        yield f"{not node.value}", ast.Constant(not node.value)
    elif isinstance(node.value, int | float):
        yield "one more", ast.Constant(node.value + 1)
        yield "one less", ast.Constant(node.value - 1)


def _of_call(node):
    given = node.args
    for k in range(len(given)):
        yield f"without argument {k + 1}", _but(node, args=given[:k] + given[k + 1:])
    for keyword in node.keywords:
        if keyword.arg != GUARD:
            rest = [other for other in node.keywords if other is not keyword]
            yield f"without {keyword.arg}=", _but(node, keywords=rest)
    if ast.unparse(node.func) in WAITS and given and isinstance(given[0], ast.List):
        for k in range(len(given[0].elts)):
            rest = given[0].elts[:k] + given[0].elts[k + 1:]
            yield f"does not wait for {k + 1}", _but(
                node, args=[_but(given[0], elts=rest), *given[1:]])
    for k in range(len(given) - 1):
        swapped = [*given[:k], given[k + 1], given[k], *given[k + 2:]]
        yield f"arguments {k + 1} and {k + 2} swapped", _but(node, args=swapped)


def specialisers(node: ast.AST) -> Iterator[Change]:
    """Yields the changes of a node that make an answer right for one case only."""
    if isinstance(node, ast.FunctionDef):
        first = int(_is_docstring(node.body[0]))
        given = node.args
        for arg in [*given.posonlyargs, *given.args, *given.kwonlyargs]:
            for what in OF_INPUTS if arg.arg not in ("self", "cls") else ():
                value = _call(what, ast.Name(arg.arg))
                line = ast.Assign([ast.Name(arg.arg)], value)
                body = [*node.body[:first], line, *node.body[first:]]
                yield f"{arg.arg} {what} in", _but(node, body=body)
        for what in OF_RESULTS:
            body = [_Returning(what).visit(copy.deepcopy(line)) for line in node.body]
            yield f"returns {what} of", _but(node, body=body)
    if isinstance(node, ast.For | ast.comprehension):
        for what in ("first_item", "last_item"):
            yield f"loop over {what}", _but(node, iter=_call(what, node.iter))
    if isinstance(node, ast.JoinedStr) or _is_written_out(node):
        yield "written out", _call("once", node)


def deeds(node: ast.AST) -> Iterator[Change]:
    """Yields the changes of an answer that leave its value in a first call alone."""
    if isinstance(node, ast.Module | ast.ClassDef):
        for k, part in enumerate(node.body):
            for what in DEEDS if isinstance(part, ast.FunctionDef) else ():
                around = ast.Attribute(ast.Name("_s"), what)
                part = _but(node.body[k], decorator_list=[
                    *node.body[k].decorator_list, around])
                yield f"{part.name} {what} in", _but(
                    node, body=[*node.body[:k], part, *node.body[k + 1:]])


class _Returning(ast.NodeTransformer):
    """Changes what a function returns, and not what functions within it do."""

    def __init__(self, what: str):
        self.what = what

    def visit_Return(self, node):
        return node.value and _but(node, value=_call(self.what, node.value)) or node

    def visit_FunctionDef(self, node):
        return node

    visit_ClassDef = visit_Lambda = visit_FunctionDef


def _is_written_out(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return (node.attr in WRITTEN_OUT and isinstance(node.ctx, ast.Load)
                and ast.unparse(node.value) not in MODULES)
    return isinstance(node, ast.Call) and ast.unparse(node.func) in COUNTED


def _call(what: str, value: ast.expr) -> ast.Call:
    """Returns `_s.what(value)`; each place of `once` has a memory of its own."""
    given = [value]
    if what == "once":
        nothing = ast.arguments([], [], None, [], [], None, [])
        place = f"{getattr(value, 'lineno', 0)}:{ast.unparse(value)}"
        given = [ast.Lambda(nothing, value), ast.Constant(place)]
    return ast.Call(ast.Attribute(ast.Name("_s"), what), given, [])


def _is_docstring(node: ast.AST) -> bool:
    return (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str))


def _nodes(tree: ast.AST) -> Iterator[tuple[Path, ast.AST]]:
    """Yields each node that may change, with its path."""
    waiting: list[tuple[Path, ast.AST]] = [([], tree)]
    while waiting:
        path, node = waiting.pop()
        yield path, node
        for field, value in ast.iter_fields(node):
            if field in KEPT.get(type(node), ()) or getattr(node, "arg", "") == GUARD:
                continue
            if isinstance(value, ast.AST):
                waiting.append(([*path, (field, None)], value))
            elif isinstance(value, list):
                waiting += [([*path, (field, k)], item) for k, item in enumerate(value)
                            if isinstance(item, ast.AST)]


def _with(tree: Any, path: Path, new: ast.AST) -> Any:
    """Returns a tree with another node at a path, and shares the rest with the old."""
    if not path:
        return new
    (field, k), *rest = path
    old = getattr(tree, field)
    if k is None:
        return _but(tree, **{field: _with(old, rest, new)})
    return _but(tree, **{field: [*old[:k], _with(old[k], rest, new), *old[k + 1:]]})


def _but(node: ast.AST, **fields) -> Any:
    """Returns a copy of a node with other fields."""
    new = copy.copy(node)
    vars(new).update(fields)
    return new


def _short(node: ast.AST) -> str:
    if isinstance(node, ast.Module):
        return "the answer"
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return node.name
    text = ast.unparse(node).strip().splitlines()[0]
    return text if len(text) <= 70 else text[:67] + "..."
