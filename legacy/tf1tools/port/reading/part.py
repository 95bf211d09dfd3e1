"""A piece of old code, and each use of a name in it, as rules speak of them."""

import ast
import functools
import re

from tf1tools.port.reading import files as sources
from tf1tools.port.rule import Change, Left
from tf1tools.port.text.edits import Places, Text, applied
from tf1tools.port.text.syntax import ROOT, Arguments, dotted, given_by

# What may stand between two nodes: a sign, a comment, blanks.
_BETWEEN = re.compile(r"[(),]|#[^\n]*|[\s\\]+")


class Use:
    """One use of a name; what is written for it is said in these words by rules.

    Attributes:
      name: in full, whatever the file calls it: `tf.contrib.slim.conv2d`.
      node: the call, or the name where it is none.
      call: its arguments; `None` where it is not called here.
      through: the full name of the alias through which it is used.
      part: where it stands.
    """

    part: "Part"

    def __init__(self, name: str, node, call: Arguments | None = None,
                 through: str = ROOT):
        self.name, self.node, self.call, self.through = name, node, call, through

    @property
    def project(self):
        """Returns the project, for what no file tells alone."""
        return self.part.file.project

    @property
    def place(self) -> tuple[int, int]:
        """Returns line and column, from 1, in the file as it was found."""
        return self.part.place(self.part.start(self.function))

    @property
    def line(self) -> int:
        """Returns its line in the file as it was found."""
        return self.place[0]

    @property
    def parent(self) -> ast.AST:
        """Returns the node that it is a part of."""
        return self.part.parents[self.node]

    @property
    def is_call(self) -> bool:
        """Whether it is called here."""
        return self.call is not None and isinstance(self.node, ast.Call)

    @property
    def function(self) -> ast.AST:
        """Returns the node that is the name."""
        return self.node.func if self.is_call else self.node

    @property
    def receiver(self) -> ast.AST:
        """Returns the value whose method or attribute it is."""
        return self.function.value

    @property
    def arguments(self) -> list[str]:
        """Returns the arguments without a name as they are written."""
        return [self.part.written(one) for one in self.node.args]

    def keyword(self, name: str) -> ast.keyword | None:
        """Returns an argument by its name."""
        return next((k for k in self.node.keywords if k.arg == name), None)

    def left(self, words: str) -> Left:
        """Leaves the line to the reader."""
        return Left(self.part, self.line, f"{self.name}: {words}")

    def rename_method(self, new: str) -> Change:
        """Returns the change of a method's name alone, which ends the node."""
        end = self.part.text.span(self.function)[1]
        return Change(self.part, end - len(self.name.strip(".()[]")), end, new)

    def rename_keyword(self, old: str, new: str) -> Change:
        """Returns the change of an argument's name."""
        start = self.part.start(self.keyword(old))
        return Change(self.part, start, start + len(old), new)

    def name_arguments(self, *names: str):
        """Yields what names the first arguments, which stand without one."""
        order = self.part.depth(self.node) + 0.5
        arguments = self.part.arguments(self.node)
        for name, (start, _) in zip(names, arguments, strict=False):
            yield Change(self.part, start, start, f"{name}=", order)

    def add_argument(self, written: str):
        """Yields one argument more, behind the others."""
        yield from self.part.add_argument(self.node, written)


class Part:
    """A file of Python, or a cell of a notebook.

    Attributes:
      file: the file.
      number: of the part, from 0; `cell`: that of the cell, `None` outside notebooks.
      found: the text as it was found.
      edits: what makes Python 3 of it; `text`: what that is.
      tree: of `text`; `None` where it cannot be parsed.
      uses: the names in it.
      imports: its statements that import.
    """

    def __init__(self, file, number: int, cell: int | None, found: str):
        """Reads the text; `words` are said of it."""
        self.file, self.number, self.cell, self.found = file, number, cell, found
        plain = sources.with_plain_newlines(found)
        read = sources.parsed(plain if cell is None else sources.masked(plain))
        self.edits, self.tree, self.wrong = read.edits, read.tree, read.wrong
        self.text, self._original = Text(applied(plain, read.edits)), Text(plain)
        self._moves = Places(read.edits)
        where = "" if cell is None else f"cell {cell}: "
        self.words = [word if word == "Python 2" else where + word
                      for word in read.words]
        self.uses: list[Use] = []
        self.imports: list[ast.Import | ast.ImportFrom] = []

    def read(self, reader) -> None:
        """Finds the names, of broken code in what can be parsed of it."""
        for tree in [self.tree] if self.tree else sources.pieces(self.text.text):
            reader.read(tree)
        places: dict[tuple, Use] = {}
        for use in sorted(reader.uses, key=lambda use: use.call is None):
            use.part = self
            places.setdefault((self.start(use.function), use.name), use)
        self.uses = [places[key] for key in sorted(places, key=lambda key: key[0])]
        self.imports, reader.uses, reader.imports = reader.imports, [], []

    @functools.cached_property
    def nodes(self) -> list[ast.AST]:
        """Returns all nodes of its tree, the outer ones first."""
        return list(ast.walk(self.tree)) if self.tree else []

    @functools.cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Returns of each node that which holds it."""
        return {inner: outer for outer in self.nodes
                for inner in ast.iter_child_nodes(outer)}

    def full(self, node) -> str:
        """Returns the full name of `a.b.c`, by what the file's own names stand for."""
        first, dot, rest = (dotted(node) or "").partition(".")
        return f"{self.file.names.get(first, first)}{dot}{rest}"

    def start(self, node) -> int:
        """Returns where a node begins."""
        return self.text.offset(node.lineno, node.col_offset)

    def written(self, node) -> str:
        """Returns the text of a node."""
        return self.text.text[slice(*self.text.span(node))]

    def line(self, node) -> int:
        """Returns the line of a node in the file as it was found."""
        return self.place(self.start(node))[0]

    def line_found(self, offset: int) -> int:
        """Returns the line of a place of the text as it was found."""
        return self._original.place(offset)[0]

    def place(self, offset: int) -> tuple[int, int]:
        """Returns line and column, in the file as it was found, of a place of today."""
        return self._original.place(self._moves.before(offset))

    @functools.cached_property
    def given(self) -> dict[str, list[ast.expr | None]]:
        """Returns what each name is given somewhere; `None` is what nobody knows."""
        found: dict[str, list[ast.expr | None]] = {}
        for node in self.nodes:
            for local, value, whole in given_by(node):
                found.setdefault(local, []).append(value if whole else _one_of(value))
        return found

    def values(self, node) -> list:
        """Returns an expression, and all that its name is given somewhere."""
        return [node, *self.given.get(dotted(node) or "", [])]

    def class_of(self, node) -> ast.ClassDef | None:
        """Returns the class in which a node stands."""
        while node and not isinstance(node, ast.ClassDef):
            node = self.parents.get(node)
        return node

    def protos(self) -> list:
        """Returns the files of which a proto is parsed, `f` of `f.read()`."""
        calls = [node for node in self.nodes if isinstance(node, ast.Call)
                 and getattr(node.func, "attr", "") == "ParseFromString" and node.args]
        reads = [getattr(call.args[0], "func", None) for call in calls]
        return [read.value for read in reads if getattr(read, "attr", "") == "read"]

    def left(self, node, words: str) -> Left:
        """Leaves the line of a node to the reader."""
        return Left(self, self.line(node), words)

    def depth(self, node) -> int:
        """Returns how many nodes hold a node."""
        above = 0
        while node := self.parents.get(node):
            above += 1
        return above

    def wrapped(self, node, before: str, after: str = ")"):
        """Yields what puts something around a node."""
        start, end = self.text.span(node)
        yield Change(self, start, start, before, self.depth(node))
        yield Change(self, end, end, after, -self.depth(node))

    def behind(self, node, new: str) -> Change:
        """Returns the change that puts something behind a node."""
        end = self.text.span(node)[1]
        return Change(self, end, end, new, -self.depth(node))

    def arguments(self, call: ast.Call) -> list[tuple[int, int]]:
        """Returns where the arguments of a call stand, each with its parentheses."""
        end = self.text.span(call)[1] - 1
        at, found = self._gap(self.text.span(call.func)[1], end, "(")[0] + 1, []
        for node in sorted([*call.args, *call.keywords], key=self.start):
            start, stop = self.text.span(node)
            if stop > end:  # the parentheses of `f(x for x in y)` are the call's
                return [(start + 1, end)]
            opened = self._gap(at, start, "(")
            closed = self._gap(stop, end, ")")
            found.append((min([*opened, start]), max([closing + 1 for closing in closed]
                                                     + [stop])))
            at = found[-1][1]
        return found

    def _gap(self, start: int, end: int, sign: str) -> list[int]:
        """Returns where a sign stands between two nodes, not counting comments."""
        places = []
        while found := _BETWEEN.match(self.text.text, start, end):
            places += [found.start()] if found[0] == sign else []
            start = found.end()
            if found[0] == "," and sign == ")":
                break
        return places

    def add_argument(self, call: ast.Call, written: str):
        """Yields one argument more for a call, behind the others."""
        arguments, end = self.arguments(call), self.text.span(call)[1] - 1
        order = -self.depth(call) - 0.5
        if not arguments:
            yield Change(self, end, end, written, order)
        elif isinstance(call.args and call.args[-1], ast.GeneratorExp) and \
                self.text.span(call.args[-1])[1] > end:
            yield self.left(call, f"give it {written} too")
        elif comma := self._gap(last := arguments[-1][1], end, ","):
            yield Change(self, comma[0] + 1, comma[0] + 1, f" {written},", order)
        else:
            yield Change(self, last, last, f", {written}", order)

    def where(self, line: int) -> str:
        """Returns in words where a line of it stands."""
        return f"line {line}" if self.cell is None else f"cell {self.cell}, line {line}"

    def instead(self, node, new: str) -> Change:
        """Returns the change that writes something for a node."""
        return Change(self, *self.text.span(node), new)


def _one_of(value) -> ast.expr | None:
    """Returns a part of a value: of numbers a number, of others nobody knows what."""
    numbers = dotted(getattr(value, "func", None)) in ("range", "xrange")
    return ast.Constant(0) if numbers else None
