"""Parts of old code and uses of names, as the rules see them."""

import ast
import functools
import re

from tf1tools.port.reading import files as sources
from tf1tools.port.rule import Change, Left
from tf1tools.port.text.edits import Places, Text, applied
from tf1tools.port.text.syntax import ROOT, Arguments, dotted, given_by

# Text that may occur between two nodes: punctuation, comments and spaces.
_BETWEEN = re.compile(r"[(),]|#[^\n]*|[\s\\]+")


class Use:
    """Use of a name in old code, with methods that create changes to it.

    Attributes:
      name: Full name, such as `tf.contrib.slim.conv2d`, independent of the aliases in
        the file.
      node: Syntax node of the call, or of the name if it is not called.
      call: Arguments of the call, or `None` if the name is not called.
      through: Full name of the alias through which the name is used.
      part: Part that contains the use.
    """

    part: "Part"

    def __init__(self, name: str, node, call: Arguments | None = None,
                 through: str = ROOT):
        self.name, self.node, self.call, self.through = name, node, call, through

    @property
    def project(self):
        """The project, for questions that one file cannot answer."""
        return self.part.file.project

    @property
    def place(self) -> tuple[int, int]:
        """The line and column in the original file, both counted from 1."""
        return self.part.place(self.part.start(self.function))

    @property
    def line(self) -> int:
        """The line number in the original file."""
        return self.place[0]

    @property
    def parent(self) -> ast.AST:
        """The syntax node that contains the use."""
        return self.part.parents[self.node]

    @property
    def is_call(self) -> bool:
        """Whether the name is called here."""
        return self.call is not None and isinstance(self.node, ast.Call)

    @property
    def function(self) -> ast.AST:
        """The syntax node of the name itself, without the call."""
        return self.node.func if self.is_call else self.node

    @property
    def receiver(self) -> ast.AST:
        """The syntax node of the object whose attribute is used."""
        return self.function.value

    @property
    def arguments(self) -> list[str]:
        """The source text of the positional arguments."""
        return [self.part.written(one) for one in self.node.args]

    def keyword(self, name: str) -> ast.keyword | None:
        """Returns the keyword argument with a given name, or `None`."""
        return next((k for k in self.node.keywords if k.arg == name), None)

    def left(self, words: str) -> Left:
        """Returns a remark that the line must be changed by hand."""
        return Left(self.part, self.line, f"{self.name}: {words}")

    def rename_method(self, new: str) -> Change:
        """Returns the change that renames the method."""
        end = self.part.text.span(self.function)[1]
        return Change(self.part, end - len(self.name.strip(".()[]")), end, new)

    def rename_keyword(self, old: str, new: str) -> Change:
        """Returns the change that renames a keyword argument."""
        start = self.part.start(self.keyword(old))
        return Change(self.part, start, start + len(old), new)

    def name_arguments(self, *names: str):
        """Yields changes that turn positional arguments into keyword ones."""
        order = self.part.depth(self.node) + 0.5
        arguments = self.part.arguments(self.node)
        for name, (start, _) in zip(names, arguments, strict=False):
            yield Change(self.part, start, start, f"{name}=", order)

    def add_argument(self, written: str):
        """Yields the change that appends an argument to the call."""
        yield from self.part.add_argument(self.node, written)


class Part:
    """Python file, or one code cell of a notebook.

    Attributes:
      file: File that contains the part.
      number: Index of the part, from 0.
      cell: Index of the cell, or `None` outside notebooks.
      found: Original text.
      edits: Edits that convert the text to Python 3.
      text: Converted text.
      tree: Syntax tree of `text`, or `None` if it cannot be parsed.
      uses: Uses of library names.
      imports: Import statements.
    """

    def __init__(self, file, number: int, cell: int | None, found: str):
        """Parses the text and stores remarks on it in `words`."""
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
        """Collects the uses of names, also from parseable pieces of broken code."""
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
        """The nodes of the syntax tree in breadth-first order, outer ones first."""
        return list(ast.walk(self.tree)) if self.tree else []

    @functools.cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The parent of each syntax node."""
        return {inner: outer for outer in self.nodes
                for inner in ast.iter_child_nodes(outer)}

    def full(self, node) -> str:
        """Returns the full name of a dotted expression, with aliases resolved."""
        first, dot, rest = (dotted(node) or "").partition(".")
        return f"{self.file.names.get(first, first)}{dot}{rest}"

    def start(self, node) -> int:
        """Returns the offset at which a node begins."""
        return self.text.offset(node.lineno, node.col_offset)

    def written(self, node) -> str:
        """Returns the source text of a node."""
        return self.text.text[slice(*self.text.span(node))]

    def line(self, node) -> int:
        """Returns the line number of a node in the original file."""
        return self.place(self.start(node))[0]

    def line_found(self, offset: int) -> int:
        """Returns the line number of an offset in the original text."""
        return self._original.place(offset)[0]

    def place(self, offset: int) -> tuple[int, int]:
        """Returns the original line and column of an offset in the edited text."""
        return self._original.place(self._moves.before(offset))

    @functools.cached_property
    def given(self) -> dict[str, list[ast.expr | None]]:
        """The values assigned to each name, with `None` for unknown values."""
        found: dict[str, list[ast.expr | None]] = {}
        for node in self.nodes:
            for local, value, whole in given_by(node):
                found.setdefault(local, []).append(value if whole else _one_of(value))
        return found

    def values(self, node) -> list:
        """Returns an expression and all values assigned to its name."""
        return [node, *self.given.get(dotted(node) or "", [])]

    def class_of(self, node) -> ast.ClassDef | None:
        """Returns the class that contains a node, or `None`."""
        while node and not isinstance(node, ast.ClassDef):
            node = self.parents.get(node)
        return node

    def protos(self) -> list:
        """Returns the file expressions that `ParseFromString` reads."""
        calls = [node for node in self.nodes if isinstance(node, ast.Call)
                 and getattr(node.func, "attr", "") == "ParseFromString" and node.args]
        reads = [getattr(call.args[0], "func", None) for call in calls]
        return [read.value for read in reads if getattr(read, "attr", "") == "read"]

    def left(self, node, words: str) -> Left:
        """Returns a remark that the line of a node must be changed by hand."""
        return Left(self, self.line(node), words)

    def depth(self, node) -> int:
        """Returns the depth of a node in the syntax tree."""
        above = 0
        while node := self.parents.get(node):
            above += 1
        return above

    def wrapped(self, node, before: str, after: str = ")"):
        """Yields changes that insert text before and after a node."""
        start, end = self.text.span(node)
        yield Change(self, start, start, before, self.depth(node))
        yield Change(self, end, end, after, -self.depth(node))

    def behind(self, node, new: str) -> Change:
        """Returns the change that inserts text after a node."""
        end = self.text.span(node)[1]
        return Change(self, end, end, new, -self.depth(node))

    def arguments(self, call: ast.Call) -> list[tuple[int, int]]:
        """Returns the text spans of a call's arguments, with parentheses."""
        end = self.text.span(call)[1] - 1
        at, found = self._gap(self.text.span(call.func)[1], end, "(")[0] + 1, []
        for node in sorted([*call.args, *call.keywords], key=self.start):
            start, stop = self.text.span(node)
            if stop > end:  # in `f(x for x in y)`, the parentheses belong to the call
                return [(start + 1, end)]
            opened = self._gap(at, start, "(")
            closed = self._gap(stop, end, ")")
            found.append((min([*opened, start]), max([closing + 1 for closing in closed]
                                                     + [stop])))
            at = found[-1][1]
        return found

    def _gap(self, start: int, end: int, sign: str) -> list[int]:
        """Returns the offsets of a character between two nodes, outside comments."""
        places = []
        while found := _BETWEEN.match(self.text.text, start, end):
            places += [found.start()] if found[0] == sign else []
            start = found.end()
            if found[0] == "," and sign == ")":
                break
        return places

    def add_argument(self, call: ast.Call, written: str):
        """Yields the change that appends an argument to a call."""
        arguments, end = self.arguments(call), self.text.span(call)[1] - 1
        order = -self.depth(call) - 0.5
        if not arguments:
            yield Change(self, end, end, written, order)
        elif isinstance(call.args and call.args[-1], ast.GeneratorExp) and \
                self.text.span(call.args[-1])[1] > end:
            yield self.left(call, f"add the argument {written}")
        elif comma := self._gap(last := arguments[-1][1], end, ","):
            yield Change(self, comma[0] + 1, comma[0] + 1, f" {written},", order)
        else:
            yield Change(self, last, last, f", {written}", order)

    def where(self, line: int) -> str:
        """Describes a line of the part, such as "cell 2, line 3"."""
        return f"line {line}" if self.cell is None else f"cell {self.cell}, line {line}"

    def instead(self, node, new: str) -> Change:
        """Returns the change that replaces a node with new text."""
        return Change(self, *self.text.span(node), new)


def _one_of(value) -> ast.expr | None:
    """Returns a constant 0 for the elements of `range`, or `None` for other values."""
    numbers = dotted(getattr(value, "func", None)) in ("range", "xrange")
    return ast.Constant(0) if numbers else None
