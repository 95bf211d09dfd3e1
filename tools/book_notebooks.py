"""Lessons as the book shows them: text alternatives, targets, folded solutions."""

import copy
import re
from pathlib import Path

import nbformat
from nbformat.v4 import new_markdown_cell

from tools import notebook as nb
from tools import stubs

SHOW, HIDE = "Show one solution", "Hide the solution"


def figures(cell: nbformat.NotebookNode) -> list[str]:
    """Returns the sentence of each figure that a cell shows, in order."""
    return [
        output.metadata.get("image/png", {}).get("alt", "")
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]


def for_book(lesson: Path) -> nbformat.NotebookNode:
    """Returns a lesson for Sphinx; the stored file stays as it is.

    Each cell is a target of its id, so that other pages can point at it. Under each
    exercise its solution is folded, with what its check said.
    """
    notebook = nbformat.read(lesson, as_version=4)
    notebook.metadata.language_info.pygments_lexer = "ipython3"
    answers = iter(solved(lesson))
    cells = []
    for cell in notebook.cells:
        cell = copy.deepcopy(cell)
        target = f"({cell.id})="
        if cell.cell_type == "markdown":
            cell.source = f"{target}\n{cell.source}"
        else:
            cells.append(new_markdown_cell(target, id=f"{cell.id}-target"))
            cell.metadata["figures"] = figures(cell)
        cells.append(cell)
        if "check_" in cell.source and _reports(cell):
            cells.append(next(answers))
    notebook.cells = cells
    return notebook


def solved(lesson: Path) -> list[nbformat.NotebookNode]:
    """Returns one folded cell per exercise: the answer, its check, what that said."""
    cells = nbformat.read(nb.solution(lesson), as_version=4).cells
    answers = stubs.exercise_cells(nbformat.from_dict({"cells": cells}))
    checks = [cell for cell in cells if _reports(cell)]
    found = []
    for answer, check in zip(answers, checks, strict=True):
        cell = copy.deepcopy(check)
        lines = re.sub(r"^ *### (BEGIN|END) SOLUTION\n?", "", answer.source, flags=re.M)
        cell.source = f"{lines.rstrip()}\n\n\n{check.source}"
        cell.metadata = nbformat.from_dict({
            "tags": ["hide-cell"],
            "mystnb": {"code_prompt_show": SHOW, "code_prompt_hide": HIDE},
        })
        cell.id = f"{answer.id}-solution"
        found.append(cell)
    return found


def _reports(cell: nbformat.NotebookNode) -> bool:
    """Returns whether a cell shows what the check of an exercise said."""
    return any(
        re.match(r"Exercise \d+: ", output.get("text", "")
                 or output.get("data", {}).get("text/plain", ""))
        for output in cell.get("outputs", [])
    )
