"""What a rule is: a page with examples, rows of names, and code that is asked.

A rule is a module of the folder `rules`; its name is the file's. The docstring is its
page: what it does and why, and three facts: since which version the old form is none,
the sitting that shows it, and the side, an old version that can run the example. Then
come examples; a blank line stands around each:

    Before: / After:            a program, and its copy; without an import, `tf` is
                                taken for TensorFlow
    Stays:                      a program in which nothing changes
    Left:                       lines with `# left: words` are left, and no others
    Noted:                      the same of what is to be said of a line that runs
    Report:                     the report has lines with `# gone: words` so

One with `# file: NAME` lines is several files. The page is printed by `explain`, is a
section of docs/port.md, and each example is a test. What the module registers here is
asked when old code is read:

    rows({...})                 old name -> name of today; the longest one counts
    rows({"f(old=)": "new"})    an argument of f, in the same table
    rows({".f()": ".new"}, of=(...))  a method of what these modules give
    rows()                      the same from the text file beside the module
    in_tf2(verdict, words, ...) what TensorFlow 2 makes of an old call
    signs(name, ...)            names or calls that only old programs have
    @call("numpy.load")         each call of a name, with its arguments
    @node(ast.Div)              each node of a kind
    @python2(ast.Call)          the same, in a program of Python 2
    @writes("tf_slim")          each name of today that begins so and is written
    @text                       each text before it is parsed
    @file                       each file, after its names
    @project                    the whole, at the end

Each yields `Change`, `Left`, `Note` and `Need`, and nobody else makes any; one that is
asked about a call may yield `Renamed`. `Use` and `Part` (tools/port/part.py) make them:
`use.rename_keyword`, `use.left`, `part.instead`, `part.behind`, `part.wrapped`. Change
the least: inside a call another rule may change something, and two rules on one place
are an error. `use.call` is how it is called (`Arguments` of tools/port/syntax.py), and
`@call` sees calls alone: a name that is handed on as a value has its row, or is left.
Where nothing changes the name of a call, its row does.
"""

import importlib
import pkgutil
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

FACTS = re.compile(r"^(Since|Sitting|Side): +(.*)$", re.M)
_BLOCK = re.compile(
    r"^(Before|After|Stays|Left|Noted|Report):\n\n((?:    .*\n|\n)+)", re.M)
_LEFT = re.compile(r"#.*\b(?:left|note): (.*)$")
_VERDICT = re.compile(r"# (kept|moved|replaced|another result|gone): (.*)$")


class Change(NamedTuple):
    """What stands from `start` to `end` in a part of a file becomes `new`.

    Attributes:
      order: of what is put in at one place: what ends a node has minus its depth in
        the tree, what begins one has its depth, so that inner stays in outer.
    """

    part: object
    start: int
    end: int
    new: str
    order: float = 0


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
    """What is called is this name today, whatever its row says."""

    new: str


class Row(NamedTuple):
    """An old name with what it is today.

    Attributes:
      old: the full name, or what a full name begins with, or `name(argument=)`.
      new: the name under compat.v1, "" for nothing.
      words: what to write where nothing has it.
      rule: whose row it is.
      of: the modules whose values have it, if it is a method; "dict" for dictionaries.
    """

    old: str
    new: str
    words: str
    rule: "Rule"
    of: tuple[str, ...] = ()


class Hook(NamedTuple):
    """What of the old code a rule is asked about.

    Attributes:
      key: a name, `name.*` for what begins with it, or a kind of node.
      rule: whose it is.
      ask: the function that is asked.
      perhaps: words for a line that nothing but a method says to be of Python 2.
    """

    key: object
    rule: "Rule"
    ask: Callable
    perhaps: str = ""


class Example(NamedTuple):
    """Files before and after.

    Attributes:
      before: the files.
      after: what becomes of them.
      left: `{line: words}` of those with a remark.
      kind: `Left`, or `Note` where the remarks are of lines that run as they are.
      report: `{line: (verdict, words)}` of what the report says.
    """

    before: dict[str, str]
    after: dict[str, str] = {}
    left: dict[int, str] = {}
    kind: type = Left
    report: dict[int, tuple[str, str]] = {}


class Rule:
    """One rule, as its module says it."""

    def __init__(self, module):
        """Reads the page; the hooks come while the module is run."""
        self.name = module.__name__.rpartition(".")[2].replace("_", "-")
        self.path = Path(module.__file__)
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
HOOKS: dict[str, list[Hook]] = defaultdict(list)


def load() -> dict[str, Rule]:
    """Returns all rules by name, each read once."""
    from tools.port import rules

    for found in pkgutil.iter_modules(rules.__path__, f"{rules.__name__}."):
        importlib.import_module(found.name)
        _rule(found.name)
    return RULES


def _caller() -> Rule:
    """Returns the rule whose module calls the function that asks."""
    return _rule(sys._getframe(2).f_globals["__name__"])


def _rule(module: str) -> Rule:
    name = module.rpartition(".")[2].replace("_", "-")
    if name not in RULES:
        RULES[name] = Rule(sys.modules[module])
    return RULES[name]


def rows(table: dict[str, str | tuple[str, str]] | None = None,
         of: tuple[str, ...] = ()) -> None:
    """Registers names and what they are today, with a remark where some have nothing.

    Args:
      table: `{old: new}` or `{old: (new, words)}`; the old name of an argument is
        `function(argument=)`, of a method `.name()`, or `.name(...)` if it is given
        something. `None` is the text beside the module: a name, its name
        of today ("-" nothing, "=" itself), and words.
      of: the modules that give the values whose methods these are, by their first
        names; "dict" for dictionaries. Nothing is changed of a value of another one.

    Raises:
      ValueError: another rule has the name, which has one room; or nothing says whose
        method it is.
    """
    mine = _caller()
    for old, new in (_text_rows(mine) if table is None else table).items():
        if old in ROWS:
            raise ValueError(f"{old}: {mine.name} and {ROWS[old].rule.name} have it")
        if old.startswith(".") and not of:
            raise ValueError(f"{old}: say whose method it is")
        new, words = (new, "") if isinstance(new, str) else new
        ROWS[old] = Row(old, new, words, mine, of)
        mine.rows.append(ROWS[old])


def _text_rows(rule: Rule) -> dict[str, tuple[str, str]]:
    """Returns the rows of the text file beside the module of a rule."""
    found = {}
    for line in rule.path.with_suffix(".txt").read_text("utf-8").splitlines():
        if words := line.partition("#")[0].split(None, 2):
            old, new, *rest = words
            found[old] = {"-": "", "=": old}.get(new, new), "".join(rest)
    return found


def in_tf2(verdict: str, words: str, *names: str, when: Callable | None = None) -> None:
    """Registers what TensorFlow 2 makes of an old call that it has a name for.

    Args:
      verdict: "another result": it takes the call and gives something else; "replaced":
        it does not take it.
      words: what to write, or to mind.
      names: full ones; what begins with one counts too.
      when: which calls, by their `Arguments`; all, and the bare name, if `None`.
    """
    def said(call) -> tuple[str, str] | None:
        unknown = call is None or call.open  # the worst is taken of what is passed on
        applies = when is None or (verdict == "another result" if unknown else
                                   when(call))
        return (verdict, words) if applies else None

    mine = _caller()
    HOOKS["in_tf2"] += [Hook(key, mine, said) for name in names
                        for key in (name, f"{name}.*")]


def verdicts(name: str, call) -> dict[str, str]:
    """Returns what rules say of a call in TensorFlow 2: verdicts and words."""
    return dict(filter(None, (hook.ask(call) for hook in hooks_of("in_tf2", name))))


def signs(*names: str, when: Callable = lambda call: True) -> None:
    """Registers names, or calls of them, that only old programs have, and that stay."""
    mine = _caller()
    HOOKS["sign"] += [Hook(name, mine, when) for name in names]


def _register(kind: str, *keys, perhaps: str = ""):
    def decorator(function):
        mine = _rule(function.__module__)
        HOOKS[kind] += [Hook(key, mine, function, perhaps) for key in keys or [None]]
        return function
    return decorator


def hooks_of(kind: str, name: str) -> Iterator[Hook]:
    """Yields what is to be asked about a name."""
    for hook in HOOKS[kind]:
        key = str(hook.key)
        if name == key or key.endswith(".*") and name.startswith(key[:-1]):
            yield hook


def call(*names: str):
    """Has a function asked about each call of these names: `function(use)`."""
    return _register("call", *names)


def node(*kinds: type):
    """Has a function asked about each node of these kinds: `function(node, part)`."""
    return _register("node", *kinds)


def python2(*kinds: type, perhaps: str = ""):
    """Has a function asked about nodes of Python 2: `function(node, part)`.

    Args:
      kinds: of nodes.
      perhaps: where a method alone speaks of Python 2, nothing is changed; this is said
        of the line then, if anything is.
    """
    return _register("python2", *kinds, perhaps=perhaps)


def writes(*names: str):
    """Has a function asked about names of today: `function(new, part)`."""
    return _register("writes", *names, *(f"{name}.*" for name in names))


def text(function):
    """Has a function asked for what makes Python 3 of a text: `function(code, tree)`.

    The tree is `None` where it cannot be parsed; it returns `Edit`s.
    """
    return _register("text")(function)


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


def argument(name: str, word: str) -> Row | None:
    """Returns the row of an argument of a function."""
    return ROWS.get(f"{name}({word}=)")


def row_of(name: str) -> Row | None:
    """Returns the row of the longest name that a name begins with."""
    return next(rows_of(name), None)


def words_of(name: str) -> str:
    """Returns the words of the longest name that a name begins with, or ""."""
    return next((row.words for row in rows_of(name) if row.words), "")


def page(rule: Rule) -> str:
    """Returns the page of a rule as Markdown: its docstring, its rows as a table."""
    first, _, rest = rule.page.partition("\n")
    table = [f"| `{row.old}` | {_today(row)} |" for row in rule.rows]
    head = ["", "| old | today |", "|---|---|", *table] if table else []
    return "\n".join([f"## {rule.name}", "", first, rest.rstrip(), *head, ""])


def _today(row: Row) -> str:
    """Returns a row's name of today and its words, as its page has them."""
    written = f"`{row.new}`" if row.new not in ("", row.old) else ""
    return "; ".join(filter(None, [written, row.words])) or "nothing"


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
