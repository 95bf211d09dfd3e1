"""Pages of the book that are generated from lessons, documents and `helpers`."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import nbformat

from helpers.files import ROOT
from tools import architecture, readme
from tools import notebook as nb
from tools.cells import pitfalls_in

HEADING = re.compile(r"^#+ (.+)$", re.M)
SENTENCE = re.compile(r"(?<=[.?!])[\"')]* (?=[\"'(`*\dA-Z])")
# What the list of pitfalls says of the book, for readers outside of the book.
ELSEWHERE = re.compile(r"\sIn\s+the\s+web\s+pages\s.+?\slink\s+to\s+the\s+cell\.", re.S)
ROW = re.compile(r"^\| (.+) \| (.+) \| (\d\d[a-z]?): (.+?) \|$", re.M)


class Place(NamedTuple):
    """Cell of a lesson, with the last heading before it."""

    lesson: Path
    cell: nbformat.NotebookNode
    heading: str

    def link(self, words: str = "") -> str:
        """Returns a Markdown link to the cell, labelled with lesson and heading.

        Args:
          words: Text in the cell. If the cell has several headings, the link names the
            last one before this text.
        """
        above = self.cell.source.split(words)[0] if words else ""
        heading = [self.heading, *HEADING.findall(above)][-1]
        return f"[{nb.number(self.lesson)} {heading}](#{self.cell.id})"


@functools.cache
def places() -> tuple[Place, ...]:
    """Returns all cells of all lessons in reading order, and caches the result."""
    return tuple(place for lesson in nb.lessons(ROOT) for place in _places(lesson))


def _places(lesson: Path) -> Iterator[Place]:
    cells = nb.read(lesson).cells
    heading = ""
    for cell in cells:
        yield Place(lesson, cell, heading)
        if cell.cell_type == "markdown":
            heading = [heading, *HEADING.findall(cell.source)][-1]


def pitfalls() -> dict[tuple[str, str], Place]:
    """Returns the cell of each pitfall, keyed by lesson number and title."""
    return {
        (nb.number(place.lesson), name.rstrip(".?")): place
        for place in places() for name in pitfalls_in(place.cell)
    }


def pitfall_page(text: str) -> str:
    """Returns `docs/pitfalls.md` with a link to a lesson cell in each row.

    Raises:
      ValueError: If the rows of the page and the pitfalls of the lessons do not match.
        The message names the first difference.
    """
    known = pitfalls()
    rows = {(number, name): (see, why) for see, why, number, name in ROW.findall(text)}
    for number, name in known.keys() ^ rows.keys():
        page, lesson = "docs/pitfalls.md", f"lesson {number}"
        where, other = (page, lesson) if (number, name) in known else (lesson, page)
        raise ValueError(
            f"Pitfall '{number}: {name}' is missing from {where}. Add it, or correct "
            f"its name in {other}."
        )

    def linked(match):
        see, why, number, name = match.groups()
        target = known[number, name].cell.id
        return f"| {see} | {why} | [{number}: {name}](#{target}) |"

    return ELSEWHERE.sub(" Its title is a link to the cell.", ROW.sub(linked, text))


def glossary_page(terms: str) -> str:
    """Returns the glossary, with each term's defining sentence from a lesson.

    Args:
      terms: Lines with term, lesson, words of the defining sentence and, optionally,
        the number of sentences, separated by ` | `. Lines that begin with # are
        comments.

    Raises:
      ValueError: If the words of a term do not occur in exactly one cell of its lesson.
    """
    cells = [place for place in places() if place.cell.cell_type == "markdown"]
    lines = ["# Glossary", "", "Each term is quoted with the sentence of the lesson "
             "that defines it.", ""]
    rows = [line.split(" | ") for line in terms.splitlines() if line[:1] not in "#"]
    rows.sort(key=lambda row: row[0].strip("`").lower())
    for term, number, words, *count in rows:
        matches = [place for place in cells if words in place.cell.source
                 and place.lesson.name.startswith(number)]
        if len(matches) != 1:
            raise ValueError(
                f"Expected {words!r} (term {term}) in exactly one cell of lesson "
                f"{number}, but found it in {len(matches)}. Correct "
                "docs/book/terms.txt."
            )
        sentence = quoted(matches[0].cell.source, words, int((count or [1])[0]))
        lines += [term, f":   {sentence} {matches[0].link(words)}", ""]
    return "\n".join(lines)


def quoted(text: str, words: str, count: int) -> str:
    """Returns `count` sentences of a text, starting with the one that has `words`."""
    [paragraph] = [part for part in re.split(r"\n\n|\n(?=- )", text) if words in part]
    paragraph = re.sub(r"^> ?", "", paragraph, flags=re.M).replace("\n", " ")
    sentences = SENTENCE.split(paragraph)
    first = next(i for i, sentence in enumerate(sentences) if words in sentence)
    taken = " ".join(sentences[first:first + count])
    taken = re.sub(r"^\*\*(?:Predict|Pitfall)[^*]*\*\* ", "", taken)
    if taken.count("(") != taken.count(")"):
        taken = taken.strip("()")
    taken = re.sub(r":$", ".", taken)
    return _without_local_links(taken)


def _without_local_links(text: str) -> str:
    """Replaces links to local files in Markdown with their labels."""
    return re.sub(r"\[([^\]]+)\]\((?!#|http)[^)]*\)", r"\1", text)


def front_page(text: str) -> str:
    """Fills the lesson table and the table of contents into the front page."""
    table = readme.table(ROOT)
    entries = "\n".join(
        f"{nb.number(path)} {readme.head(path)['title']} <notebooks/{path.stem}>"
        for path in nb.lessons(ROOT))
    text = text.replace("](../", "](docs/")  # the page is one folder higher
    return text.replace("```{lessons}\n```", table).replace("LESSONS", entries)


def in_words(page: str) -> str:
    """Replaces the Mermaid graph of a page with a list of imports."""
    def listed(match):
        edges = re.findall(r"(\w+) --> (\w+)", match[1])
        return "\n".join(
            f"- `{name}` imports " + ", ".join(f"`{b}`" for a, b in edges if a == name)
            for name in dict.fromkeys(a for a, _ in edges))

    return re.sub(r"```mermaid\nflowchart TD\n(.*?)```", listed, page, flags=re.S)


def reference() -> Iterator[tuple[str, str]]:
    """Yields the name and text of each reference page on `helpers`."""
    rooms = architecture.rooms()
    names = [name for name in rooms if name != "checks"]
    yield "index", "\n".join([
        "# Reference of `helpers`", "",
        "The package contains code that the lessons have taught and use again. "
        "[The architecture on one page](../docs/architecture.md) shows which module "
        "imports which.", "",
        "```{toctree}", ":maxdepth: 1", "", *names, "```", ""])
    for name in names:
        modules = [f"helpers.{name}"]
        if len(rooms[name]) > 1 and not _exports(rooms[name]):
            modules += [f"helpers.{name}.{file.stem}" for file in rooms[name]
                        if not file.stem.startswith("_")]
        blocks = [f"```{{eval-rst}}\n.. automodule:: {module}\n   :members:\n```"
                  for module in modules]
        yield name, "\n\n".join([f"# `helpers.{name}`", *blocks]) + "\n"


def _exports(files: list[Path]) -> bool:
    """Returns whether the package's `__init__.py` defines `__all__`."""
    [init] = [file for file in files if file.stem == "__init__"]
    return "__all__" in {
        getattr(target, "id", "") for node in ast.parse(init.read_text("utf-8")).body
        if isinstance(node, ast.Assign) for target in node.targets
    }
