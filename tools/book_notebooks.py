"""Converts lessons for the book: link targets, folded solutions and plotting code."""

import ast
import copy
import re
from pathlib import Path

import nbformat
from nbformat.v4 import new_markdown_cell

from tools import notebook as nb
from tools.cells import exercise_cells, reports, unmarked

SHOW, HIDE = "Show one solution", "Hide the solution"
FOLDED = {"code_prompt_show": "Show the code of this figure",
          "code_prompt_hide": "Hide the code of this figure"}
FEW = 5  # lines of code that need no folding
WORKS = re.compile(r"\b(?:run|fit|train\w*)\(")  # calls of cells that do not only draw


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
    check. The code of a cell that only draws is folded.
    """
    notebook = nb.read(lesson)
    notebook.metadata.language_info.pygments_lexer = "ipython3"
    answers = iter(solved(lesson))
    cells = []
    for at, stored in enumerate(notebook.cells):
        cell = copy.deepcopy(stored)
        target = f"({cell.id})="
        if cell.cell_type == "markdown":
            cell.source = f"{target}\n{cell.source}"
        else:
            cells.append(new_markdown_cell(target, id=f"{cell.id}-target"))
            cell.metadata["figures"] = figures(cell)
            if only_draws(cell, notebook.cells[at + 1:]):
                cell.metadata["tags"] = [*cell.metadata.get("tags", []), "hide-input"]
                cell.metadata["mystnb"] = dict(FOLDED)
        cells.append(cell)
        if reports(cell):
            cells.append(next(answers))
    notebook.cells = cells
    return notebook


def only_draws(
    cell: nbformat.NotebookNode, later: list[nbformat.NotebookNode]
) -> bool:
    """Returns whether a cell has figures as its only outputs, and no further use.

    Args:
      cell: Code cell with its outputs.
      later: Cells after it. If they read a name that the cell defines, its code belongs
        to the lesson.
    """
    if (not cell.outputs or not all(map(_is_drawn, cell.outputs))
            or len(cell.source.splitlines()) < FEW or WORKS.search(cell.source)):
        return False
    made, _ = _names(ast.parse(cell.source))
    for following in later:
        if following.cell_type == "code" and not following.source.startswith("%"):
            for statement in ast.parse(following.source).body:
                written, read = _names(statement)
                if made & read - written:
                    return False
                made -= written
    return True


def _is_drawn(output: nbformat.NotebookNode) -> bool:
    data = output.get("data", {})
    return "image/png" in data or data.get("text/plain", "").startswith(
        ("Figure: ", "Interactive figure: "))


def _names(tree: ast.AST) -> tuple[set[str], set[str]]:
    """Returns the names that a piece of code defines, and those that it reads."""
    made, read = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            made.add(node.name)
        elif isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else made).add(node.id)
    return made, read


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
