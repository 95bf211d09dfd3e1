"""Converts lessons for the book, with link targets and collapsed solutions."""

import copy
from pathlib import Path

import nbformat
from nbformat.v4 import new_markdown_cell

from tools import notebook as nb
from tools.cells import exercise_cells, reports, unmarked

SHOW, HIDE = "Show one solution", "Hide the solution"


def figures(cell: nbformat.NotebookNode) -> list[str]:
    """Returns the alternative text of each figure in a cell's outputs, in order."""
    return [
        output.metadata.get("image/png", {}).get("alt", "")
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]


def for_book(lesson: Path) -> nbformat.NotebookNode:
    """Returns a lesson prepared for Sphinx, without changing the stored file.

    Every cell becomes a link target with its id, so that other pages can link to it. A
    collapsed cell under each exercise contains its solution and the report of its
    check.
    """
    notebook = nb.read(lesson)
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
        if reports(cell):
            cells.append(next(answers))
    notebook.cells = cells
    return notebook


def solved(lesson: Path) -> list[nbformat.NotebookNode]:
    """Returns one collapsed cell per exercise with a solution and its check."""
    solutions = nb.read(nb.solution(lesson))
    answers = exercise_cells(solutions)
    checks = [cell for cell in solutions.cells if reports(cell)]
    folded = []
    for answer, check in zip(answers, checks, strict=True):
        cell = copy.deepcopy(check)
        cell.source = f"{unmarked(answer.source)}\n\n\n{check.source}"
        cell.metadata = nbformat.from_dict({
            "tags": ["hide-cell"],
            "mystnb": {"code_prompt_show": SHOW, "code_prompt_hide": HIDE},
        })
        cell.id = f"{answer.id}-solution"
        folded.append(cell)
    return folded
