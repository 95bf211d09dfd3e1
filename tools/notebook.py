"""Stores notebooks in a canonical form, so that diffs show only real changes.

python -m tools.notebook NOTEBOOK.ipynb [...]    # convert files to this form
"""

import argparse
import re
import sys
from pathlib import Path

import nbformat

from helpers.errors import DataError
from helpers.files import ROOT, whole_file

METADATA = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    "language_info": {"name": "python"},
}
IGNORE_TAGS = {"nbval-ignore-output", "nbval-skip"}
REASON = "within_reason"  # reason for a wide tolerance, in the metadata
NUMBER = re.compile(r"(\d\d)([a-z]?)_")


def number(lesson: Path) -> str:
    """Returns the number of a lesson, such as `03a`."""
    return "".join(NUMBER.match(lesson.name).groups())


def lessons(root: Path, numbers: list[str] | None = None) -> list[Path]:
    """Returns the paths of lessons in reading order.

    Args:
      root: Folder of the project.
      numbers: Lesson numbers such as `["01a", "5"]`, where `5` selects 05a, 05b and so
        on, or file names of lessons. By default, or if empty, all lessons are returned.

    Raises:
      ValueError: If there is no lesson with one of the numbers.
    """
    paths = sorted(path for path in (root / "notebooks").glob("*.ipynb")
                   if NUMBER.match(path.name))
    if not numbers:
        return paths
    selected = []
    for word in numbers:
        asked = word.lower()
        named = [path for path in paths
                 if number(path) == asked.rjust(2 + asked[-1:].isalpha(), "0")
                 or asked.isdigit() and int(number(path)[:2]) == int(asked)
                 or word in (path.name, path.stem, f"notebooks/{path.name}")]
        if not named:
            known = ", ".join(map(number, paths))
            hint = " Separate lessons by spaces." if "," in word else ""
            raise ValueError(f"Unknown lesson {word}.{hint} Choose one of {known}.")
        selected += [path for path in named if path not in selected]
    return selected


def parser(command: str, documentation: str) -> argparse.ArgumentParser:
    """Creates the argument parser of a `course.py` command.

    Args:
      command: Name of the command.
      documentation: Text at the beginning of the command's help.
    """
    return argparse.ArgumentParser(
        prog=f"course.py {command}", description=documentation,
        formatter_class=argparse.RawDescriptionHelpFormatter)


def count(text: str) -> int:
    """Converts a command-line argument to a positive integer.

    Raises:
      argparse.ArgumentTypeError: If the text is not a positive integer.
    """
    if not text.isascii() or not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(
            f"Expected a positive whole number, but got {text!r}."
        )
    return int(text)


def chosen(
    parser: argparse.ArgumentParser, arguments: list[str]
) -> tuple[argparse.Namespace, list[Path]]:
    """Parses a command line that selects lessons by number, such as `03 05`.

    Args:
      parser: Parser with the other options. The lesson numbers are added to it.
      arguments: Command line.

    Returns:
      The parsed options, and the paths of the lessons. Without numbers, these are all
      lessons.

    Raises:
      SystemExit: If there is no lesson with such a number, or if the options are
        invalid.
    """
    parser.add_argument("numbers", nargs="*", default=[], metavar="NN",
                        help="numbers of lessons; by default, all lessons")
    options = parser.parse_intermixed_args(arguments)
    try:
        return options, lessons(ROOT, options.numbers)
    except ValueError as error:
        parser.error(str(error))


def read(path: Path) -> nbformat.NotebookNode:
    """Reads a notebook of version 4; the one place that calls nbformat for it.

    Raises:
      DataError: If the file is missing, or is no such notebook.
    """
    try:
        return nbformat.read(path, as_version=4)
    except Exception as error:  # nbformat raises whatever it stumbles over
        raise DataError(
            f"{path} is not a valid notebook ({type(error).__name__}). Restore it from "
            "git."
        ) from error


def solution(lesson: Path) -> Path:
    """Returns the path of the notebook with a lesson's solutions."""
    return lesson.parent / "solutions" / lesson.name


def canonical(notebook: nbformat.NotebookNode, name: str) -> nbformat.NotebookNode:
    """Returns a notebook with canonical ids, metadata and outputs.

    Args:
      notebook: Notebook of version 4.
      name: File name. The cell ids are made from its lesson number and their order.
    """
    notebook = nbformat.from_dict(notebook)
    prefix = number(Path(name)) if NUMBER.match(name) else name[:2]
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.cells = [c for c in notebook.cells if c.source.strip()]
    count = 0
    for index, cell in enumerate(notebook.cells):
        cell.id = f"cell-{prefix}-{index:03d}"
        cell.source = cell.source.rstrip()
        kept = {REASON: cell.metadata.get(REASON),
                "tags": sorted(cell.metadata.get("tags", []))}
        cell.metadata = nbformat.from_dict({k: v for k, v in kept.items() if v})
        cell.pop("attachments", None)
        if cell.cell_type == "code":
            count += 1
            _canonical_outputs(cell, count)
    return notebook


def _canonical_outputs(cell, count: int) -> None:
    """Renumbers a code cell, drops standard error and merges its streams."""
    if cell.execution_count is not None:
        cell.execution_count = count
    outputs = []
    for output in cell.outputs:
        if output.output_type == "stream" and output.name == "stderr":
            continue
        if output.output_type == "execute_result":
            output.execution_count = cell.execution_count
        if output.output_type == "error":
            output.traceback = [f"{output.ename}: {output.evalue}"]
        same_stream = (
            outputs
            and output.output_type == "stream"
            and outputs[-1].get("name") == output.name
        )
        if same_stream:
            outputs[-1].text += output.text
        else:
            outputs.append(output)
    for output in outputs:
        if output.output_type == "stream":
            # Keep only the final text of lines that were overwritten, like a terminal.
            output.text = re.sub(r"[^\n]*\r(?!\n)", "", output.text)
    cell.outputs = outputs


def cleared(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Removes all outputs from a notebook in place and returns it."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return notebook


def dumps(notebook: nbformat.NotebookNode) -> str:
    """Returns the text of a notebook as it is stored in git."""
    return nbformat.writes(notebook, version=4).rstrip("\n") + "\n"


def store(path: Path, notebook: nbformat.NotebookNode) -> None:
    """Writes a notebook atomically in canonical form."""
    text = dumps(canonical(notebook, path.name))
    with whole_file(path) as temporary:
        temporary.write_bytes(text.encode())


def ignored_share(notebook: nbformat.NotebookNode) -> tuple[int, int]:
    """Returns the numbers of code cells that are not compared and of all."""
    code = [c for c in notebook.cells if c.cell_type == "code"]
    ignored = [c for c in code if IGNORE_TAGS & set(c.metadata.get("tags", []))]
    return len(ignored), len(code)


def main(paths: list[str]) -> None:
    for path in map(Path, paths):
        store(path, read(path))


if __name__ == "__main__":
    main(sys.argv[1:])
