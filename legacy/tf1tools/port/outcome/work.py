"""Runs all porting rules on a project and collects their results."""

import ast
import functools
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tf1tools.port.names.spelling import from_import, imports, needs, spelled
from tf1tools.port.names.today import is_tensorflow, today
from tf1tools.port.reading import files as sources
from tf1tools.port.reading.part import Part, Use
from tf1tools.port.reading.project import MAIN, Certainty, File, Project
from tf1tools.port.rule import (
    HOOKS,
    RULES,
    Change,
    Left,
    Need,
    Note,
    Renamed,
    Rule,
    Top,
    argument,
    hooks_of,
    row_of,
)
from tf1tools.port.rulebook import load
from tf1tools.port.table.known import is_gone
from tf1tools.port.text.edits import Edit, applied
from tf1tools.port.text.syntax import deep_trees, parse

BESIDE = Path(__file__).parents[1] / "beside"


class Found(NamedTuple):
    """Result of a porting rule, together with the rule."""

    rule: Rule
    thing: Change | Left | Need | Note


class Outcome(NamedTuple):
    """Changes, remarks and remaining work for one ported file.

    Attributes:
      file: File as it was read.
      texts: New texts of its parts.
      changes: Number of changes.
      by: Original line numbers of the changes, each with the name of the rule.
      left: Remarks on lines that must be changed by hand, in order.
      notes: Remarks on lines that run unchanged.
      top: Lines that are inserted to make the file run.
      place: Description of their place, such as "in place of line 3".
      is_old: Whether the file should run on `compat.v1`.
      is_python2: Whether the file may be written for Python 2.
      waits: Names of imported files that do not run yet.
    """

    file: File
    texts: list[str]
    changes: int
    by: list[tuple[int, str]]
    left: list[Found]
    notes: list[Note]
    top: list[str]
    place: str
    is_old: bool
    is_python2: bool
    waits: list[str]

    @property
    def is_changed(self) -> bool:
        """Whether the text of the file changes."""
        return self.texts != [part.found for part in self.file.parts]


class Work:
    """Project of old code with the results of all porting rules.

    Attributes:
      project: Project with its files.
      found: Results of the rules, in order.
      beside: Paths of support files to copy, each with the rules that need it.
      outcomes: Outcome of each file.
    """

    def __init__(self, project: Project):
        """Runs all rules on names, nodes and files, and then on the project."""
        self.project, self.found = project, list[Found]()
        self._of: dict[File, list[Found]] = defaultdict(list)
        self.beside: dict[Path, set[str]] = defaultdict(set)
        self._written: set[tuple] = set()
        self._asked = functools.cache(lambda hooks, kind: [
            hook for hook in HOOKS[hooks] if issubclass(kind, hook.key)])
        self._ask()
        for rule, need in self.said(Need):
            if need.what.startswith("beside "):
                self._put_beside(rule, need.part, need.what[7:])
        clashes = self.clashes()
        self._torn = {one.thing.part for pair in clashes for one in pair}
        for one, other in clashes:
            part, at = one.thing[:2]
            self.take(one.rule, [Left(part, part.place(at)[0], (
                f"the rules {one.rule.name} and {other.rule.name} change this place, "
                "so nothing is changed here; this is a fault of port"))])
        self._each(self._hold_back_what_is_no_python)
        self.outcomes: dict[File, Outcome] = {}
        self._each(self._conclude)

    def _ask(self) -> None:
        """Runs all porting rules and collects what they yield."""
        self._each(self._ask_of)
        for hook in HOOKS["file"]:
            self._each(lambda file, hook=hook: self.take(
                hook.rule, hook.ask(file, self) if file.parts else ()))
        for hook in HOOKS["project"]:
            self.take(hook.rule, hook.ask(self.project, self))

    def _ask_of(self, file: File) -> None:
        for use in file.uses:
            self._name(use)
        for part in file.parts:
            self._nodes(part)

    def _conclude(self, file: File) -> None:
        self.outcomes[file] = self._outcome(file)

    def _each(self, look: Callable[[File], None]) -> None:
        """Looks at each file; one that makes a rule fail is given up, and no other."""
        for file in self.project.files.values():
            try:
                look(file)
            except Exception as error:  # whatever a stranger's file raises
                file.give_up(error)
                self.found = [one for one in self.found
                              if one.thing.part.file is not file]
                self._of.pop(file, None)
                look(file)  # it has no parts any more

    def _put_beside(self, rule: Rule, part: Part, name: str) -> None:
        """Plans to copy a support file, unless the project has such a file."""
        homes = self.project.homes(part.file)
        if not any(MAIN.search(one.code) for one in self.project.programs(part.file)):
            homes = homes | {self.project.above_packages(part.file)}
        for home in homes:
            there = home / name
            if not os.path.lexists(there):
                self.beside[there].add(rule.name)
            elif not there.is_file() or \
                    there.read_bytes() != (BESIDE / name).read_bytes():
                self.take(rule, [Left(part, 1, f"{name}: the project has a file of "
                                               "this name, which is kept; rename it")])

    def _hold_back_what_is_no_python(self, file: File) -> None:
        """Discards the changes of each part that they would make invalid Python."""
        for part in file.parts:
            self._hold_back(part)

    def _hold_back(self, part: Part) -> None:
        edits = self._edits(part) if part.tree else []
        if not edits:
            return
        text = applied(part.text.text, edits)
        try:
            parse(text if part.cell is None else sources.masked(text))
        except SyntaxError as error:
            self._torn.add(part)
            rule, change = min((one for one in self.said(Change, part.file)
                                if one.thing.part is part), key=lambda f: f.thing.start)
            self.take(rule, [Left(part, part.place(change.start)[0], (
                f"with the changes from here on, this is not valid Python "
                f"({error.msg}), so nothing is changed here; this is a fault of "
                "port"))])

    def take(self, rule: Rule, things) -> None:
        """Stores the changes and remarks that a porting rule yields."""
        for thing in things or ():
            found = Found(rule, thing)
            self.found.append(found)
            self._of[thing.part.file].append(found)
            if isinstance(thing, Change):
                self._written.add(thing[:3])

    def said(self, kind: type, file: File | None = None) -> list[Found]:
        """Returns the rule results of one kind, each with its rule.

        By default, the results for all files are returned.
        """
        found = self.found if file is None else self._of[file]
        return [one for one in found if isinstance(one.thing, kind)]

    def of(self, kind: type, file: File | None = None) -> list:
        """Returns the rule results of one kind, without their rules.

        By default, the results for all files are returned.
        """
        return [one.thing for one in self.said(kind, file)]

    def needs(self, file: File) -> set[str]:
        """Returns the requirements of a file, such as "import os"."""
        return {need.what for need in self.of(Need, file)}

    def changed(self, use: Use) -> bool:
        """Returns whether a porting rule rewrites a use of a name."""
        return (use.part, *use.part.text.span(use.function)) in self._written

    def need(self, new: str, part) -> None:
        """Stores the requirements of a name that is written into a file."""
        for rule, one in needs(new, part):
            self.take(rule, [one])

    def _name(self, use: Use) -> None:
        if use.part.tree is None or is_tensorflow(
                use.name) and not self.project.is_old(use.part.file):
            return  # files that could be read only in part stay unchanged
        hooks = hooks_of("call", use.name) if use.is_call else ()
        said = [Found(hook.rule, thing) for hook in hooks
                for thing in hook.ask(use) or ()]
        for rule, thing in said:
            if not isinstance(thing, Renamed):
                self.take(rule, [thing])
        if isinstance(use.node, ast.alias) or any(
                isinstance(one.thing, Left) for one in said):
            return
        if use.is_call:
            for word in use.call.keywords:
                if row := argument(use.name, word):
                    self.take(row.rule, [use.rename_keyword(word, row.new) if row.new
                                         else use.left(row.words)])
        new = next((one.thing.new for one in said if isinstance(one.thing, Renamed)),
                   today(use.name))
        start = use.part.start(use.function)
        is_written = any(isinstance(thing, Change) and thing.start <= start < thing.end
                         for _, thing in said)
        if new or not is_written:
            self._write_name(use, new)

    def _write_name(self, use: Use, new: str | None) -> None:
        row = row_of(use.name)
        rule = row.rule if row else RULES[
            "tf-installed" if is_tensorflow(use.name) else "library-gone"]
        if new is None:
            if row and row.old != "keras" or is_tensorflow(use.name) or is_gone(
                    use.name):  # for Keras, the import is left instead
                self.take(rule, [
                    use.left(row and row.words or "no current package has it")])
        elif new.startswith("."):
            self.take(rule, self._method(use, new[1:]))
        else:
            words = spelled(use, new)
            self.need(new, use.part)
            if words is None:
                self.take(rule, [use.left(f"write {from_import(new)}")])
            elif words:
                self.take(rule, [use.part.instead(use.function, words),
                                 *imports(use, new)])

    def _method(self, use: Use, new: str) -> Iterator[Change | Left | Note]:
        """Yields the renaming of a method, or a remark if its type is unknown."""
        certainty = self.project.is_renamed_method(use)
        if certainty is Certainty.YES:
            yield use.rename_method(new)
        elif certainty and not self.project.is_todays(use.part.file):
            left = use.left(f"write {new} if this is a method {row_of(use.name).words}"
                            ", which cannot be seen here; otherwise leave it")
            yield left if self.project.is_of_then(use.part.file) else Note(*left)

    def _nodes(self, part) -> None:
        python2 = self.project.python2(part.file)
        for node in part.nodes:
            for hook in self._asked("node", type(node)):
                self.take(hook.rule, hook.ask(node, part))
            for hook in self._asked("python2", type(node)) if python2 else ():
                found = list(hook.ask(node, part) or ())
                self.take(hook.rule, found if python2 is Certainty.YES else
                          self._perhaps(hook, found))

    def _perhaps(self, hook, found: list) -> Iterator[Left]:
        """Yields remarks in place of changes if the file may not be Python 2."""
        yield from (one for one in found if isinstance(one, Left))
        changes = [one for one in found if isinstance(one, Change)]
        if changes and hook.perhaps:
            part, start, *_ = changes[0]
            yield Left(part, part.place(start)[0],
                       f"{hook.perhaps} if this is Python 2 code")

    # Outcomes.

    def _outcome(self, file: File) -> Outcome:
        """Summarises the results for one file."""
        parts = [part for part in file.parts if part.tree]
        return Outcome(
            file, [self._text(part) for part in file.parts],
            sum(len(part.edits) + len(self._edits(part)) for part in parts),
            self._by(file), self._left(file), self.of(Note, file), *self._top(file),
            self.project.is_old(file), bool(self.project.python2(file)),
            [one.path.name for one in file.imports
             if self.of(Left, one) or not one.whole])

    def _left(self, file: File) -> list[Found]:
        """Returns the remarks on a file in order, without duplicates."""
        said = {(one.thing.part.number, *one.thing[1:]): one
                for one in self.said(Left, file)}
        return [said[key] for key in sorted(said)]

    def _top(self, file: File) -> tuple[list[str], str]:
        """Returns the lines that make a file run, and a description of their place."""
        for one in self.of(Top, file):
            line, _ = one.part.place(one.start)
            how = "in place of" if one.end > one.start else "before"
            return ([text.strip() for text in one.new.strip().split("\n")],
                    f"{how} {one.part.where(line)}")
        return [], ""

    def _by(self, file: File) -> list[tuple[int, str]]:
        """Returns the changed lines of a file, each with the rule that changes it.

        In a notebook, the lines of a cell have no visible numbers, so each rule is
        listed with line 0.
        """
        by = [(one.thing.part.place(one.thing.start)[0], one.rule.name)
              for one in self.said(Change, file)]
        by += [(part.line_found(edit.start), hook.rule.name) for hook in HOOKS["text"]
               for part in file.parts for edit in part.edits]
        return by if file.path.suffix == ".py" else [(0, name) for _, name in by]

    def _edits(self, part: Part) -> list[Edit]:
        """Returns the edits of a part, without those that convert Python 2."""
        changes = dict.fromkeys(sorted(self.of(Change, part.file), key=_place))
        return [] if part in self._torn else [
            Edit(*one[1:4]) for one in changes if one.part is part]

    def _text(self, part: Part) -> str:
        """Returns the new text of a part, with its original line endings."""
        if part.tree is None:
            return part.found
        text = applied(applied(part.found, part.edits), self._edits(part))
        ends = set(re.findall(r"\r?\n", part.found))
        return re.sub(r"(?<!\r)\n", "\r\n", text) if ends == {"\r\n"} else text

    def clashes(self) -> list[tuple[Found, Found]]:
        """Returns the pairs of results that change the same place.

        A place is a replaced range of text, or an offset at which two rules insert
        something. A clash is a fault in a rule.
        """
        changes = sorted(self.said(Change),
                         key=lambda f: (id(f.thing.part), *_place(f.thing)))
        pairs = zip(changes, changes[1:], strict=False)
        return [(one, other) for one, other in pairs if _clash(one, other)]


def _place(change: Change) -> tuple[int, int, float]:
    return change.start, change.end, change.order


def _clash(one: Found, other: Found) -> bool:
    """Returns whether two successive changes overlap."""
    a, b = one.thing, other.thing
    if a.part is not b.part or a == b:
        return False
    same_place = _place(a) == _place(b)
    return b.start < a.end or same_place and one.rule is not other.rule


def work(path: Path) -> Work:
    """Reads a file or folder of old code and runs all porting rules on it.

    Raises:
      Unreadable: If there is nothing to read at this path.
    """
    load()
    paths = list(sources.files_of(path))
    if not paths:
        raise sources.Unreadable(f"No .py or .ipynb files found in {path}.")
    with deep_trees():
        return Work(Project(paths, path))
