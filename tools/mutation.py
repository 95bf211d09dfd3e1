"""The rules by which `tools.mutants` changes an answer; nothing is run here.

Each mutant is a whole source. A specialiser calls one of the functions of
`tools.special`, which the source then imports.
"""

import ast
import copy
from collections.abc import Callable, Iterator
from typing import NamedTuple

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
OF_INPUTS = ("first_item", "first_two", "last_item", "unique", "without_zeros",
             "absolute", "rounded", "filled")
OF_RESULTS = ("once", "without_gradient", "rounded", "first_item")
IMPORT = "from tools import special as _s\n"

Change = Callable[[ast.AST], ast.AST | None]


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
    whole, found, names = ast.unparse(tree), [], {}
    for special, rules in ((False, operators), (True, specialisers)):
        for path, rule, change in rules(tree):
            changed = _with(tree, path, change)
            if changed is None or (source := ast.unparse(changed)) == whole:
                continue
            if any(source == IMPORT * special + m.source for m in found):
                continue
            name = f"{rule}: {_short(_at(tree, path))}"
            names[name] = names.get(name, 0) + 1
            name += f" #{names[name]}" * (names[name] > 1)
            found.append(Mutant(name, special, IMPORT * special + source))
    return found


def operators(tree: ast.Module) -> Iterator[tuple[list, str, Change]]:
    """Yields where, which rule, and the change, of the ordinary mutants."""
    for path, node in _nodes(tree):
        if isinstance(node, ast.Constant):
            yield from _of_constant(path, node)
        elif isinstance(node, ast.Call):
            yield from _of_call(path, node)
        elif isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPPED:
            other = SWAPPED[type(node.op)]
            yield path, f"{other.__name__}", _set("op", other())
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPPED:
            other = SWAPPED[type(node.ops[0])]
            yield path, f"{other.__name__}", _set("ops", [other(), *node.ops[1:]])
        elif isinstance(node, ast.UnaryOp):
            yield path, "without its sign", lambda old: old.operand
        elif isinstance(node, ast.Slice):
            yield path, "whole slice", lambda old: ast.Slice()
        elif isinstance(node, ast.If | ast.IfExp | ast.While):
            yield path, "condition turned", lambda old: _turned(old)
        elif isinstance(node, ast.comprehension) and node.ifs:
            yield path, "condition gone", _set("ifs", [])
        if isinstance(node, ast.stmt) and not isinstance(
                node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
        ) and not _is_docstring(node):
            yield path, "statement gone", lambda old: ast.Pass()


def _of_constant(path, node):
    value = node.value
    if isinstance(value, bool):
        yield path, f"{not value}", lambda old: ast.Constant(not old.value)
    elif isinstance(value, int | float):
        yield path, "one more", lambda old: ast.Constant(old.value + 1)
        yield path, "one less", lambda old: ast.Constant(old.value - 1)


def _of_call(path, node):
    for k in range(len(node.args)):
        yield path, f"without argument {k + 1}", _without("args", k)
    for k, keyword in enumerate(node.keywords):
        if keyword.arg == "strict":  # a guard, which no right list meets
            continue
        yield path, f"without {keyword.arg}=", _without("keywords", k)
    for k in range(len(node.args) - 1):
        yield path, f"arguments {k + 1} and {k + 2} swapped", _exchange(k)


def specialisers(tree: ast.Module) -> Iterator[tuple[list, str, Change]]:
    """Yields the same of the changes that make an answer right for one case only."""
    for path, node in _nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield from _of_function(path, node)
        if isinstance(node, ast.For | ast.comprehension):
            for what in ("first_item", "last_item"):
                yield path, f"loop over {what}", _wrap("iter", what)
        if isinstance(node, ast.JoinedStr) or _is_written_out(node):
            yield path, "written out", lambda old: _call("once", old)


def _of_function(path, node):
    given = node.args
    for arg in [*given.posonlyargs, *given.args, *given.kwonlyargs]:
        if arg.arg in ("self", "cls"):
            continue
        for what in ("once", *OF_INPUTS):
            yield path, f"{arg.arg} {what} in", _first_line(arg.arg, what)
    for what in OF_RESULTS:
        yield path, f"returns {what} of", _returning(what)


def _is_written_out(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return (node.attr in WRITTEN_OUT and isinstance(node.ctx, ast.Load)
                and ast.unparse(node.value) not in MODULES)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in COUNTED
    return False


def _first_line(name: str, what: str) -> Change:
    def change(old):
        line = ast.Assign([ast.Name(name, ast.Store())],
                          _call(what, ast.Name(name, ast.Load())))
        old.body.insert(int(_is_docstring(old.body[0])), line)
        return old

    return change


def _returning(what: str) -> Change:
    def change(old):
        own = [node for node in _inside(old)
               if isinstance(node, ast.Return) and node.value is not None]
        for node in own:
            node.value = _call(what, node.value)
        return old if own else None

    return change


def _inside(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yields the nodes of a function, without those of functions within it."""
    waiting = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def _call(what: str, value: ast.expr) -> ast.Call:
    """Returns `_s.what(value)`; each place of `once` has a memory of its own."""
    place = ast.Constant(f"{getattr(value, 'lineno', 0)}:{ast.unparse(value)}")
    function = ast.Attribute(ast.Name("_s", ast.Load()), what, ast.Load())
    value = ast.Lambda(_no_arguments(), value) if what == "once" else value
    return ast.Call(function, [value, place] if what == "once" else [value], [])


def _no_arguments() -> ast.arguments:
    return ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[],
                         defaults=[])


def _wrap(field: str, what: str) -> Change:
    def change(old):
        setattr(old, field, _call(what, getattr(old, field)))
        return old

    return change


def _set(field: str, value) -> Change:
    def change(old):
        setattr(old, field, value)
        return old

    return change


def _without(field: str, k: int) -> Change:
    def change(old):
        del getattr(old, field)[k]
        return old

    return change


def _exchange(k: int) -> Change:
    def change(old):
        old.args[k], old.args[k + 1] = old.args[k + 1], old.args[k]
        return old

    return change


def _turned(old):
    old.test = ast.UnaryOp(ast.Not(), old.test)
    return old


def _is_docstring(node: ast.AST) -> bool:
    return (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str))


def _nodes(tree: ast.Module) -> Iterator[tuple[list, ast.AST]]:
    """Yields each node with its path.

    Annotations, defaults, the words of an error and `strict=` stay as they are.
    """
    waiting = [([], tree)]
    while waiting:
        path, node = waiting.pop()
        yield path, node
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "ctx", "decorator_list", "args") and (
                    isinstance(node, ast.FunctionDef | ast.Lambda | ast.arg)):
                continue
            if isinstance(node, ast.Raise) or field == "value" and (
                    isinstance(node, ast.keyword) and node.arg == "strict"):
                continue
            if isinstance(value, ast.AST):
                waiting.append(([*path, (field, None)], value))
            elif isinstance(value, list):
                waiting += [([*path, (field, k)], item) for k, item in enumerate(value)
                            if isinstance(item, ast.AST)]


def _at(tree: ast.AST, path: list) -> ast.AST:
    for field, k in path:
        tree = getattr(tree, field) if k is None else getattr(tree, field)[k]
    return tree


def _with(tree: ast.Module, path: list, change: Change) -> ast.Module | None:
    """Returns a copy with the node at a path changed; `None` where that cannot be."""
    new = copy.deepcopy(tree)
    changed = change(_at(new, path))
    if changed is None:
        return None
    if path:
        above, (field, k) = _at(new, path[:-1]), path[-1]
        if k is None:
            setattr(above, field, changed)
        else:
            getattr(above, field)[k] = changed
    return ast.fix_missing_locations(new)


def _short(node: ast.AST) -> str:
    if isinstance(node, ast.FunctionDef):
        return node.name
    text = ast.unparse(node).strip().splitlines()[0]
    return text if len(text) <= 70 else text[:67] + "..."
