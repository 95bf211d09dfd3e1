"""Which TensorFlow names a piece of Python uses, and where: read, never run."""

import ast
import builtins
from collections.abc import Callable, Iterator
from typing import NamedTuple

ROOT = "tf"
MODULE_ROOTS = (ROOT, "tf.compat", "tf.compat.v1", "tf.compat.v2")
OLD_METHODS = ("make_one_shot_iterator", "make_initializable_iterator")
AXIS_VALUE = "tf.Dimension.value"

Aliases = dict[str, str]


class Arguments(NamedTuple):
    """How a name is called.

    Attributes:
      positional: how many arguments stand without a name.
      keywords: the names of the others.
      open: more may come from `*args` or `**options`.
      number_first: the first argument is a whole number, as the axis once was.
    """

    positional: int
    keywords: tuple[str, ...]
    open: bool
    number_first: bool = False


class Use(NamedTuple):
    """One name of TensorFlow in a file.

    Attributes:
      line: from 1.
      column: from 1.
      name: in full, whatever the file calls it: `tf.contrib.slim.conv2d`.
      call: its arguments; `None` where it is not called here.
    """

    line: int
    column: int
    name: str
    call: Arguments | None


def canonical(module: str) -> str | None:
    """Returns `tf.x` for `tensorflow.x`, `None` for what is not TensorFlow."""
    first, dot, rest = module.partition(".")
    return f"{ROOT}{dot}{rest}" if first == "tensorflow" else None


class Reader(ast.NodeVisitor):
    """Walks syntax trees that share their aliases, such as the cells of a notebook.

    Attributes:
      uses: what was found.
      notes: `(line, words)` on what cannot be read from the text.
      aliases: what each local name, dotted or not, stands for.
    """

    def __init__(self, exists: Callable[[str], bool] = lambda name: False):
        """Starts with no alias.

        Args:
          exists: whether TensorFlow ever had a full name; decides what a name is that
            `from tensorflow import *` may have brought.
        """
        self.uses: list[Use] = []
        self.notes: list[tuple[int, str]] = []
        self.aliases: Aliases = {}
        self._exists, self._stars, self._bound = exists, [], set(dir(builtins))
        self._assigned: set[str] = set()
        self._branches = 0
        self._later: list[tuple[ast.AST, Aliases]] = []

    def read(self, tree: ast.Module) -> None:
        """Adds the uses of a tree; functions are read once all of it is known."""
        self._bound |= {n.id for n in ast.walk(tree)
                        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self._bound |= {n.name for n in ast.walk(tree)
                        if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
        self.visit(tree)
        while self._later:
            function, local = self._later.pop(0)
            self._read_function(function, local)

    def _read_function(self, function, local: Aliases) -> None:
        outside = self.aliases
        self.aliases = {**outside, **local}
        for name in _parameters(function.args):
            if self.aliases.get(name) not in MODULE_ROOTS:
                self._forget(name)
        body = function.body if isinstance(function.body, list) else [function.body]
        for node in body:
            self.visit(node)
        inner = self.aliases
        self._later = [(f, {**inner, **found}) if f in set(ast.walk(function)) else
                       (f, found) for f, found in self._later]
        self.aliases = outside

    # What binds a name.

    def visit_Import(self, node):
        for alias in node.names:
            full = canonical(alias.name)
            if full is None:
                self._forget(alias.asname or alias.name)
                continue
            local = alias.asname or "tensorflow"
            self._bind(local, full if alias.asname else ROOT)
            self._add(alias, full)

    def visit_ImportFrom(self, node):
        full = None if node.level else canonical(node.module or "")
        for alias in node.names:
            if full is None:
                self._forget(alias.asname or alias.name)
            elif alias.name == "*":
                self._stars.append(full)
                self._add(alias, full)
            else:
                self._bind(alias.asname or alias.name, f"{full}.{alias.name}")
                self._add(alias, f"{full}.{alias.name}")

    def visit_Assign(self, node):
        self.visit(node.value)
        for target in node.targets:
            self._assign(target, node.value)

    def visit_AnnAssign(self, node):
        self.visit(node.annotation)
        if node.value:
            self.visit(node.value)
            self._assign(node.target, node.value)

    def _assign(self, target, value) -> None:
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = zip(target.elts, value.elts, strict=False)
        for one, its_value in pairs:
            local, full = dotted(one), self._value(its_value)
            if local and full:
                self._bind(local, full)
                self._assigned.add(local)
            elif local:
                self._forget(local)
            else:
                self.visit(one)

    def visit_For(self, node):
        for name in ast.walk(node.target):
            if isinstance(name, ast.Name):
                self._forget(name.id)
        self.generic_visit(node)

    def visit_branch(self, node):
        self._branches += 1
        self.generic_visit(node)
        self._branches -= 1

    visit_If = visit_Try = visit_branch

    def visit_ClassDef(self, node):
        for part in [*node.decorator_list, *node.bases, *node.keywords]:
            self.visit(part)
        outside = dict(self.aliases)
        for method in ast.walk(node):  # `self.cell = tf...` in one serves the others
            if isinstance(method, ast.Assign):
                for target in method.targets:
                    local, full = dotted(target), self._value(method.value)
                    if local and full and local.startswith("self."):
                        self._bind(local, full)
        for statement in node.body:
            self.visit(statement)
        inner = {k: v for k, v in self.aliases.items() if outside.get(k) != v}
        own = {f"self.{k}": v for k, v in inner.items() if "." not in k}
        for number, (function, local) in enumerate(self._later):
            if function in node.body:
                self._later[number] = function, {**inner, **own, **local}
        self.aliases = outside

    def visit_FunctionDef(self, node):
        for part in [*node.decorator_list, *node.args.defaults,
                     *filter(None, node.args.kw_defaults)]:
            self.visit(part)
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg) and argument.annotation:
                self.visit(argument.annotation)
        if node.returns:
            self.visit(node.returns)
        self._later.append((node, {}))

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        for part in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(part)
        hidden = {name: self.aliases.pop(name) for name in _parameters(node.args)
                  if name in self.aliases and self.aliases[name] not in MODULE_ROOTS}
        self.visit(node.body)
        self.aliases |= hidden

    # What uses one.

    def visit_Call(self, node):
        arguments = Arguments(
            sum(not isinstance(a, ast.Starred) for a in node.args),
            tuple(k.arg for k in node.keywords if k.arg),
            any(isinstance(a, ast.Starred) for a in node.args)
            or any(k.arg is None for k in node.keywords),
            bool(node.args) and isinstance(node.args[0], ast.Constant)
            and type(node.args[0].value) is int,
        )
        name = self._full(node.func)
        if not name:
            self._special_call(node, arguments)
        if name:
            self._add(node.func, name, arguments)
        else:
            self.visit(node.func)
        for argument in [*node.args, *node.keywords]:
            self.visit(argument)

    def _special_call(self, node, arguments) -> None:
        """`partial(f, ...)` calls f; `getattr(tf, "x")` is `tf.x`."""
        function = dotted(node.func) or ""
        first = self._value(node.args[0]) if node.args else None
        if function.split(".")[-1] == "partial" and first:
            self._add(node.args[0], first, arguments._replace(
                positional=arguments.positional - 1, open=True))
        if function in ("getattr", "hasattr") and first and len(node.args) > 1:
            if full := self._value(node):
                self._add(node, full)
            else:
                self.notes.append((node.lineno, f"a name of {first} is made at run "
                                                "time: look for yourself"))
        if function.split(".")[-1] in ("import_module", "__import__") and \
                (full := self._value(node)):
            self._add(node, full)
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if method in OLD_METHODS:
            self._add(node.func, f"tf.data.Dataset.{method}", arguments)

    def visit_Attribute(self, node):
        if name := self._full(node):
            self._add(node, name)
            return
        if node.attr == "value" and _is_axis(node.value):
            self._add(node, AXIS_VALUE)
        self.generic_visit(node)

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load) and (name := self._full(node)):
            self._add(node, name)

    # Names in full.

    def _full(self, node) -> str | None:
        """Returns the full name of `a.b.c`, if `a` or `a.b` stands for TensorFlow."""
        local = dotted(node)
        if local is None:
            return None
        parts = local.split(".")
        for length in range(len(parts), 0, -1):
            known = ".".join(parts[:length])
            if full := self.aliases.get(known):
                if full.endswith(".FLAGS") and known in self._assigned:
                    return None  # FLAGS.x is the program's own
                rest = parts[length:]
                own = next((i for i, part in enumerate(rest) if part[:2] == "__"), None)
                return ".".join([full, *rest[:own]])
        for star in self._stars:
            if parts[0] not in self._bound and self._exists(f"{star}.{parts[0]}"):
                return f"{star}.{local}"
        return None

    def _value(self, node) -> str | None:
        """Returns what an expression stands for: a name, or one looked up by text."""
        if isinstance(node, ast.Call) and node.args:
            function = (dotted(node.func) or "").split(".")[-1]
            text = node.args[-1].value if isinstance(node.args[-1], ast.Constant) else 0
            if function in ("import_module", "__import__") and isinstance(text, str):
                return canonical(text)
            second = node.args[1] if len(node.args) > 1 else None
            if function in ("getattr", "hasattr") and isinstance(second, ast.Constant):
                first = self._full(node.args[0])
                return f"{first}.{second.value}" if first else None
            return None
        return self._full(node)

    def _bind(self, local: str, full: str) -> None:
        self.aliases[local] = full
        self._assigned.discard(local)

    def _forget(self, local: str) -> None:
        if not self._branches:
            self.aliases.pop(local, None)

    def _add(self, node, name: str, call: Arguments | None = None) -> None:
        if name not in MODULE_ROOTS and name.startswith("tf."):
            self.uses.append(Use(node.lineno, node.col_offset + 1, name, call))


def dotted(node) -> str | None:
    """Returns `"a.b.c"` of an expression of that form."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (left := dotted(node.value)):
        return f"{left}.{node.attr}"
    return None


def _parameters(arguments: ast.arguments) -> Iterator[str]:
    for argument in ast.walk(arguments):
        if isinstance(argument, ast.arg):
            yield argument.arg


def _is_axis(node) -> bool:
    """Whether an expression is `shape[1]`, `x.get_shape()[1]` or `x.shape[-1]`."""
    if not isinstance(node, ast.Subscript):
        return False
    whole = node.value
    if isinstance(whole, ast.Call):
        whole = whole.func
    return (dotted(whole) or getattr(whole, "attr", "")).split(".")[-1] in (
        "shape", "get_shape", "_shape")
