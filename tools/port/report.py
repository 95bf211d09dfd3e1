"""The report as text and as JSON, with a summary in the order in which to work."""

import re
import textwrap
from typing import NamedTuple

from tools.port.fates import VERDICTS, Fate, fate
from tools.port.sources import Source

MARKS = {"kept": " ", "moved": ">", "replaced": "!", "another result": "?", "gone": "x"}


class Row(NamedTuple):
    """One use of a name, with what became of it."""

    line: int
    column: int
    cell: int | None
    fate: Fate

    def as_json(self) -> dict:
        """Returns the entry of `names`; `cell` is there in notebooks only."""
        entry = {"line": self.line, "column": self.column, "name": self.fate.name,
                 "verdict": self.fate.verdict, "instead": self.fate.instead,
                 "lesson": self.fate.lesson}
        return entry if self.cell is None else {**entry, "cell": self.cell}


class Page(NamedTuple):
    """One file of the report."""

    source: Source
    rows: list[Row]

    def count(self, verdict: str) -> int:
        """Returns how many uses have a verdict."""
        return sum(row.fate.verdict == verdict for row in self.rows)


def page(source: Source) -> Page:
    """Looks up every name of a file."""
    return Page(source, [Row(use.line, use.column, cell, fate(use.name, use.call))
                         for cell, use in source.uses])


def as_json(pages: list[Page]) -> dict:
    """Returns the report as the dictionary that `--json` prints."""
    return {
        "files": [{"path": str(p.source.path), "words": p.source.words,
                   "names": [row.as_json() for row in p.rows]} for p in pages],
        "summary": summary(pages),
    }


def summary(pages: list[Page]) -> dict:
    """Returns the counts, how far each file is from running, and the steps to take.

    The way is short: under `import tensorflow.compat.v1 as tf` all runs but what is
    gone, and gives the old results. Only then is it worth writing it anew.
    """
    counts = {v: sum(p.count(v) for p in pages) for v in VERDICTS}
    return {
        "files": len(pages),
        "names": sum(counts.values()),
        "verdicts": counts,
        "distance": {str(p.source.path): distance(p) for p in pages},
        "steps": list(_steps(pages, counts)),
    }


def distance(one: Page) -> str:
    """Says in words how far a file is from running."""
    if not one.source.whole:
        return "unknown: not all of it could be read"
    gone = sorted({row.fate.name for row in one.rows if row.fate.verdict == "gone"})
    first = "first Python 3, then " if "Python 2" in one.source.words else ""
    if gone:
        return (f"{first}{len(gone)} {_counted(len(gone), '{name|names}')} to replace, "
                "then it runs on compat.v1")
    old = sum(one.count(v) for v in ("moved", "replaced", "another result"))
    if old:
        return f"{first}one import: it runs on compat.v1"
    return f"{first}it is today's code" if one.rows else f"{first}no TensorFlow in it"


def _steps(pages: list[Page], counts: dict[str, int]):
    broken = [p for p in pages if not p.source.whole]
    python2 = [p for p in pages if "Python 2" in p.source.words]
    todo = [
        (len(broken), "{file|files} that could not be read whole: look at {it|each}"),
        (len(python2), "{file|files} of Python 2: make {it|them} Python 3 first"),
        (counts["moved"] + counts["replaced"] + counts["another result"],
         "{use runs|uses run} under `import tensorflow.compat.v1 as tf`, in a graph"),
        (counts["gone"], "{use is|uses are} gone from both: replace {it|them}; now it "
                         "runs. Keep some inputs with the outputs of this day"),
        (counts["another result"], "{use gives|uses give} another result under `tf`: "
         "rewrite {it|these} first, against the outputs that you kept"),
        (counts["replaced"], "{use needs|uses need} other arguments under `tf`"),
        (counts["moved"], "{use has|uses have} another name or form today"),
    ]
    for number, text in todo:
        if number:
            yield {"count": number, "do": _counted(number, text)}


def _counted(number: int, text: str) -> str:
    """Chooses in each `{singular|plural}` of a text by a number."""
    return re.sub(r"\{(.*?)\|(.*?)\}", r"\1" if number == 1 else r"\2", text)


def as_text(pages: list[Page], *, all_names: bool = False) -> str:
    """Returns the report for a reader: what is not kept, then the summary."""
    lines = []
    for one in pages:
        lines += ["", f"{one.source.path}: {distance(one)}"]
        lines += [f"  {word}" for word in one.source.words]
        for row in one.rows:
            if all_names or row.fate.verdict != "kept":
                lines += _lines(row)
        if (kept := one.count("kept")) and not all_names:
            lines.append(f"  {kept} kept")
    return "\n".join([*lines, "", *_summary_lines(summary(pages))]).strip()


def _lines(row: Row) -> list[str]:
    place = f"{row.line}:{row.column}"
    if row.cell is not None:
        place = f"[{row.cell}] {place}"
    first = (f"  {MARKS[row.fate.verdict]} {place:9s} {row.fate.name:38s} "
             f"{row.fate.verdict}")
    then = textwrap.wrap(f"{row.fate.instead} (lesson {row.fate.lesson})", 66,
                         initial_indent=" " * 14, subsequent_indent=" " * 14)
    return [first, *then]


def _summary_lines(found: dict) -> list[str]:
    counts = ", ".join(f"{n} {verdict}" for verdict, n in found["verdicts"].items())
    uses = _counted(found["names"], "{use|uses}")
    files = _counted(found["files"], "{file|files}")
    lines = [f"{found['names']} {uses} in {found['files']} {files}: {counts}"]
    for number, step in enumerate(found["steps"], 1):
        lines += textwrap.wrap(f"{number}. {step['count']} {step['do']}", 78,
                               subsequent_indent="   ")
    return lines
