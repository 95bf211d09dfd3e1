"""The report as text and as JSON."""

import re
import textwrap

from helpers.tf1_names import VERDICTS
from tools.port.plan import Plan, Row

MARKS = {"moved": ">", "replaced": "!", "another result": "?", "gone": "x"}


def as_json(pages: list[Plan]) -> dict:
    """Returns the report as the dictionary that `--json` prints."""
    return {
        "files": [{"path": str(p.source.path), "words": p.source.words,
                   "top": {"place": p.place, "lines": p.top} if p.top else None,
                   "names": [_row_as_json(row) for row in p.rows]} for p in pages],
        "summary": summary(pages),
    }


def _row_as_json(row: Row) -> dict:
    """Returns the entry of `names`; `cell` is there in notebooks only."""
    entry = {"line": row.line, "column": row.column, "name": row.fate.name,
             "verdict": row.fate.verdict, "instead": row.fate.instead,
             "lesson": row.fate.lesson}
    return entry if row.cell is None else {**entry, "cell": row.cell}


def summary(pages: list[Plan]) -> dict:
    """Returns the counts, and how far each file is from running."""
    counts = {v: sum(p.count(v) for p in pages) for v in VERDICTS}
    others = {p.source.path: p for p in pages}
    return {
        "files": len(pages),
        "names": sum(counts.values()),
        "verdicts": counts,
        "distance": {str(p.source.path): distance(p, others) for p in pages},
    }


def distance(one: Plan, others: dict | None = None, top: str = "") -> str:
    """Says in words how far a file is from running.

    Args:
      one: the file.
      others: the plans of its folder by path, for what it imports.
      top: words for the lines at its top; the lines themselves, if "".
    """
    if not one.source.whole:
        return "unknown: not all of it could be read"
    first = "first Python 3, then " if "Python 2" in one.source.words else ""
    waits = [path.name for path in one.source.neighbours
             if others and (others[path].left or not others[path].source.whole)]
    if one.left:
        lines = sorted({one.line for one in one.left if one.cell is None})
        where = f" ({', '.join(map(str, lines))})" if lines else ""
        count = len({(left.cell, left.line) for left in one.left})
        text = _counted(count, f"{count} {{line|lines}} to change by hand{where}")
        first += text + (", then " if one.top else "")
    if one.top:
        first += f"{top or '; '.join(one.top)} {one.place}: it runs on compat.v1"
    elif not one.left:
        first += ("it runs as it is" if one.old else "it is today's code") \
            if one.rows else "no TensorFlow in it"
    changes = sum(map(len, one.edits)) + sum(len(p.edits) for p in one.source.parts)
    if changes > 1:
        first += ", once the changes are made that `port --write` makes"
    return first + (f"; when {' and '.join(waits)} does" if waits else "")


def _counted(number: int, text: str) -> str:
    """Chooses in each `{singular|plural}` of a text by a number."""
    return re.sub(r"\{(.*?)\|(.*?)\}", r"\1" if number == 1 else r"\2", text)


def as_text(pages: list[Plan]) -> str:
    """Returns the report for a reader: what is not kept, then the summary."""
    lines, others = [], {p.source.path: p for p in pages}
    for one in pages:
        way = distance(one, others, "put these lines")
        lines += ["", *textwrap.wrap(f"{one.source.path}: {way}", 88,
                                     subsequent_indent="  ")]
        lines += [f"      {line}" for line in one.top]
        lines += [f"  {word}" for word in one.source.words]
        for row in one.rows:
            if row.fate.verdict != "kept":
                lines += _lines(row)
        if kept := one.count("kept"):
            lines.append(f"  {kept} kept")
    return "\n".join([*lines, "", _counts(summary(pages))]).strip()


def _lines(row: Row) -> list[str]:
    place = f"{row.line}:{row.column}"
    if row.cell is not None:
        place = f"[{row.cell}] {place}"
    first = (f"  {MARKS[row.fate.verdict]} {place:9s} {row.fate.name:38s} "
             f"{row.fate.verdict}")
    then = textwrap.wrap(f"{row.fate.instead} (lesson {row.fate.lesson})", 66,
                         initial_indent=" " * 14, subsequent_indent=" " * 14)
    return [first, *then]


def _counts(found: dict) -> str:
    counts = ", ".join(f"{n} {verdict}" for verdict, n in found["verdicts"].items())
    uses = _counted(found["names"], "{use|uses}")
    files = _counted(found["files"], "{file|files}")
    return f"{found['names']} {uses} in {found['files']} {files}: {counts}"
