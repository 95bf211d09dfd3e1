"""What a rule is: a page with examples, rows of names, and code that is asked.

A rule is a module of the folder `rules`; its name is the file's. The docstring is its
page: what it does and why, the facts (`Since:`, `Sitting:`, `Side:`), and examples.
The page is printed by `explain`, is a section of docs/port.md, and each example in it
is a test. What the module registers here is asked when old code is read:

    rows({...})                 old name -> name of today; the longest one counts
    signs(...)                  names that only old programs have, and that stay
    arguments({...})            name -> old argument -> its name today
    @call("numpy.load")         each use of a name, with its arguments
    @node(ast.Div)              each node of a kind
    @writes("tf_slim")          each name of today that begins so and is written
    @file                       each file, after its names
    @project                    the whole, at the end

Each yields `Change`, `Left`, `Note` and `Need`, and nobody else makes any; one that is
asked about a use may yield `Renamed`.
"""

import importlib
import pkgutil
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import NamedTuple

FACTS = re.compile(r"^(Since|Sitting|Side): +(.*)$", re.M)
_BLOCK = re.compile(r"^(Before|After|Stays|Left|Noted):\n\n((?:    .*\n|\n)+)", re.M)
_LEFT = re.compile(r"#.*\b(?:left|note): (.*)$")


class Change(NamedTuple):
    """What stands from `start` to `end` in a part of a file becomes `new`."""

    part: object
    start: int
    end: int
    new: str


class Left(NamedTuple):
    """A line that somebody has to look at."""

    part: object
    line: int
    words: str


class Top(Change):
    """The lines that make a file run; they stand where it imports TensorFlow first."""


class Note(NamedTuple):
    """What is to be said of a line that runs as it is."""

    part: object
    line: int
    words: str


class Need(NamedTuple):
    """What a file needs to run: `import os`, `beside slim_shim.py`, `legacy keras`."""

    part: object
    what: str


class Renamed(NamedTuple):
    """A use of a name is this name today, whatever its row says."""

    new: str


class Row(NamedTuple):
    """An old name with what it is today.

    Attributes:
      old: the full name, or what a full name begins with.
      new: the name under compat.v1, "" for nothing.
      words: what to write where nothing has it.
      rule: whose row it is.
    """

    old: str
    new: str
    words: str
    rule: "Rule"


class Example(NamedTuple):
    """Files before and after; `left` is `{line: words}` of those with a remark.

    `kind` is `Left`, or `Note` where the remarks are of lines that run as they are.
    """

    before: dict[str, str]
    after: dict[str, str]
    left: dict[int, str]
    kind: type = Left


class Rule:
    """One rule, as its module says it."""

    def __init__(self, module):
        """Reads the page; the hooks come while the module is run."""
        self.name = module.__name__.rpartition(".")[2].replace("_", "-")
        self.page = (module.__doc__ or "").strip() + "\n"
        self.facts = dict(FACTS.findall(self.page))
        self.rows: list[Row] = []
        self.examples = list(_examples(self.page))

    @property
    def since(self) -> str:
        """Returns since when the old name or call is none."""
        return self.facts.get("Since", "")

    @property
    def summary(self) -> str:
        """Returns the first sentence of the page."""
        return self.page.partition("\n")[0]


RULES: dict[str, Rule] = {}
ROWS: dict[str, Row] = {}
ARGUMENTS: dict[str, dict[str, tuple[str, "Rule"]]] = defaultdict(dict)
HOOKS: dict[str, list[tuple[object, Rule, Callable]]] = defaultdict(list)
SIGNS: dict[str, Rule] = {}


def load() -> dict[str, Rule]:
    """Returns all rules by name, each read once."""
    from tools.port import rules

    for found in pkgutil.iter_modules(rules.__path__, f"{rules.__name__}."):
        importlib.import_module(found.name)
        _rule(found.name)
    return RULES


def _rule(module: str) -> Rule:
    name = module.rpartition(".")[2].replace("_", "-")
    if name not in RULES:
        RULES[name] = Rule(sys.modules[module])
    return RULES[name]


def rows(table: dict[str, str | tuple[str, str]] | str) -> None:
    """Registers names and what they are today, with a remark where some have nothing.

    Args:
      table: `{old: new}` or `{old: (new, words)}`; or a text of columns, in which "-"
        is nothing.

    Raises:
      ValueError: another rule has the name; one name has one room.
    """
    mine = _rule(sys._getframe(1).f_globals["__name__"])
    if isinstance(table, str):
        lines = [line.partition("#")[0].split(None, 2) for line in table.splitlines()]
        table = {line[0]: (line[1].strip("-"), *line[2:]) for line in lines if line}
    for old, new in table.items():
        if old in ROWS:
            raise ValueError(f"{old}: {mine.name} and {ROWS[old].rule.name} have it")
        new, words = (new, "") if isinstance(new, str) else (*new, "")[:2]
        ROWS[old] = Row(old, new, words, mine)
        mine.rows.append(ROWS[old])


def arguments(table: dict[str, dict[str, str]]) -> None:
    """Registers arguments that have another name today.

    Raises:
      ValueError: another rule has the argument.
    """
    mine = _rule(sys._getframe(1).f_globals["__name__"])
    for name, renamed in table.items():
        for old, new in renamed.items():
            if old in ARGUMENTS[name]:
                owner = ARGUMENTS[name][old][1].name
                raise ValueError(f"{name}({old}=): {mine.name} and {owner} have it")
            ARGUMENTS[name][old] = new, mine


def signs(*names: str) -> None:
    """Registers names that only old programs have, and that stay as they are."""
    mine = _rule(sys._getframe(1).f_globals["__name__"])
    SIGNS.update(dict.fromkeys(names, mine))


def _register(kind: str, *keys):
    def decorator(function):
        mine = _rule(function.__module__)
        HOOKS[kind] += [(key, mine, function) for key in keys or [None]]
        return function
    return decorator


def call(*names: str):
    """Has a function asked about each use of these names: `function(use)`."""
    return _register("call", *names)


def node(*kinds: type):
    """Has a function asked about each node of these kinds: `function(node, part)`."""
    return _register("node", *kinds)


def writes(*names: str):
    """Has a function asked about names of today: `function(new, part)`."""
    return _register("writes", *names)


def file(function):
    """Has a function asked about each file: `function(file, done)`."""
    return _register("file")(function)


def project(function):
    """Has a function asked about the whole: `function(project, done)`."""
    return _register("project")(function)


def rows_of(name: str) -> Iterator[Row]:
    """Yields the rows that a name begins with, the longest first."""
    parts = [name] if name.startswith(".") else name.split(".")
    for length in range(len(parts), 0, -1):
        if found := ROWS.get(".".join(parts[:length])):
            yield found


def row_of(name: str) -> Row | None:
    """Returns the row of the longest name that a name begins with."""
    return next(rows_of(name), None)


def page(rule: Rule) -> str:
    """Returns the page of a rule as Markdown: its docstring, its rows as a table."""
    first, _, rest = rule.page.partition("\n")
    table = [f"| `{row.old}` | " + (f"`{row.new}` |" if row.new else
                                    f"{row.words or 'nothing'} |") for row in rule.rows]
    head = ["", "| old | today |", "|---|---|", *table] if table else []
    return "\n".join([f"## {rule.name}", "", first, rest.rstrip(), *head, ""])


def _examples(page: str):
    before: dict[str, str] = {}
    for found in _BLOCK.finditer(page):
        kind = found[1]
        files = _files(re.sub(r"^    ", "", found[2], flags=re.M).strip("\n") + "\n")
        if kind == "Before":
            before = files
        elif kind == "After":
            yield Example(before, files, {})
        else:
            text, = files.values()
            left = {line: words[1].strip() for line, one in
                    enumerate(text.split("\n"), 1) if (words := _LEFT.search(one))}
            yield Example(files, files if kind == "Stays" else {}, left,
                          Note if kind == "Noted" else Left)


def _files(text: str) -> dict[str, str]:
    """Returns the files of a block; each begins with `# file: NAME`, one needs none."""
    if not text.startswith("# file: "):
        return {"old.py": text}
    found = re.split(r"^# file: (.*)\n", text, flags=re.M)[1:]
    return dict(zip(found[::2], found[1::2], strict=True))


def book() -> str:
    """Returns all pages, as docs/port.md has them."""
    head = ("# What `port` changes\n\nMade by `python -m tools.port.rule` from the "
            "rules in `tools/port/rules/`. `course.py port --explain RULE` prints one "
            "page. Each example is a test.\n")
    return "\n".join([head, *(page(one) for _, one in sorted(load().items()))])


if __name__ == "__main__":
    from helpers.files import ROOT
    from tools.port import rule  # the one that the rules register with

    (ROOT / "docs" / "port.md").write_text(rule.book(), encoding="utf-8")
