"""What the same text meant to Python 2: lists, whole division, pickles in text mode."""

import ast
from collections import defaultdict
from collections.abc import Iterator

from tools.port.edits import Edit, Text
from tools.port.syntax import dotted

_LISTS = {"map", "filter", "zip", "range"}
_VIEWS = {"keys", "values", "items"}
# What takes any iterable, once.
_TAKERS = {"list", "tuple", "set", "frozenset", "sorted", "sum", "min", "max", "any",
           "all", "enumerate", "zip", "map", "filter", "dict", "join", "extend"}
_WHOLE = {"len", "int", "ord"}
_FLOATS = {"float", "sqrt", "exp", "log", "mean", "std", "float32", "float64",
           "to_float", "reduce_mean", "random_normal", "truncated_normal",
           "random_uniform", "time"}

_GIVE_BYTES = {"tostring", "tobytes", "SerializeToString", "encode"}


class Meaning:
    """Finds where Python 3 takes a text of Python 2 otherwise.

    Attributes:
      edits: the changes that keep what was meant.
      left: `(line, words)` where nobody can tell from the text.
    """

    def __init__(self, tree: ast.Module, text: Text):
        self.edits: list[Edit] = []
        self.left: list[tuple[int, str]] = []
        self._text = text
        self._values: dict[str, list] = defaultdict(list)
        self._opened: dict[str, list[ast.Call]] = defaultdict(list)
        self._divides = True
        self._ranges: set[ast.expr] = set()
        self._truncated: set[ast.expr] = set()
        self._own_next = False
        self._caught: set[str | None] = set()
        nodes: list[ast.AST] = [tree]
        calls: list[tuple[ast.AST, ast.Call]] = []
        for node in nodes:  # it grows: what is outside comes before what is inside
            self._learn(node)
            children = list(ast.iter_child_nodes(node))
            nodes += children
            calls += [(node, one) for one in children if isinstance(one, ast.Call)]
        for parent, call in calls:
            if self._makes_list(call) and not self._iterates(parent, call):
                start, end = text.span(call)
                self.edits += [Edit(start, start, "list("), Edit(end, end, ")")]
        for node in nodes:
            if isinstance(node, ast.Call):
                self._call(node)
            elif isinstance(node, ast.Attribute) and node.attr == "message" and \
                    getattr(node.value, "id", "") in self._caught:
                self.left.append((node.lineno, "`message` is str() of the exception; "
                                               "TensorFlow's errors have it still"))
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                self._divide(node, node.left, node.right)
            elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div):
                self._divide(node, node.target, node.value)

    def _learn(self, node) -> None:
        """Notes what names are given, and what the file says of itself."""
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._given(target, node.value)
        elif isinstance(node, ast.AugAssign):
            self._given(node.target, node.value)
        elif isinstance(node, ast.For):
            ranges = dotted(getattr(node.iter, "func", None)) in ("range", "xrange")
            self._given(node.target, ast.Constant(0) if ranges else None)
        elif isinstance(node, ast.arg):
            self._values[node.arg].append(None)
        elif isinstance(node, ast.withitem) and node.optional_vars:
            self._given(node.optional_vars, node.context_expr)
        elif isinstance(node, ast.ImportFrom) and node.module == "__future__":
            self._divides &= all(a.name != "division" for a in node.names)
        elif isinstance(node, ast.ExceptHandler):
            self._caught.add(node.name)
        elif isinstance(node, ast.FunctionDef) and node.name == "next":
            self._own_next = True
            if len(node.args.args) < 2:  # with more it is none of Python's
                self.left.append((node.lineno, "`next` is `__next__` in Python 3"))

    def _given(self, target, value) -> None:
        names = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        for one in names:
            if local := dotted(one):
                self._values[local].append(value if one is target else None)
        local = dotted(target)
        if local and isinstance(value, ast.Call) and dotted(value.func) == "open":
            self._opened[local].append(value)

    # Lists that are views and generators today.

    def _makes_list(self, node: ast.Call) -> bool:
        if isinstance(node.func, ast.Name):
            return node.func.id in _LISTS and node.func.id not in self._values
        return (isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS
                and not node.args and not node.keywords)

    def _iterates(self, parent, node) -> bool:
        if isinstance(parent, ast.For | ast.comprehension):
            return parent.iter is node
        if isinstance(parent, ast.Call):
            return (dotted(parent.func) or getattr(parent.func, "attr", "")).split(
                ".")[-1] in _TAKERS
        return isinstance(parent, ast.Compare | ast.Starred | ast.Expr)

    # `/` between whole numbers.

    def _divide(self, node, left, right) -> None:
        kinds = {self._kind(left), self._kind(right)}
        if not self._divides or "float" in kinds or node in self._truncated:
            return
        if kinds == {"int"} or node in self._ranges:
            end, start = self._text.span(left)[1], self._text.span(right)[0]
            sign = self._text.text.index("/", end, start)
            self.edits.append(Edit(sign, sign + 1, "//"))
        else:
            self.left.append((node.lineno, "`/` of two whole numbers gave a whole one: "
                                           "write `//` if both are"))

    def _kind(self, node, depth: int = 0) -> str:
        """Returns "int", "float", or "" where the text does not say."""
        if node is None or depth > 8:
            return ""
        if isinstance(node, ast.Constant):
            return type(node.value).__name__
        if isinstance(node, ast.UnaryOp):
            return self._kind(node.operand, depth + 1)
        if isinstance(node, ast.BinOp):
            return self._common([node.left, node.right], depth)
        if isinstance(node, ast.Subscript):
            value = node.value
            value = value.func if isinstance(value, ast.Call) else value
            return "int" if getattr(value, "attr", "") == "shape" else ""
        if isinstance(node, ast.Call):
            name = dotted(node.func) or ""
            last = name.split(".")[-1]
            if name.startswith("math.") or last in _FLOATS or any(
                    (dotted(part) or "").endswith(".float32") for part in node.args):
                return "float"
            return "int" if name in _WHOLE else ""
        values = self._values.get(dotted(node) or "", [])
        kinds = {self._kind(value, depth + 1) for value in values}
        return kinds.pop() if len(kinds) == 1 else ""

    def _common(self, nodes: list, depth: int) -> str:
        kinds = {self._kind(node, depth + 1) for node in nodes}
        return "float" if "float" in kinds else "int" if kinds == {"int"} else ""

    # What is a matter of bytes and text.

    def _call(self, node: ast.Call) -> None:
        name = dotted(node.func) or ""
        if name in ("range", "xrange"):  # they took whole numbers only
            self._ranges.update(node.args)
        elif name == "int":  # it cuts off what `//` would
            self._truncated.update(node.args)
        method = getattr(node.func, "attr", "")
        if name.partition(".")[0].lower() in ("pickle", "cpickle"):
            self._pickle(node, method)
        elif name.partition(".")[0] == "csv" and node.args:
            self.edits += self._textual(self._opening(node.args[0]))
        elif name.endswith(".train.BytesList"):
            self._as_bytes(node, name.removesuffix(".train.BytesList"))
        elif method == "encode" and node.args and getattr(
                node.args[0], "value", "") in ("hex", "base64", "zlib", "rot13"):
            self.left.append((node.lineno, "`encode` to this is codecs.encode, of "
                                           "bytes"))
        elif method == "decode":
            self.left.append((node.lineno, "`decode`: bytes have it, text has not"))
        elif name == "input":
            self.left.append((node.lineno, "`input` evaluated what was typed"))
        elif method == "next" and not node.args and not self._own_next:
            end = self._text.span(node.func)[1]
            self.edits.append(Edit(end - len("next"), end, "__next__"))
            made = getattr(getattr(node.func.value, "func", None), "attr", "")
            if made in ("iterkeys", "itervalues", "iteritems"):  # a view has no next
                start, end = self._text.span(node.func.value)
                self.edits += [Edit(start, start, "iter("), Edit(end, end, ")")]
        for keyword in node.keywords:
            if keyword.arg == "cmp":
                self.left.append((node.lineno, "cmp= is key=functools.cmp_to_key(...)"))

    def _pickle(self, node: ast.Call, method: str) -> None:
        stream = node.args[method == "dump"] if len(node.args) > (method == "dump") \
            else None
        opened = self._opening(stream)
        if opened and method in ("load", "dump"):
            self.edits += self._binary(opened)
        if method in ("load", "loads") and len(node.args) == 1 and not node.keywords:
            end = self._text.span(node.args[0])[1]
            self.edits.append(Edit(end, end, ', encoding="latin1"'))

    def _as_bytes(self, node: ast.Call, root: str) -> None:
        """Text and bytes were one thing, and a `BytesList` takes bytes."""
        for one in (one for word in node.keywords
                    for one in getattr(word.value, "elts", [])):
            if self._kind(one) != "bytes" and getattr(
                    getattr(one, "func", None), "attr", "") not in _GIVE_BYTES:
                start, end = self._text.span(one)
                self.edits += [Edit(start, start, f"{root}.compat.as_bytes("),
                               Edit(end, end, ")")]

    def _opening(self, stream) -> ast.Call | None:
        """Returns the call of `open` that an expression stands for."""
        if isinstance(stream, ast.Call) and dotted(stream.func) == "open":
            return stream
        before = [call for call in self._opened.get(dotted(stream) or "", [])
                  if call.lineno <= stream.lineno]
        return max(before, key=lambda call: call.lineno, default=None)

    def _textual(self, opened: ast.Call | None) -> Iterator[Edit]:
        mode = opened.args[1] if opened and len(opened.args) == 2 else None
        if not isinstance(mode, ast.Constant) or "b" not in str(mode.value):
            return
        start, end = self._text.span(mode)
        text = str(mode.value).replace("b", "")
        if (edit := Edit(start, end, f'"{text}", newline=""')) not in self.edits:
            yield edit

    def _binary(self, opened: ast.Call) -> Iterator[Edit]:
        if len(opened.args) == 1:
            end = self._text.span(opened.args[0])[1]
            yield Edit(end, end, ', "rb"')
        elif isinstance(opened.args[1], ast.Constant) and "b" not in str(
                opened.args[1].value):
            end = self._text.span(opened.args[1])[1] - 1
            if Edit(end, end, "b") not in self.edits:
                yield Edit(end, end, "b")
