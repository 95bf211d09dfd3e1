"""What the grading found, as one table for all and a page for each learner."""

import csv
import html
import re
from pathlib import Path

from helpers.files import whole_file

COLUMNS = ("learner", "lesson", "exercise", "result", "says", "note", "seconds")
_OURS = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="generator" content="course.py grade">
"""
_HEAD = _OURS + """\
<meta http-equiv="Content-Security-Policy"
      content="default-src 'none'; style-src 'unsafe-inline'">
<title>{learner}</title>
<style>
body {{ font: 1rem/1.5 sans-serif; max-width: 60rem; margin: 2rem auto;
       padding: 0 1rem; color-scheme: light dark; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ text-align: left; vertical-align: top; padding: .3rem .6rem;
         border-bottom: 1px solid gray; }}
pre {{ overflow: auto; max-height: 30rem; border-left: 3px solid gray;
      padding-left: .8rem; }}
</style></head><body>
<h1>{learner}</h1>
<p>{solved} of {count} solved.</p>
"""


def write_table(path: Path, rows: list[dict]) -> None:
    """Writes the CSV; a cell that a spreadsheet would run is text."""
    with whole_file(path) as temporary, \
            open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore")
        writer.writeheader()
        for row in rows:
            writer.writerow({name: _plain(row[name]) for name in COLUMNS})


def _plain(value: object) -> str:
    """Returns text of one line that neither encoding nor spreadsheet stumbles on."""
    text = f"{value:.1f}" if isinstance(value, float) else str(value)
    text = _encodable(" ".join(text.split()))
    return f"'{text}" if text[:1] in tuple("=+-@") else text


def _encodable(text: str) -> str:
    text = text.encode("utf-8", "replace").decode("utf-8")
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", "?", text)


def write_pages(folder: Path, rows: list[dict]) -> None:
    """Writes a page per learner, named by its number and what is safe of its name.

    The pages of an earlier run go; a file that no run wrote stays.
    """
    for old in folder.glob("[0-9]*_*.html"):
        if old.is_file() and old.read_bytes().startswith(_OURS.encode()):
            old.unlink()
    learners = list(dict.fromkeys(row["learner"] for row in rows))
    for number, learner in enumerate(learners, 1):
        name = re.sub(r"[^\w-]+", "_", learner)[:40]
        own = [row for row in rows if row["learner"] == learner]
        with whole_file(folder / f"{number:03d}_{name}.html") as temporary:
            temporary.write_bytes(page(learner, own).encode())


def page(learner: str, rows: list[dict]) -> str:
    """Returns the page of one learner. Nothing that was handed in is markup there."""
    def safe(value: object) -> str:
        return html.escape(_encodable(str(value)))

    solved = sum(row["result"] == "solved" for row in rows)
    text = [_HEAD.format(learner=safe(learner), solved=solved, count=len(rows))]
    text.append("<table><tr><th>lesson</th><th>exercise</th><th>result</th>"
                "<th>what the check says</th><th>note</th></tr>")
    for row in rows:
        cells = (row[name] for name in ("lesson", "exercise", "result", "says", "note"))
        text.append("<tr>" + "".join(f"<td>{safe(c)}</td>" for c in cells) + "</tr>")
    text.append("</table>")
    for row in rows:
        if row["source"]:
            text.append(f"<h2>{safe(row['lesson'])}, {safe(row['exercise'])}</h2>"
                        f"<pre>{safe(row['source'])}</pre>")
        if row["output"]:
            cut = row["printed"] > len(row["output"].encode())
            heading = (f"It printed {row['printed']:,} bytes; the first of them:" if cut
                       else "It printed:")
            text.append(f"<p>{heading}</p><pre>{safe(row['output'])}</pre>")
    return "\n".join([*text, "</body></html>", ""])
