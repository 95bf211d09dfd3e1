"""Formats the report of `tf1 port` as text or JSON."""

import re
import textwrap
from typing import NamedTuple

from tf1tools.output import printable
from tf1tools.port.names.fates import VERDICTS, Fate, fate, runs_as
from tf1tools.port.names.today import is_tensorflow
from tf1tools.port.outcome.work import Outcome, Work
from tf1tools.port.reading.part import Use
from tf1tools.port.reading.project import Certainty, File, Project
from tf1tools.port.rule import Left, Rule, row_of
from tf1tools.port.table.known import is_gone

MARKS = {"moved": ">", "replaced": "!", "another result": "?", "gone": "x"}
LEGEND = ("> only tf.compat.v1 has it   ! tf has it, but rejects this call\n"
          "? tf accepts the call, but returns something else   x no package has it\n"
          "runs as: its name in a copy by `port --write`   today: its name in new code")
INDENT, COLUMN, WIDTH = 14, 38, 100  # of the two columns of text below a name


class Page(NamedTuple):
    """Section of the porting report on one file.

    Attributes:
      became: Outcome for the file.
      rows: Uses of names, each with its fate.
      words: Remarks on the file.
    """

    became: Outcome
    rows: list[tuple[Use, Fate]]
    words: list[str]

    @property
    def file(self) -> File:
        """The file that the section describes."""
        return self.became.file

    def count(self, verdict: str) -> int:
        """Returns the number of uses with a given verdict."""
        return sum(fate.verdict == verdict for _, fate in self.rows)


def pages(work: Work) -> list[Page]:
    """Returns the sections of the report, one for each file of the project."""
    return [
        Page(one, [(use, fate(use.name, use.call)) for use in file.uses
                   if _has_fate(use, work.project)],
             [*file.words, *(f"line {note.line}: {note.words}" for note in one.notes)])
        for file, one in work.outcomes.items()]


def _has_fate(use: Use, project: Project) -> bool:
    """Returns whether the porting report should list a use of a name."""
    if use.name.startswith("."):
        return bool(row_of(use.name)) and \
            project.is_renamed_method(use) is Certainty.YES
    return is_tensorflow(use.name) or is_gone(use.name) or row_of(use.name) is not None


def as_json(pages: list[Page]) -> dict:
    """Returns the report as the dictionary that `--json` prints."""
    return {"files": [_page_as_json(page) for page in pages], "summary": summary(pages)}


def _page_as_json(page: Page) -> dict:
    it = page.became
    return {"path": str(page.file.path), "words": page.words,
            "top": {"place": it.place, "lines": it.top} if it.top else None,
            "names": [_row_as_json(*row) for row in page.rows],
            "left": [_left_as_json(*one) for one in it.left]}


def _left_as_json(rule, left) -> dict:
    entry = {"line": left.line, "words": left.words, "rule": rule.name}
    return entry if left.part.cell is None else {**entry, "cell": left.part.cell}


def _row_as_json(use: Use, fate: Fate) -> dict:
    """Returns the JSON entry of one use; only notebooks have `cell`."""
    line, column = use.place
    entry = {"line": line, "column": column, **fate._asdict()}
    return entry if use.part.cell is None else {**entry, "cell": use.part.cell}


def summary(pages: list[Page]) -> dict:
    """Returns the counts by verdict, and the remaining work for each file."""
    counts = {v: sum(p.count(v) for p in pages) for v in VERDICTS}
    return {
        "files": len(pages),
        "names": sum(counts.values()),
        "verdicts": counts,
        "distance": {str(p.file.path): distance(p) for p in pages},
    }


def distance(one: Page, top: str = "") -> str:
    """Describes the changes that a file still needs before it can run.

    Args:
      one: Section of the report on the file.
      top: Text to use in place of the lines that are inserted at the top. By default,
        the lines themselves.
    """
    it = one.became
    if not it.file.whole:
        return "unknown, because it could be read only in part"
    first = "first Python 3, then " if "Python 2" in one.words else ""
    if it.left:
        places = {(left.part.number, left.line) for _, left in it.left}
        lines = sorted({left.line for _, left in it.left if left.part.cell is None})
        where = f" ({', '.join(map(str, lines))})" if lines else ""
        text = f"{len(places)} {{line|lines}} to change by hand{where}"
        first += _counted(len(places), text) + (", then " if it.top else "")
    if it.top:
        first += f"{top or '; '.join(it.top)} {it.place}: no known obstacle is left"
    elif not it.left:
        first += ("no known obstacle is left" if it.is_old else "it needs no changes") \
            if one.rows else "it does not use TensorFlow"
    if it.changes > 1:
        first += ", after the changes that `port --write` makes"
    return first + (
        f", as soon as {' and '.join(it.waits)} can run" if it.waits else "")


def _counted(number: int, text: str) -> str:
    """Replaces each `{singular|plural}` in a text with the form for a number."""
    return re.sub(r"\{(.*?)\|(.*?)\}", r"\1" if number == 1 else r"\2", text)


def as_text(pages: list[Page]) -> str:
    """Formats the report as text: names that need work, then a summary."""
    lines = []
    for one in pages:
        way = distance(one, "put these lines")
        lines += ["", *textwrap.wrap(f"{one.file.path}: {way}", 88,
                                     subsequent_indent="  ")]
        lines += [f"      {line}" for line in one.became.top]
        lines += [f"  {_with_its_line(word, one)}" for word in one.words]
        changed = [row for row in one.rows if row[1].verdict != "kept"]
        lines += [_columns("runs as", "today")] if changed else []
        for use, its_fate in changed:
            lines += _lines(use, its_fate)
        if kept := one.count("kept"):
            lines.append(f"  {kept} kept")
        lines += [f"  by hand, {by_hand(*found)}" for found in one.became.left]
    legend = LEGEND.split("\n") if any(one.rows for one in pages) else []
    lines += ["", *legend, _counts(summary(pages))]
    return "\n".join(map(printable, lines)).strip()


def _with_its_line(word: str, one: Page) -> str:
    """Adds the first affected line to the remark that a file is Python 2."""
    starts = [part.where(part.line_found(part.edits[0].start))
              for part in one.file.parts if part.edits]
    return f"{word}, from {starts[0]} on" if word == "Python 2" and starts else word


def by_hand(rule: Rule, left: Left) -> str:
    """Formats a line that must be changed by hand, with the name of the rule."""
    return f"{left.part.where(left.line)}: {left.words} [{rule.name}]"


def _lines(use: Use, fate: Fate) -> list[str]:
    line, column = use.place
    cell = "" if use.part.cell is None else f"[{use.part.cell}] "
    place = f"{cell}{line}:{column}"
    first = f"  {MARKS[fate.verdict]} {place:9s} {fate.name:38s} {fate.verdict}"
    runs = runs_as(fate.name if is_tensorflow(fate.name) else use.name)
    new = fate.instead.rpartition("; in Keras 3 ")[2]  # what is before it runs
    new = textwrap.wrap(f"{new} (lesson {fate.lesson})", WIDTH - INDENT - COLUMN,
                        break_long_words=False)
    return [first, _columns(runs or "-", new[0]), *(_columns("", line)
                                                    for line in new[1:])]


def _columns(runs: str, today: str) -> str:
    """Formats a line of the two columns. A long name pushes the second one aside."""
    return f"{'':{INDENT}}{runs:{COLUMN - 1}s} {today}"


def _counts(found: dict) -> str:
    counts = ", ".join(f"{n} {verdict}" for verdict, n in found["verdicts"].items())
    uses = _counted(found["names"], "{use|uses}")
    files = _counted(found["files"], "{file|files}")
    return f"{found['names']} {uses} in {found['files']} {files}: {counts}"
