"""The README's table of lessons, read from the head of each notebook.

python -m tools.readme      # write the table into README.md
"""

import re
from pathlib import Path

import nbformat

from helpers.files import ROOT
from tools import notebook as nb

BEGIN = "<!-- lessons: made by python -m tools.readme -->"
END = "<!-- end of lessons -->"
# From the first scope to the first caption: what a reader with one day reads.
CORE = tuple(f"{subject:02d}a" for subject in range(1, 9))


def head(path: Path) -> dict[str, str]:
    """Returns title, minutes, needs and what is built, from a lesson's first cells.

    Raises:
      ValueError: the head does not have the form that every lesson shares.
    """
    cells = nbformat.read(path, as_version=4).cells
    text = "\n\n".join(c.source for c in cells[:3] if c.cell_type == "markdown")
    patterns = {
        "title": r"^# (.+)$",
        "minutes": r"about (\d+) minutes to read, \d+ for the exercise",
        "practice": r"minutes to read, (\d+) for the exercise",
        "needs": r"for the exercises? · needs (.+)$",
        "builds": r"^\*\*You build\*\* (.+?)(?:\n\n|\Z)",
    }
    found = {}
    for key, pattern in patterns.items():
        match = re.search(pattern, text, re.M | re.S if key == "builds" else re.M)
        if not match:
            raise ValueError(f"{path.name}: no `{key}` at its head ({pattern})")
        found[key] = " ".join(match.group(1).split())
    return found


def table(root: Path = ROOT) -> str:
    """Returns the table in Markdown, between its two marker lines."""
    rows = [BEGIN, "| sitting | you build | to read | exercises |",
            "| --- | --- | --- | --- |"]
    for path in nb.lessons(root):
        h = head(path)
        link = f"[{nb.number(path)} {h['title']}](notebooks/{path.name})"
        link = f"**{link}**" if nb.number(path) in CORE else link
        rows.append(f"| {link} | {h['builds'].rstrip('.')} | {h['minutes']} | "
                    f"{h['practice']} |")
    return "\n".join([*rows, END])


def with_table(readme: str, lessons: str) -> str:
    """Returns the README with its table replaced."""
    before, rest = readme.split(BEGIN)
    return before + lessons + rest.split(END)[1]


if __name__ == "__main__":
    path = ROOT / "README.md"
    path.write_text(with_table(path.read_text("utf-8"), table()), encoding="utf-8")
