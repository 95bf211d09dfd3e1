"""Finds the library names that Python code uses, without running it."""

import ast
import builtins
from collections.abc import Callable, Container

from tf1tools.port.names.fates import exists
from tf1tools.port.names.today import asks
from tf1tools.port.reading.part import Use
from tf1tools.port.rule import ROWS, hooks_of
from tf1tools.port.table.known import is_gone
from tf1tools.port.text.syntax import (
    MODULE_ROOTS,
    ROOT,
    Aliases,
    Arguments,
    Scope,
    arguments_of,
    brought,
    canonical,
    dotted,
    is_axis,
    look_ahead,
    modules_of,
)

OLD_METHODS = ("make_one_shot_iterator", "make_initializable_iterator")
AXIS_VALUE = "tf.Dimension.value"
# Code that catches these errors, or tests these names, supports both Pythons.
_GUARDS = ("ImportError", "ModuleNotFoundError", "NameError", "AttributeError",
           "Exception")
_VERSIONS = ("version_info", "version", "PY2", "PY3", "hexversion", "hasattr",
             "__version__")


class Reader(ast.NodeVisitor):
    """Visitor that collects names from syntax trees with a common namespace.

    Attributes:
      uses: Uses of library names.
      imports: Import statements.
      top: Namespace of the module.
    """

    def __init__(self, exports: Callable[[str, int], Aliases | None],
                 own: Container[str]):
        """Starts with an empty namespace.

        Args:
          exports: Function `(module, level) -> names` that returns the names that
            another file of the project exports, or `None` if there is no such file.
          own: Names of methods that the project defines.
        """
        self.uses: list[Use] = []
        self.imports: list[ast.Import | ast.ImportFrom] = []
        self.top = self.scope = Scope()
        self._exports, self._own = exports, own
        self._stars: list[str] = []
        self.bound = set(dir(builtins))
        self._branches = self._guarded = 0
        self._later: list[tuple[ast.FunctionDef, Scope]] = []

    def read(self, tree: ast.Module) -> None:
        """Collects the uses in a tree, and visits function bodies last."""
        bound, known = look_ahead(tree)
        self.bound |= bound
        self.top.names |= known
        self.visit(tree)
        for function, scope in self._later:  # it grows by nested functions
            self._read_function(function, scope)
        self._later = []

    def _read_function(self, function, outside: Scope) -> None:
        self.scope = Scope(outside)
        self._hide(function.args, outside)
        self.scope.hidden.discard("self")
        for node in function.body:
            self.visit(node)
        self.scope = self.top

    def _hide(self, arguments: ast.arguments, outside: Scope) -> None:
        """Hides outer names that a function's parameters shadow."""
        self.scope.hidden |= {one.arg for one in ast.walk(arguments) if isinstance(
            one, ast.arg) and outside.get(one.arg) not in MODULE_ROOTS}

    # Nodes that bind a name.

    def visit_Import(self, node):
        self._note(node)
        for alias in node.names:
            full = canonical(alias.name)
            local = alias.asname or alias.name.partition(".")[0]
            exports = self._exports(alias.name, 0)
            if exports is None:
                self._bind(local, full if alias.asname else canonical(local))
                self._add(alias, full)
                continue
            self._forget(local)
            for name, value in exports.items():
                self._bind(f"{alias.asname or alias.name}.{name}", value)

    def _note(self, node) -> None:
        modules = {name.partition(".")[0] for name in modules_of(node)}
        ours = modules & {"tensorflow", "keras"}
        self.imports += [node] if ours or not self._guarded else []

    def visit_ImportFrom(self, node):
        self._note(node)
        module = canonical(node.module or "")
        exports = self._exports(node.module or "", node.level)
        for alias in node.names:
            local = alias.asname or alias.name
            if alias.name == "*":
                self._stars += [module] if exports is None and not node.level else []
                for name, value in (exports or {}).items():
                    self._bind(name, value)
            elif exports is None and not node.level:
                self._bind(local, f"{module}.{alias.name}")
                if alias.name[:2] != "__":
                    self._add(alias, f"{module}.{alias.name}")
            else:
                self._from_neighbour(node, alias.name, local, exports or {})

    def _from_neighbour(self, node, name: str, local: str, exports: Aliases) -> None:
        inside = f"{node.module}.{name}" if node.module else name
        self._forget(local)
        if name in exports:
            self._bind(local, exports[name])
        for inner, value in (self._exports(inside, node.level) or {}).items():
            self._bind(f"{local}.{inner}", value)

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

    def visit_Try(self, node):
        guards = any(dotted(name) in _GUARDS for handler in node.handlers
                     for name in ast.walk(handler.type or ast.Name("Exception")))
        self._guarded += guards
        self.visit_branch(node)
        self._guarded -= guards

    def visit_If(self, node):
        guards = any(getattr(part, "id", getattr(part, "attr", "")) in _VERSIONS
                     for part in ast.walk(node.test))
        self._guarded += guards
        self.visit_branch(node)
        self._guarded -= guards

    def visit_ClassDef(self, node):
        for part in [*node.decorator_list, *node.bases, *node.keywords]:
            self.visit(part)
        outside, methods = self.scope, Scope(self.scope)
        self.scope = Scope(outside)
        self.scope.of_methods = methods
        for statement in ast.walk(node):  # other methods see `self.cell = tf...`
            if isinstance(statement, ast.Import | ast.ImportFrom):
                self.scope.names |= brought(statement)
            if isinstance(statement, ast.Assign):
                for target in statement.targets:
                    local, full = dotted(target), self._value(statement.value)
                    if local and full and local.startswith("self."):
                        methods.names[local] = full
        self.scope.names = {}
        for statement in node.body:
            self.visit(statement)
        methods.names |= {f"self.{name}": full
                          for name, full in self.scope.names.items()}
        self.scope = outside

    def visit_FunctionDef(self, node):
        for part in [*node.decorator_list, node.args, *filter(None, [node.returns])]:
            self.visit(part)
        self._later.append((node, self.scope.of_methods or self.scope))

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        self.visit(node.args)
        outside, self.scope = self.scope, Scope(self.scope)
        self._hide(node.args, outside)
        self.visit(node.body)
        self.scope = outside

    # Nodes that use a name.

    def visit_Call(self, node):
        arguments = arguments_of(node)
        if found := self._full(node.func):
            self._add(node, found[0], arguments, found[1])
        else:
            self._special_call(node, arguments)
            self.visit(node.func)
        for argument in [*node.args, *node.keywords]:
            self.visit(argument)

    def _special_call(self, node, arguments) -> None:
        """Adds a method call on a value of unknown type."""
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if method in OLD_METHODS:
            self._add(node.func, f"tf.data.Dataset.{method}", arguments)
        elif method and method not in self._own:
            given = "..." if node.args or node.keywords else ""
            self._add(node.func, f".{method}({given})", arguments)

    def visit_Attribute(self, node):
        if node.attr[:2] == "__":
            self.visit(node.value)  # `__x__` is an attribute of the value
            return
        if found := self._full(node):
            self._add(node, found[0], through=found[1])
            return
        if node.attr == "value" and is_axis(node.value):
            self._add(node, AXIS_VALUE)
        self.generic_visit(node)

    def visit_Name(self, node):
        if not isinstance(node.ctx, ast.Load):
            return
        if found := self._full(node):
            self._add(node, found[0], through=found[1])
        elif node.id not in self.bound:
            self._add(node, f"builtins.{node.id}")

    # Full names.

    def _full(self, node) -> tuple[str, str] | None:
        """Returns the full name of a dotted expression and of its alias."""
        local = dotted(node)
        if local is None:
            return None
        parts = local.split(".")
        for length in range(len(parts), 0, -1):
            known = ".".join(parts[:length])
            if length > 1 and known in self.bound:
                return None  # the program has set this attribute itself
            if full := self.scope.get(known):
                if full.endswith(".FLAGS"):
                    return None  # the program defines the attributes of FLAGS
                rest = parts[length:]
                if any(part.endswith("()") for part in rest):
                    return None
                if any(part[:2] == "__" for part in rest):
                    return None  # `__x__` is an attribute of every module
                name = ".".join([full, *rest])
                return None if ".FLAGS." in name else (name, full)
        # The result of a call has methods, but no importable names.
        for star in self._stars if "()" not in local else ():
            full = f"{star}.{parts[0]}"
            if parts[0] not in self.bound and parts[0][:2] != "__" and (
                    exists(full) or full in ROWS or any(hooks_of("call", full))
                    or len(self._stars) == 1 and is_gone(full)):
                return f"{star}.{local}", star
        return None

    def _value(self, node) -> str | None:
        """Returns the full name that an expression refers to, or `None`."""
        if isinstance(node, ast.Call):
            return self.scope.get(dotted(node) or "")
        found = self._full(node)
        return found[0] if found else None

    def _bind(self, local: str, full: str) -> None:
        if full.rpartition(".")[2][:2] == "__":
            self._forget(local)
        else:
            self.scope.names[local] = full

    def _forget(self, local: str) -> None:
        if not self._branches:
            self.scope.names.pop(local, None)
            if "." not in local:
                self.scope.hidden.add(local)

    def _add(self, node, name: str, call: Arguments | None = None,
             through: str = ROOT) -> None:
        ours = name.startswith("tf.") and name not in MODULE_ROOTS
        if ours or (name != ROOT and not self._guarded and asks(name)):
            self.uses.append(Use(name, node, call, through))
