"""What a class handed in, as one page for its teacher and a table for an LMS."""

import csv
import html
import re
from collections import Counter, defaultdict
from pathlib import Path

from helpers.errors import DataError
from helpers.files import whole_file

NOTHING = "not handed in"
SIGNS = {"solved": "✓", "not solved": "✗", "not tried": "○", "missing": "○",
         NOTHING: "–"}
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>
:root {{ color-scheme: light dark; --line: #767676; --good: #e3f1e3; --bad: #fbe6dc; }}
@media (prefers-color-scheme: dark) {{ :root {{ --good: #173a20; --bad: #4a2313; }} }}
body {{ font: 16px/1.45 system-ui, sans-serif; margin: 1.5rem auto; max-width: 70rem;
  padding: 0 1rem; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; }}
th, td {{ border: 1px solid var(--line); padding: .25rem .5rem; text-align: left;
  vertical-align: top; }}
.solved {{ background: var(--good); }} .not {{ background: var(--bad); }}
@media print {{ body {{ max-width: none; }} section.learner {{ break-before: page; }}
  .wide {{ overflow: visible; }} }}
</style></head><body>
<h1>{title}</h1>
<p>✓ solved · ✗ a claim does not hold · ○ not tried, or its cell is missing ·
– not handed in · ! anything else. A number is the claims that hold, of all; a check
stops at the first that does not.</p>
<h2 id="class">Learners by exercises</h2>
<div class="wide" tabindex="0" role="region" aria-labelledby="class">{matrix}</div>
<h2>What failed most</h2>
{failed}
{learners}
</body></html>
"""


def read_points(path: Path | None, keys: set[str]) -> dict[str, float]:
    """Returns the points of each exercise: one, where no file says another number.

    Args:
      path: a CSV of two columns, such as `09a repeated_steps,3`; None for none.
      keys: of the exercises that count.

    Raises:
      DataError: a line is none of this.
    """
    points = dict.fromkeys(keys, 1.0)
    lines = path.read_text("utf-8-sig").splitlines() if path else []
    for number, line in enumerate(lines, 1):
        key, _, value = line.rpartition(",")
        if not line.strip():
            continue
        try:
            points[key.strip()] = float(value)
        except ValueError:
            raise DataError(f"{path}, line {number}: not an exercise and its points, "
                            "such as: 09a repeated_steps,3") from None
        if key.strip() not in keys:
            raise DataError(f"{path}, line {number}: no exercise {key.strip()!r}; "
                            f"there are {', '.join(sorted(keys))}")
    return points


def plain(value: object) -> str:
    """Returns text of one line that neither encoding nor spreadsheet stumbles on."""
    text = f"{value:.1f}" if isinstance(value, float) else str(value)
    text = " ".join(text.encode("utf-8", "replace").decode("utf-8").split())
    text = re.sub(r"[\x00-\x1f\x7f]", "?", text)
    return f"'{text}" if text[:1] in tuple("=+-@") else text


def by_learner(rows: list[dict]) -> dict[str, dict[str, dict]]:
    """Returns the rows of each learner, by the key of the exercise."""
    found: dict[str, dict[str, dict]] = defaultdict(dict)
    for row in rows:
        found[row["learner"]][row["key"] or row["exercise"]] = row
    return dict(sorted(found.items()))


def write_wide(path: Path, rows: list[dict], points: dict[str, float]) -> None:
    """Writes a line per learner, with the points of each exercise and their sum.

    A cell is empty where nothing was handed in.
    """
    keys = _keys(rows)
    with whole_file(path) as temporary, \
            open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["learner", *keys, "sum"])
        for learner, done in by_learner(rows).items():
            got = [points[key] * (done[key]["result"] == "solved") if key in done
                   else "" for key in keys]
            total = sum(n for n in got if n != "")
            shown = [f"{n:g}" if n != "" else "" for n in [*got, total]]
            writer.writerow([plain(learner), *shown])


def write_page(path: Path, rows: list[dict], title: str) -> None:
    """Writes the page: a matrix, what failed most, and a part for each learner."""
    text = PAGE.format(title=html.escape(title), matrix=_matrix(rows),
                       failed=_failed(rows), learners=_learners(rows))
    with whole_file(path) as temporary:
        temporary.write_text(text.encode("utf-8", "replace").decode(), "utf-8")


def _keys(rows: list[dict]) -> list[str]:
    return sorted({row["key"] for row in rows if row["key"]})


def _cell(row: dict | None) -> str:
    result = row["result"] if row else NOTHING
    kind = {"solved": ' class="solved"', NOTHING: ""}.get(result, ' class="not"')
    count = f" {row['passed']}" if row and row["passed"] else ""
    return f"<td{kind}>{SIGNS.get(result, '!')} {html.escape(result)}{count}</td>"


def _matrix(rows: list[dict]) -> str:
    keys = _keys(rows)
    head = "".join(f'<th scope="col">{html.escape(key)}</th>' for key in keys)
    lines = [f'<tr><th scope="row"><a href="#{_anchor(name)}">{html.escape(name)}</a>'
             + _unread(done) + "</th>"
             + "".join(_cell(done.get(key)) for key in keys) + "</tr>"
             for name, done in by_learner(rows).items()]
    return (f'<table><thead><tr><th scope="col">learner</th>{head}</tr></thead><tbody>'
            + "\n".join(lines) + "</tbody></table>")


def _unread(done: dict[str, dict]) -> str:
    """Says beside a name what was handed in and could not be taken."""
    results = {row["result"] for row in done.values() if not row["key"]}
    return f" (! {', '.join(sorted(results))})" if results else ""


def _failed(rows: list[dict]) -> str:
    """Lists the claims that most stopped at, each with its shortest case."""
    stopped = defaultdict(list)
    for row in rows:
        if row["claim"]:
            stopped[row["key"], row["claim"]].append(row)
    handed_in = Counter(row["key"] for row in rows if row["result"] != "missing")
    items = [f"<li><b>{html.escape(f'{key}: {claim}')}</b>, {len(found)} of "
             f"{handed_in[key]} who handed it in. "
             f"{html.escape(min((row['says'] for row in found), key=len))}</li>"
             for (key, claim), found in sorted(
                 stopped.items(), key=lambda item: -len(item[1]))]
    return f"<ol>{''.join(items)}</ol>" if items else "<p>Nothing.</p>"


def _learners(rows: list[dict]) -> str:
    parts = []
    for name, done in by_learner(rows).items():
        items = []
        for row in done.values():
            said = " ".join(text for text in (row["says"], row["note"]) if text)
            items.append(f"<tr><th scope=\"row\">{html.escape(row['key'])} "
                         f"{html.escape(row['exercise'])}</th>{_cell(row)}"
                         f"<td>{html.escape(said)}</td>"
                         f"<td>{html.escape(row['file'])}</td></tr>")
        parts.append(f'<section class="learner" id="{_anchor(name)}"><h2>'
                     f"{html.escape(name)}</h2><div class=\"wide\"><table><thead><tr>"
                     + "".join(f'<th scope="col">{word}</th>' for word in (
                         "exercise", "result", "what was said", "file"))
                     + f"</tr></thead><tbody>{''.join(items)}</tbody></table></div>"
                     '<p><a href="#class">to the class</a></p></section>')
    return "\n".join(parts)


def _anchor(name: str) -> str:
    return "learner-" + name.encode("utf-8", "replace").hex()
