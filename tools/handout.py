"""Writes notebooks with the exercises alone, to hand out.

    python3 course.py handout FOLDER 03    # of one lesson; of all where none is named

Each holds the exercises of one lesson as that has them, with a set-up of its own. They
run wherever the course runs. `course.py grade` takes them in again, and whole lessons
as well.
"""

import ast
import sys
from pathlib import Path

import nbformat
from nbformat import v4

from helpers.errors import DataError
from tools import exercises as ex
from tools import notebook as nb
from tools.environment import go_where_called
from tools.lesson import Lesson, asked, checked

INTRODUCTION = """# Exercises of lesson {number}: {title}

Write each answer in its cell, below the line that asks for your code, and run the \
check behind it. Keep the name of the function: the check asks for it, and so does \
the program that collects this notebook. What an answer needs stands in its own cell.

Stuck? `check_NAME(NAME, hints=1)` gives a hint, `hints=2` the next one.

Name: &nbsp; &nbsp; Date:"""


def handout(lesson: Lesson) -> nbformat.NotebookNode:
    """Returns the notebook to hand out for a lesson."""
    text = INTRODUCTION.format(number=lesson.number, title=lesson.title)
    setup = lesson.exercises[0].before
    before = "\n".join(setup)
    more = [line for line in ex.taught(lesson) if _is_new_import(line, before)]
    cells = [v4.new_markdown_cell(text), *map(v4.new_code_cell, setup)]
    if more:
        cells += [v4.new_markdown_cell("The lesson's other imports:"),
                  v4.new_code_cell("\n".join(more))]
    notebook = v4.new_notebook(cells=cells + _exercise_cells(lesson.practice()))
    return nb.canonical(nb.cleared(notebook), lesson.path.name)


def _is_new_import(statement: str, before: str) -> bool:
    if not isinstance(ast.parse(statement).body[0], ast.Import | ast.ImportFrom):
        return False
    made = ex.names_made(statement)
    return not any(made <= ex.names_made(ast.unparse(node))
                   for node in ast.parse(before).body
                   if isinstance(node, ast.Import | ast.ImportFrom))


def _exercise_cells(cells: list) -> list:
    """Leaves out what a lesson does with an answer once it is right."""
    kept, done = [], False
    for cell in cells:
        done = done and not asked(cell)
        if not done:
            kept.append(cell)
        done = done or bool(checked(cell))
    return kept


def main(arguments: list[str]) -> int:
    sys.stdout.reconfigure(errors="backslashreplace")
    parser = nb.parser("handout", __doc__)
    parser.add_argument("folder", type=Path, help="where the notebooks go")
    options, lessons = nb.chosen(parser, arguments)
    there = [options.folder / path.name for path in lessons
             if (options.folder / path.name).exists()]
    if there:
        parser.error(f"{there[0]} is there and may hold answers: name another folder")
    for lesson in lessons:
        try:
            nb.store(options.folder / lesson.name, handout(Lesson(lesson)))
        except (DataError, OSError) as error:
            parser.error(str(error))
        print(options.folder / lesson.name)
    print("A learner opens one by: python3 course.py lab FILE, and sees what is solved "
          "by: python3 course.py progress FILE\nWhat comes back, a folder per learner, "
          "goes into: python3 course.py grade FOLDER")
    return 0


if __name__ == "__main__":
    go_where_called()
    sys.exit(main(sys.argv[1:]))
