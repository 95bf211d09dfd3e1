"""Traces the values in a file to the modules that they come from."""

import ast
from collections import defaultdict

from tf1tools.port.text.syntax import dotted, given_by

# Built-in functions whose results come from their arguments.
_HAND_ON = {"enumerate", "filter", "iter", "list", "map", "max", "min", "next",
            "reversed", "set", "sorted", "tuple", "zip"}
_DICTIONARIES = {"dict", "globals", "locals", "vars"}
UNKNOWN = ""


class Origins:
    """Origins of the values that a file assigns to its names."""

    def __init__(self, trees: list[ast.Module], names: dict[str, str]):
        """Collects all values that are assigned to each name.

        Args:
          trees: Syntax trees of the file's parts.
          names: Local names of imports, with their full names.
        """
        self._names = names
        self._given: dict[str, list[ast.AST | None]] = defaultdict(list)
        for tree in trees:
            for node in ast.walk(tree):
                for local, value, _ in given_by(node):
                    self._given[local].append(value)

    def of(self, node: ast.AST, inside: ast.ClassDef | None = None) -> set[str]:
        """Returns the modules a value may come from, as `{"numpy"}` for `np.zeros(3)`.

        A dictionary belongs to "dict". If the file does not show the origin, as for the
        value of a parameter, it is `UNKNOWN`. The origin of `self` is that of the base
        classes.

        Args:
          node: Expression.
          inside: Class that contains the expression.
        """
        if inside and dotted(node) == "self":
            return self._of_all(inside.bases or [None], frozenset())
        return self._of(node, frozenset())

    def _of(self, node: ast.AST | None, seen: frozenset[str]) -> set[str]:
        local = dotted(node) if isinstance(node, ast.Name | ast.Attribute) else None
        if local in seen:
            return set()
        if local and (local in self._given or local in self._names):
            return self._of_name(local, seen | {local})
        match node:
            case ast.Name(name):
                return {"dict" if name in _DICTIONARIES else UNKNOWN}
            case ast.Attribute(value=ast.Name("self" | "cls")):
                return {UNKNOWN}
            case ast.Dict() | ast.DictComp():
                return {"dict"}
            case ast.Call(func=ast.Name(name)) if name in _HAND_ON:
                return self._of_all(node.args, seen)
            case ast.Call():
                return self._of(node.func, seen)
            case ast.Attribute() | ast.Subscript() | ast.Starred() | ast.Await():
                return self._of(node.value, seen)
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp():
                return self._of(node.elt, seen)
            case ast.List() | ast.Tuple() | ast.Set():
                return self._of_all(node.elts, seen)
            case ast.BinOp():
                return self._of_all([node.left, node.right], seen)
            case ast.BoolOp():
                return self._of_all(node.values, seen)
            case ast.IfExp():
                return self._of_all([node.body, node.orelse], seen)
            case ast.Constant(None):
                return set()
            case ast.Constant() | ast.JoinedStr():
                return {"python"}
        return {UNKNOWN}

    def _of_name(self, local: str, seen: frozenset[str]) -> set[str]:
        given = self._of_all(self._given.get(local, []), seen)
        full = self._names.get(local, "")
        return given | ({full.partition(".")[0]} if full else set())

    def _of_all(self, nodes, seen: frozenset[str]) -> set[str]:
        return set().union(*(self._of(one, seen) for one in nodes))
