"""Analyses names, calls and assignments in syntax trees."""

import ast
import contextlib
import sys
import threading
import warnings
from collections.abc import Iterator
from typing import NamedTuple

ROOT = "tf"
DEEPEST = 400  # levels of a syntax tree; a rule needs a few frames for each
MODULE_ROOTS = (ROOT, "tf.compat", "tf.compat.v1", "tf.compat.v2")

Aliases = dict[str, str]
# Python has one limit of recursion for all threads: what it was is kept here for each
# thread that has raised it, and the last one to leave sets it back.
_LIMIT, _before = threading.Lock(), list[int]()
# Methods that add a value to a collection.
_ADD = {"add", "append", "extend", "insert"}


class Arguments(NamedTuple):
    """Number, names and kinds of the arguments of a call.

    Attributes:
      positional: Number of positional arguments.
      keywords: Names of the keyword arguments.
      open: Whether `*args` or `**options` may contain more arguments.
      first: Kind of the first argument, judged by its literal: "int", "str", "list",
        "repeated" for `[x] * 2`, or "".
      second: Kind of the second argument.
    """

    positional: int
    keywords: tuple[str, ...]
    open: bool
    first: str = ""
    second: str = ""


def parse(code: str) -> ast.Module:
    """Parses Python 3 code without printing its syntax warnings.

    Raises:
      SyntaxError: If the code is not valid Python 3, or nests too deeply.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
    except (RecursionError, MemoryError, ValueError) as error:
        raise SyntaxError(f"cannot be parsed ({error})") from error
    if _is_too_deep(tree):
        raise SyntaxError(f"nests more than {DEEPEST} levels deep")
    return tree


@contextlib.contextmanager
def deep_trees() -> Iterator[None]:
    """Raises the recursion limit for rules that walk trees of `DEEPEST` levels."""
    with _LIMIT:
        _before.append(sys.getrecursionlimit())
        sys.setrecursionlimit(max(_before[-1], 20 * DEEPEST))
    try:
        yield
    finally:
        with _LIMIT:
            limit = _before.pop()
            if not _before:
                sys.setrecursionlimit(limit)


def _is_too_deep(tree: ast.Module) -> bool:
    """Returns whether a tree has more levels than code that calls itself can take."""
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [inner for node in level for inner in ast.iter_child_nodes(node)]
        if not level:
            return False
    return True


def canonical(module: str) -> str:
    """Replaces the prefix `tensorflow` of a module name with `tf`."""
    first, dot, rest = module.partition(".")
    return f"{ROOT}{dot}{rest}" if first == "tensorflow" else module


class Scope:
    """Namespace of a module, class or function, with full names."""

    def __init__(self, parent: "Scope | None" = None):
        self.parent = parent
        self.names: Aliases = {}
        self.hidden: set[str] = set()
        self.of_methods: Scope | None = None

    def get(self, local: str) -> str | None:
        """Returns the full name of a local name, or `None` if it is unknown."""
        scope: Scope | None = self
        first = local.partition(".")[0]
        while scope:
            if local in scope.names:
                return scope.names[local]
            if first in scope.hidden:
                return None
            scope = scope.parent
        return None


def dotted(node) -> str | None:
    """Returns the dotted name of an expression, such as "a.b.c", or `None`."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (left := dotted(node.value)):
        return f"{left}.{node.attr}"
    if isinstance(node, ast.Call) and not node.args and not node.keywords:
        return f"{left}()" if (left := dotted(node.func)) else None
    return None


def modules_of(node) -> list[str]:
    """Returns the full names of the modules that a statement imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level:
        return [node.module or ""]
    return []


def brought(node: ast.Import | ast.ImportFrom) -> Aliases:
    """Returns the local names that an import binds, with their full names."""
    if isinstance(node, ast.Import):
        return {a.asname or a.name.partition(".")[0]:
                canonical(a.name if a.asname else a.name.partition(".")[0])
                for a in node.names}
    return {a.asname or a.name: f"{canonical(node.module or '')}.{a.name}"
            for a in node.names}


def look_ahead(tree: ast.Module) -> tuple[set[str], Aliases]:
    """Returns the names that a file binds, and those known in all of it.

    A bound name may be an attribute that the file sets on an imported module, as in
    `tf.model = tf.keras.Sequential()`.

    The names known in all of it are imports of TensorFlow under a `global` statement,
    and calls of functions that return a module, such as `def get(): return tf`.
    """
    bound: set[str] = set()
    imported: Aliases = {}
    everywhere: set[str] = set()
    functions, attributes = [], []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            attributes.append(node)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
            functions += [node] if isinstance(node, ast.FunctionDef) else []
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.Global):
            everywhere.update(node.names)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            imported.update(brought(node))
    bound |= {f"{one.value.id}.{one.attr}" for one in attributes
              if isinstance(one.value, ast.Name) and one.value.id in imported}
    known = {n: imported[n] for n in everywhere & imported.keys()}
    for function in functions:
        last = function.body[-1]
        if isinstance(last, ast.Return) and last.value:
            full = imported.get(dotted(last.value) or "", "")
            if full.startswith(ROOT):
                known[f"{function.name}()"] = known[f"self.{function.name}()"] = full
    return bound | imported.keys(), known


def arguments_of(node: ast.Call) -> Arguments:
    """Returns the number, names and kinds of a call's arguments."""
    kinds = [_kind(argument) for argument in node.args[:2]]
    return Arguments(
        sum(not isinstance(a, ast.Starred) for a in node.args),
        tuple(k.arg for k in node.keywords if k.arg),
        any(isinstance(a, ast.Starred) for a in node.args)
        or any(k.arg is None for k in node.keywords),
        *kinds,
    )


def _kind(node) -> str:
    """Returns the type that a literal argument has, or "" for other arguments."""
    if isinstance(node, ast.UnaryOp):
        return _kind(node.operand)
    if isinstance(node, ast.Constant) and type(node.value) in (int, str):
        return type(node.value).__name__
    if isinstance(node, ast.JoinedStr):
        return "str"
    if isinstance(node, ast.BinOp):
        kinds = {"str": "str", "list": "repeated"}
        return kinds.get(_kind(node.left) or _kind(node.right), "")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return "str" if _kind(node.func.value) == "str" else ""
    return "list" if isinstance(node, ast.List | ast.Tuple) else ""


def is_axis(node) -> bool:
    """Returns whether an expression is an axis of a shape, such as `x.shape[1]`."""
    if not isinstance(node, ast.Subscript):
        return False
    whole = node.value
    if isinstance(whole, ast.Call):
        whole = whole.func
    return (dotted(whole) or getattr(whole, "attr", "")).split(".")[-1] in (
        "shape", "get_shape", "_shape")


class Given(NamedTuple):
    """Assignment of a value to a name.

    Attributes:
      local: Name that receives the value.
      value: Expression, or `None` if the value is unknown.
      whole: Whether the name receives the value itself and not a part of it.
    """

    local: str
    value: ast.AST | None
    whole: bool = True


def given_by(node: ast.AST) -> Iterator[Given]:
    """Yields the assignments that a syntax node makes."""
    match node:
        case ast.Assign():
            for target in node.targets:
                yield from _into(target, node.value)
        case ast.AnnAssign(value=ast.AST()) | ast.AugAssign() | ast.NamedExpr():
            yield from _into(node.target, node.value)
        case ast.For() | ast.AsyncFor() | ast.comprehension():
            yield from _into(node.target, node.iter, whole=False)
        case ast.withitem(optional_vars=ast.AST()):
            yield from _into(node.optional_vars, node.context_expr)
        case ast.Call(func=ast.Attribute(attr=name)) if name in _ADD and node.args:
            yield Given(dotted(node.func.value) or "", node.args[-1], False)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield Given(node.name, None)
        case ast.ClassDef():
            yield from (Given(node.name, base, False) for base in node.bases or [None])
        case ast.arg() if node.arg != "self":
            yield Given(node.arg, None)


def _into(target: ast.AST, value: ast.AST, whole: bool = True) -> Iterator[Given]:
    for one in ast.walk(target):
        if isinstance(getattr(one, "ctx", None), ast.Store) and (local := dotted(one)):
            yield Given(local, value, whole and one is target)
