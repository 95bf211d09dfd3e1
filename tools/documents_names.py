"""Lists the programs and names of the five tutorials, with the lessons that have them.

python -m tools.documents_names      # write docs/names.md

Programs and names are listed in documents_names.txt. The cells are found in the
notebooks, and the status of a TensorFlow name is determined by running TensorFlow or
inspecting it.
"""

import importlib
import inspect
import pydoc
import re
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.files import ROOT
from helpers.tf1_names import SOURCE_NAMES, verdict
from tools import notebook as nb
from tools.book_pages import HEADING, places

PAGE = ROOT / "docs" / "names.md"
LIST = ROOT / "tools" / "documents_names.txt"
SOURCE = {old.name: old for group in SOURCE_NAMES.values() for old in group}


class Row(NamedTuple):
    """Name from the list of names, with the section that contains it."""

    section: str
    name: str
    documents: str
    where: str
    helper: str
    note: str


class Program(NamedTuple):
    """Program from the list of programs, with what the lesson shows about it.

    Attributes:
      name: Name of the class or function, or a few words without it.
      documents: Letters of the tutorials that contain the program.
      where: Lesson and pattern of the cell that has the repaired program.
      faults: Faults of the printed version that the lesson shows.
      gives: What the repaired program returns or prints.
    """

    name: str
    documents: str
    where: str
    faults: str
    gives: str


def listed() -> tuple[list[str], list[Row]]:
    """Returns the page header and the names that `documents_names.txt` lists."""
    head, rows, section = [], [], ""
    for line in LIST.read_text("utf-8").splitlines():
        if line.startswith(">"):
            head.append(line[2:])
        elif line.startswith("@"):
            head.append(f"| {line[1:].strip()} |")
        elif line.startswith("=="):
            section = line[2:].strip()
        elif line and line[0] not in "#*":
            rows.append(Row(section, *(part.strip() for part in line.split("|"))))
    return head, rows


def programs() -> list[Program]:
    """Returns the programs of the tutorials, from the lines that begin with `*`."""
    return [Program(*(part.strip() for part in line[1:].split("|")))
            for line in LIST.read_text("utf-8").splitlines() if line.startswith("*")]


class Cell(NamedTuple):
    """Place where a name is taught, as a link, a text and an alternative name."""

    link: str
    source: str
    word: str


def cell_of(row: Row) -> Cell | None:
    """Returns the first place where a name is taught, or `None`.

    If the list gives a section, the place covers all cells of this section. The
    alternative name is "" if the text contains the name itself.
    """
    only, pattern = re.fullmatch(r"(?:(\d\d[a-z]?):)?(.*)", row.where).groups()
    if not pattern:
        last = re.escape(row.name.split(".")[-1])
        pattern = rf"\btf1?\.(\w+\.)*{last}\b" if row.name[:3] == "tf." else last
    for path, cell, heading in places():
        number, source = nb.number(path), cell.source
        hit = re.search(pattern, source) if only in (None, number) else None
        if hit and cell.cell_type == "markdown":
            before = source[:hit.end()] + source[hit.end():].split("\n")[0]
            heading = [heading, *HEADING.findall(before)][-1]
        if hit:
            link = f"[{number} {heading}](../notebooks/{path.name})"
            text = _section(path, heading) if hit[0].startswith("#") else source
            match = re.search(rf"(?<!\w){_own_word(row.name)}(?!\w)", text)
            alias = "" if match else re.sub(r"^def |[( =]+$", "", hit[0])
            return Cell(link, source, alias)
    return None


def _section(lesson: Path, heading: str) -> str:
    """Returns the source of all cells in a section, including its heading."""
    return "\n".join(
        cell.source for path, cell, above in places() if path == lesson
        and heading in (above, *HEADING.findall(cell.source)))


def _own_word(name: str) -> str:
    """Returns the part of a name that a cell would use, such as `y` for `tf.x.y`."""
    return re.search(r"(\w+)(?:=\)|)$", name.split(" ")[0])[1]


def _has(module: ModuleType, path: str, option: str | None) -> bool:
    """Returns whether a module has a name, and whether it accepts an option."""
    value = module
    for part in path.split("."):
        value = getattr(value, part, None)
    if value is None or option is None:
        return value is not None
    if hasattr(value, "DESCRIPTOR"):
        return option in value.DESCRIPTOR.fields_by_name
    call = value.__init__ if inspect.isclass(value) else value
    return option in inspect.signature(call).parameters


def fate_in_tensorflow(name: str) -> tuple[str, str]:
    """Returns the status of a TensorFlow 1 name, and its replacement."""
    path, option = re.fullmatch(r"tf\.([\w.]+)(?:\((\w+)=\))?", name).groups()
    if path in SOURCE and not option:
        old = SOURCE[path]
        return verdict(old), "" if old.today.split(",")[0] == name else old.today
    if not _has(tf1, path, option):
        return "gone", ""
    if not _has(tf, path, option):
        return "moved", ""
    owners = [owner for owner in SOURCE if f"{path}.".startswith(f"{owner}.")]
    return verdict(SOURCE[max(owners, key=len)]) if owners else "kept", ""


def fate(row: Row, cell: Cell | None) -> str:
    """Returns the status of a name in one word, with its replacement if it has one."""
    if row.name.startswith("tf."):
        status, today = fate_in_tensorflow(row.name)
        return f"{status}; today `{today}`" if today else status
    if row.section.startswith("Python"):
        module, _, attribute = row.name.rpartition(".")
        exists = module and hasattr(importlib.import_module(module), attribute)
        return "kept" if exists else "gone"
    last = row.name.split(" ")[0].split(".")[-1]
    there = rf"\b{last}\b" if not row.helper else rf"\b(?:def|class) {last}\b"
    if row.helper.split(".")[-1] == last or cell and re.search(there, cell.source):
        return "kept"
    return "replaced" if row.helper or cell else "gone"


def _line(row: Row) -> str:
    """Returns the table row of a name, after checking its cell and its helper."""
    cell = cell_of(row) if row.where != "-" else None
    untaught = row.note.startswith("not taught: ")
    if cell and cell.word.startswith("#"):
        raise ValueError(
            f"Section {cell.word!r} does not mention {row.name}. Correct the row of "
            "this name in documents_names.txt."
        )
    correct = f"Correct the row of {row.name} in documents_names.txt."
    if cell is None and not untaught:
        raise ValueError(f"No cell contains {row.where!r}. {correct}")
    if cell and untaught:
        raise ValueError(f"{row.where!r} is in a cell, but marked as not taught. "
                         f"{correct}")
    if row.helper and not pydoc.locate(f"helpers.{row.helper}"):
        raise ValueError(f"helpers.{row.helper} does not exist. {correct}")
    became = fate(row, cell) + (f": {row.note}" if row.note and not untaught else "")
    helper = f"`{row.helper}`" if row.helper else ""
    alias = f", as `{cell.word}`" if cell and cell.word else ""
    where = cell.link + alias if cell else row.note
    return f"| `{row.name}` | {row.documents} | {where} | {helper} | {became} |"


def _program_line(program: Program) -> str:
    """Returns the table row of a program, after checking that its cell has its name.

    Raises:
      ValueError: If no cell matches, or if the cell does not contain the name.
    """
    cell = cell_of(Row("", program.name, "", program.where, "", ""))
    is_name = " " not in program.name
    if cell is None or is_name and not re.search(rf"\b{program.name}\b", cell.source):
        raise ValueError(
            f"Program {program.name} not found in the cell {program.where!r}. Correct "
            "the program's row in documents_names.txt."
        )
    name = f"`{program.name}`" if is_name else program.name
    return (f"| {name} | {program.documents} | {cell.link} | {program.faults} | "
            f"{program.gives} |")


def page() -> str:
    """Returns the Markdown text of docs/names.md."""
    lines, rows = listed()
    lines += ["", "## The programs of the tutorials", "",
              "| program | in | whole and repaired in | faults shown | what it gives |",
              "| --- | --- | --- | --- | --- |",
              *map(_program_line, programs())]
    for section in dict.fromkeys(row.section for row in rows):
        lines += ["", f"## {section}", "",
                  "| name | in | taught in | helper | what became of it |",
                  "| --- | --- | --- | --- | --- |"]
        lines += [_line(row) for row in rows if row.section == section]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
