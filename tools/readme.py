"""Writes the generated parts of the README: lesson tables and counts.

python -m tools.readme
"""

import re
from pathlib import Path

from helpers.files import ROOT
from tools import notebook as nb
from tools.cells import Lesson

# The core lessons, from the first scope to the first caption, take one day.
CORE = tuple(f"{subject:02d}a" for subject in range(1, 9))
# The chapters, and the first and the last subject of each.
CHAPTERS = {
    "Graphs, scopes, and devices": (1, 2),
    "Data: queues and records": (3, 4),
    "Training: towers, VGG, and captions": (5, 8),
    "A cluster": (9, 9),
    "Old code and old files": (10, 11),
    "Larger captioners": (12, 12),
    "Looking inside": (13, 14),
    "The source's programs": (15, 15),
}


def head(path: Path) -> dict[str, str]:
    """Returns title, minutes, requirements and result from the head of a lesson.

    Raises:
      ValueError: If the head does not have the form that all lessons share.
    """
    cells = nb.read(path).cells
    text = "\n\n".join(c.source for c in cells[:3] if c.cell_type == "markdown")
    patterns = {
        "title": r"^# (.+)$",
        "minutes": r"about (\d+) minutes to read, \d+ for the exercise",
        "practice": r"minutes to read, (\d+) for the exercise",
        "needs": r"for the exercises? · needs (.+)$",
        "builds": r"^\*\*You build\*\* (.+?)(?:\n\n|\Z)",
    }
    facts = {}
    for key, pattern in patterns.items():
        match = re.search(pattern, text, re.M | re.S if key == "builds" else re.M)
        if not match:
            raise ValueError(
                f"`{key}` not found in the first cells of {path.name}. Add a line that "
                f"matches the pattern {pattern}."
            )
        facts[key] = " ".join(match.group(1).split())
    return facts


def table(root: Path = ROOT) -> str:
    """Returns the lessons as Markdown, with one table per chapter."""
    lines = []
    for title, (first, last) in CHAPTERS.items():
        lines += [f"### {title}", "", "| lesson | you build | reading | exercises |",
                  "| --- | --- | --- | --- |"]
        lines += [_row(path) for path in nb.lessons(root)
                  if first <= int(nb.number(path)[:2]) <= last]
        lines.append("")
    return "\n".join(lines[:-1])


def _row(path: Path) -> str:
    """Returns the table row of a lesson, in bold for core lessons."""
    h = head(path)
    link = f"[{nb.number(path)} {h['title']}](notebooks/{path.name})"
    link = f"**{link}**" if nb.number(path) in CORE else link
    return (f"| {link} | {h['builds'].rstrip('.')} | {h['minutes']} min | "
            f"{h['practice']} min |")


def counts(root: Path = ROOT) -> str:
    """Returns the README's list of features, with counts from the lessons."""
    lessons = [Lesson(path) for path in nb.lessons(root)]
    questions = sum(len(lesson.questions) for lesson in lessons)
    exercises = sum(len(lesson.exercises) for lesson in lessons)
    hours = round(sum(int(head(path)["minutes"]) for path in nb.lessons(root)
                      if nb.number(path) in CORE) / 60)
    return "\n".join([
        f"- **You predict first.** {questions} times, you write down what will happen, "
        "and then you run the cell.",
        "- **You break things.** You see the mistakes of real programs fail, and then "
        "you repair them.",
        f"- **You get answers.** {exercises} exercises check themselves, and give "
        "hints.",
        "- **You can trust it.** Every notebook is executed as a test, and its output "
        "is compared.",
        f"- **You choose how far to go.** The eight core lessons take about {hours} "
        "hours to read, and each of the others adds one subject."])


BLOCKS = {"lessons": table, "counts": counts}


def with_blocks(text: str) -> str:
    """Returns the text of a README with every generated block updated."""
    for name, make in BLOCKS.items():
        begin = f"<!-- {name}: made by python -m tools.readme -->"
        before, rest = text.split(begin)
        after = rest.split(f"<!-- end of {name} -->")[1]
        text = f"{before}{begin}\n{make()}\n<!-- end of {name} -->{after}"
    return text


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(with_blocks(readme.read_text("utf-8")), encoding="utf-8")
