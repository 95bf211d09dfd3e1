"""Writes notebooks that contain only the exercises of a lesson, to hand out.

    python3 course.py handout FOLDER 03    # one lesson; without a number, all
    python3 course.py handout FOLDER 03 --nbgrader    # a folder for nbgrader

Each notebook contains the exercises of one lesson and the code that they need, and it
runs wherever the course runs. For nbgrader, the answers are between its markers, and
each check is a test worth one point. nbgrader needs an environment with the course's
packages. docs/guide.md lists the commands for a laptop and for a hub, and explains what
nbgrader does not protect you from.
"""

import ast
import re
import sys
import textwrap
from pathlib import Path

import nbformat
from nbformat import v4

from helpers.errors import DataError
from helpers.files import whole_file
from tools import exercises as ex
from tools import notebook as nb
from tools.cells import Lesson, asked, checked, exercise_cells, is_exercise, unmarked
from tools.environment import go_where_called
from tools.stubs import STUB

INTRODUCTION = """# Exercises of lesson {number}: {title}

Write each answer in its cell, below the line that asks for your code, and run the \
check behind it. Keep the name of the function: the check asks for it. Put into the \
cell what the answer needs. Keep the lesson open beside it: it tells what the words \
mean.

Stuck? `check_NAME(NAME, hints=1)` gives a hint, `hints=2` the next one.

Name: &nbsp; &nbsp; Date:"""

# nbgrader inserts the stub that the checks recognise as "not tried yet".
NBGRADER = """c = get_config()
c.CourseDirectory.course_id = "tensorflow-machinery"
c.ClearSolutions.code_stub = {{"python": "{stub}\\npass"}}
c.ExecutePreprocessor.timeout = 300
"""
TEST = """\
import contextlib, io

# nbgrader takes output on standard error, such as progress bars, for a failure.
with contextlib.redirect_stderr(io.StringIO()):
{call}
assert report, report
print(report)"""


def handout(lesson: Lesson) -> nbformat.NotebookNode:
    """Returns a notebook with the exercises of a lesson and their set-up."""
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
    """Removes the cells between a check and the next exercise."""
    kept, done = [], False
    for cell in cells:
        done = done and not asked(cell)
        if not done:
            kept.append(cell)
        done = done or bool(checked(cell))
    return kept


def assignment(lesson: Lesson) -> nbformat.NotebookNode:
    """Returns a handout with solutions and marks for nbgrader."""
    notebook = handout(lesson)
    answers = iter(exercise_cells(lesson.solved.notebook))
    for cell in notebook.cells:
        if is_exercise(cell):
            cell.source = next(answers).source
            name = ast.parse(unmarked(cell.source)).body[0].name
            _mark(cell, name, solution=True)
        for check, _ in checked(cell):
            cell.source = TEST.format(call=textwrap.indent(
                re.sub(r"^(?=.+\Z)", "report = ", cell.source, flags=re.M), "    "))
            _mark(cell, check, grade=True, locked=True, points=1)
    return notebook


def _mark(cell: nbformat.NotebookNode, identity: str, **marks) -> None:
    cell.metadata.nbgrader = nbformat.from_dict(
        {"schema_version": 3, "grade_id": identity, "cell_type": "code", "task": False,
         "grade": False, "locked": False, "solution": False, **marks})


def main(arguments: list[str]) -> int:
    sys.stdout.reconfigure(errors="backslashreplace")
    parser = nb.parser("handout", __doc__)
    parser.add_argument("folder", type=Path, help="folder for the notebooks")
    parser.add_argument("--nbgrader", action="store_true",
                        help="write the folder `source` and the settings of nbgrader")
    options, lessons = nb.chosen(parser, arguments)
    if not options.numbers and re.fullmatch(r"\d\d?[a-z]?", str(options.folder)):
        parser.error(f"{options.folder} is a lesson number, and the folder is missing, "
                     f"as in `handout FOLDER {options.folder}`.")
    folder, make = options.folder, assignment if options.nbgrader else handout
    places = [folder / "source" / path.stem / path.name if options.nbgrader
              else folder / path.name for path in lessons]
    if existing := [place for place in places if place.exists()]:
        parser.error(
            f"{existing[0]} already exists and may contain answers. Choose another "
            "folder."
        )
    try:
        for lesson, place in zip(lessons, places, strict=True):
            place.parent.mkdir(parents=True, exist_ok=True)
            text = nb.dumps(make(Lesson(lesson)))
            with whole_file(place) as draft:
                draft.write_text(text, "utf-8")
            print(place)
        if options.nbgrader:
            with whole_file(folder / "nbgrader_config.py") as draft:
                draft.write_text(NBGRADER.format(stub=STUB))
    except (DataError, OSError) as error:
        parser.error(str(error))
    if options.nbgrader:
        print(f"Next, run in {folder}: nbgrader generate_assignment {lessons[0].stem}\n"
              "docs/guide.md explains how to install nbgrader and lists the other "
              "commands.")
    else:
        print("Learners open a notebook with: python3 course.py lab FILE\n"
              "They see which exercises they have solved with: "
              "python3 course.py progress FILE")
    return 0


if __name__ == "__main__":
    go_where_called()
    sys.exit(main(sys.argv[1:]))
