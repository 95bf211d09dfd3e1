"""Defines porting rules: documentation with examples, tables of names, and hooks.

A rule is a module in the folder `rules`, and its name is that of the file. The
docstring of the module is the documentation of the rule: it says what the rule does and
why. Then come three facts: `Since` is the version from which the old form fails,
`Lesson` is the lesson that shows it, and `Side` is an old version that can run the
example. Examples follow, each between blank lines:

    Before: / After:            a program, and its copy; if the program has no import,
                                `tf` is taken for TensorFlow
    Stays:                      a program in which nothing changes
    Left:                       only the lines with `# left: words` get such a remark
    Noted:                      the same for remarks on lines that run unchanged
    Report:                     the report has the verdicts in comments `# gone: words`

An example with lines `# file: NAME` consists of several files. `tf1 port --explain`
prints the documentation of a rule, docs/rules.md contains all of it, and each example
is a test. A module registers hooks, which are called while old code is read:

    rule.rows({...})                 old names with current names; the longest old
                                     name that matches counts
    rule.rows({"f(old=)": "new"})    an argument of f, in the same table
    rule.rows({".f()": ".new"}, of=(...))  a method of values from these modules
    rule.rows()                      the same from the text file next to the module
    rule.in_tf2(verdict, words, ...) how TensorFlow 2 treats an old call
    rule.signs(name, ...)            names or calls that only old programs have
    @rule.call("numpy.load")         each call of a name, with its arguments
    @rule.node(ast.Div)              each node of a kind
    @rule.python2(ast.Call)          the same in a Python 2 program
    @rule.writes("tf_slim")          each current name with this prefix that is written
    @rule.text                       each text before it is parsed
    @rule.file                       each file, after its names
    @rule.project                    the whole project, at the end

The hooks yield `Change`, `Left`, `Note` and `Need`, which nothing else creates. A hook
for calls may also yield `Renamed`. The methods of `Use` and `Part` (reading/part.py)
create these objects, for example `use.rename_keyword`, `use.left`, `part.instead`,
`part.behind` and `part.wrapped`.

A change should be as small as possible, because another rule may change something
inside a call, and two rules that change one place are an error. `use.call` describes
the arguments (`Arguments` in text/syntax.py). A hook of `@rule.call` runs only for
calls: a name that is passed on as a value is replaced by its row, or it is left. If no
hook changes the name of a call, its row does.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

FACTS = re.compile(r"^(Since|Lesson|Side): +(.*)$", re.M)
_BLOCK = re.compile(
    r"^(Before|After|Stays|Left|Noted|Report):\n\n((?:    .*\n|\n)+)", re.M)
_LEFT = re.compile(r"#.*\b(?:left|note): (.*)$")
_VERDICT = re.compile(r"# (kept|moved|replaced|another result|gone): (.*)$")


class Change(NamedTuple):
    """Replacement of the text from `start` to `end` in a part of a file.

    Attributes:
      order: Order of insertions at the same offset. Text after a node has minus its
        depth in the tree, and text before a node has its depth, so that inner text
        stays inside outer text.
    """

    part: object
    start: int
    end: int
    new: str
    order: float = 0


class Left(NamedTuple):
    """Remark on a line that must be changed by hand."""

    part: object
    line: int
    words: str


class Top(Change):
    """Lines that make a file run, inserted where it imports TensorFlow first."""


class Note(NamedTuple):
    """Remark on a line that runs unchanged."""

    part: object
    line: int
    words: str


class Need(NamedTuple):
    """Requirement of a file, such as `import os` or `legacy keras`."""

    part: object
    what: str


class Renamed(NamedTuple):
    """Current name of a called function, which overrides its table row."""

    new: str


class Row(NamedTuple):
    """Table row that maps an old name to its current name.

    Attributes:
      old: Full name, prefix of full names, or `name(argument=)`.
      new: Name under `compat.v1`, or "" if there is none.
      words: Remark that says what to write if there is no such name.
      rule: Rule that registered the row.
      of: Modules whose values have the method, if it is a method, or "dict" for
        dictionaries.
    """

    old: str
    new: str
    words: str
    rule: "Rule"
    of: tuple[str, ...] = ()


class Hook(NamedTuple):
    """Function that a rule registers for a name or a kind of syntax node.

    Attributes:
      key: Name, prefix `name.*`, or kind of node.
      rule: Rule that registered the hook.
      ask: Function to call.
      perhaps: Remark for a line if only a method name suggests Python 2.
    """

    key: object
    rule: "Rule"
    ask: Callable
    perhaps: str = ""


class Example(NamedTuple):
    """Example of a rule: files before and after, or expected remarks.

    Attributes:
      before: Files of the program, by name.
      after: Files of the copy.
      left: Remarks as `{line: text}`.
      kind: `Left`, or `Note` if the lines run unchanged.
      report: Entries of the report as `{line: (verdict, text)}`.
    """

    before: dict[str, str]
    after: dict[str, str] = {}
    left: dict[int, str] = {}
    kind: type = Left
    report: dict[int, tuple[str, str]] = {}


class Rule:
    """Porting rule that a module of the package `rules` defines."""

    def __init__(self, module: str, page: str | None, path: str):
        """Parses the documentation of the rule's module."""
        self.name = module.rpartition(".")[2].replace("_", "-")
        self.path = Path(path)
        self.page = (page or "").strip() + "\n"
        self.facts = dict(FACTS.findall(self.page))
        self.table: list[Row] = []
        self.examples = list(_examples(self.page))
        RULES[self.name] = self

    @property
    def since(self) -> str:
        """The version that removed or changed the old form."""
        return self.facts.get("Since", "")

    @property
    def summary(self) -> str:
        """The first line of the rule's documentation."""
        return self.page.partition("\n")[0]

    def rows(self, table: dict[str, str | tuple[str, str]] | None = None,
             of: tuple[str, ...] = ()) -> None:
        """Registers old names and arguments with their current names.

        Args:
          table: `{old: new}` or `{old: (new, remark)}`. An argument of a function is
            written `function(argument=)`, a method `.name()`, and a method that is
            called with arguments `.name(...)`. By default, the table is read from the
            text file beside the module, where each line has an old name, the name of
            today ("-" if there is none, "=" if it is the same), and a remark.
          of: Modules whose values have these methods, or "dict" for dictionaries. A
            method of any other value is left unchanged.

        Raises:
          ValueError: If another rule has registered a name, or if `of` is missing for
            a method.
        """
        for old, new in (_text_rows(self) if table is None else table).items():
            if old in ROWS:
                raise ValueError(
                    f"Rules {self.name} and {ROWS[old].rule.name} both register {old}. "
                    "Remove the name from one of them.")
            if old.startswith(".") and not of:
                raise ValueError(
                    f"Rule for method {old} is missing the argument `of`. Pass the "
                    "modules that define the method, as in of=['numpy']."
                )
            new, words = (new, "") if isinstance(new, str) else new
            ROWS[old] = Row(old, new, words, self, of)
            self.table.append(ROWS[old])

    def in_tf2(self, verdict: str, words: str, *names: str,
               when: Callable | None = None) -> None:
        """Registers how TensorFlow 2 treats old calls of a name that it has.

        Args:
          verdict: "another result" if it accepts the call and returns something else,
            or "replaced" if it rejects the call.
          words: What to write instead, or what to watch for.
          names: Full names. A name that begins with one of them counts too.
          when: Function that returns whether the verdict applies to the `Arguments` of
            a call. By default, it applies to every call and to the bare name.
        """
        def said(call) -> tuple[str, str] | None:
            # If the arguments are not known, assume the worst.
            unknown = call is None or call.open
            applies = when is None or (verdict == "another result" if unknown else
                                       when(call))
            return (verdict, words) if applies else None

        HOOKS["in_tf2"] += [Hook(key, self, said) for name in names
                            for key in (name, f"{name}.*")]

    def signs(self, *names: str, when: Callable = lambda call: True) -> None:
        """Registers names or calls that occur only in old programs."""
        HOOKS["sign"] += [Hook(name, self, when) for name in names]

    def _register(self, kind: str, *keys, perhaps: str = ""):
        def decorator(function):
            HOOKS[kind] += [Hook(key, self, function, perhaps)
                            for key in keys or [None]]
            return function
        return decorator

    def call(self, *names: str):
        """Registers `function(use)` for each call of these names."""
        return self._register("call", *names)

    def node(self, *kinds: type):
        """Registers `function(node, part)` for each syntax node of these kinds."""
        return self._register("node", *kinds)

    def python2(self, *kinds: type, perhaps: str = ""):
        """Registers `function(node, part)` for syntax nodes of Python 2 programs.

        Args:
          kinds: Kinds of nodes.
          perhaps: Remark for a line that would change, if nothing but a method's name
            suggests that the program was written for Python 2. The line then stays.
        """
        return self._register("python2", *kinds, perhaps=perhaps)

    def writes(self, *names: str):
        """Registers `function(new, part)` for current names that are written."""
        return self._register("writes", *names, *(f"{name}.*" for name in names))

    def text(self, function):
        """Registers `function(code, tree)`, which yields edits before parsing.

        The edits turn Python 2 into Python 3. The tree is `None` if the text cannot be
        parsed.
        """
        return self._register("text")(function)

    def file(self, function):
        """Registers `function(file, done)` for each file."""
        return self._register("file")(function)

    def project(self, function):
        """Registers `function(project, done)` for the project as a whole."""
        return self._register("project")(function)


RULES: dict[str, Rule] = {}
ROWS: dict[str, Row] = {}
HOOKS: dict[str, list[Hook]] = defaultdict(list)


def verdicts(name: str, call) -> dict[str, str]:
    """Returns the verdicts of the rules on a TensorFlow 2 call, with remarks."""
    return dict(filter(None, (hook.ask(call) for hook in hooks_of("in_tf2", name))))


def hooks_of(kind: str, name: str) -> Iterator[Hook]:
    """Yields the hooks that are registered for a name or one of its prefixes."""
    for hook in HOOKS[kind]:
        key = str(hook.key)
        if name == key or key.endswith(".*") and name.startswith(key[:-1]):
            yield hook


def _text_rows(rule: Rule) -> dict[str, tuple[str, str]]:
    """Reads the table rows in the text file next to a rule's module."""
    found = {}
    for line in rule.path.with_suffix(".txt").read_text("utf-8").splitlines():
        if words := line.partition("#")[0].split(None, 2):
            old, new, *rest = words
            found[old] = {"-": "", "=": old}.get(new, new), "".join(rest)
    return found


def rows_of(name: str) -> Iterator[Row]:
    """Yields the table rows whose names are prefixes of a name, longest first."""
    parts = [name] if name.startswith(".") else name.split(".")
    for length in range(len(parts), 0, -1):
        if found := ROWS.get(".".join(parts[:length])):
            yield found


def argument(name: str, word: str) -> Row | None:
    """Returns the table row of a function's argument, or `None`."""
    return ROWS.get(f"{name}({word}=)")


def row_of(name: str) -> Row | None:
    """Returns the table row of the longest matching prefix of a name, or `None`."""
    return next(rows_of(name), None)


def words_of(name: str) -> str:
    """Returns the remark in the longest matching row that has one, or ""."""
    return next((row.words for row in rows_of(name) if row.words), "")


def _examples(page: str):
    before: dict[str, str] = {}
    for found in _BLOCK.finditer(page):
        kind = found[1]
        files = _files(re.sub(r"^    ", "", found[2], flags=re.M).strip("\n") + "\n")
        if kind == "Before":
            before = files
        elif kind == "After":
            yield Example(before, files)
        elif kind == "Report":
            text, = files.values()
            yield Example(files, report={
                line: (said[1], said[2]) for line, one in
                enumerate(text.split("\n"), 1) if (said := _VERDICT.search(one))})
        else:
            text, = files.values()
            left = {line: words[1].strip() for line, one in
                    enumerate(text.split("\n"), 1) if (words := _LEFT.search(one))}
            yield Example(files, files if kind == "Stays" else {}, left,
                          Note if kind == "Noted" else Left)


def _files(text: str) -> dict[str, str]:
    """Splits an example into its files at lines `# file: NAME`."""
    if not text.startswith("# file: "):
        return {"old.py": text}
    found = re.split(r"^# file: (.*)\n", text, flags=re.M)[1:]
    return dict(zip(found[::2], found[1::2], strict=True))
