"""Executes lessons without a browser and prints how long each one took.

python3 course.py run               # all lessons
python3 course.py run 03 05c        # 03a, 03b, 03c and 05c
python3 course.py run 06b -p SOURCE FOLDER    # with another value of a parameter
python3 course.py run 03a --solutions --save  # stores the outputs
python3 course.py run 03a --twice    # runs each cell twice and compares the outputs
"""

import ast
import asyncio
import copy
import math
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from tqdm import tqdm

from helpers.errors import DataError
from helpers.files import ROOT, whole_file
from tools import copies, within
from tools import notebook as nb
from tools.cells import (
    SECONDS,
    Lesson,
    is_injected,
    said,
    seconds_kept,
    with_parameters,
)
from tools.environment import CALLED_FROM

CELL_SECONDS = 1500  # slow or busy machines need ten times as long


def execute(
    path: Path, bar: tqdm, parameters: dict, *, twice: bool = False
) -> nbformat.NotebookNode:
    """Runs all cells of a notebook in its own folder.

    Args:
      path: Path of the notebook.
      bar: Progress bar, which is advanced by one for each code cell.
      parameters: Values that replace those in the notebook's `parameters` cell.
      twice: Whether to run each code cell twice in a row.

    Returns:
      The executed notebook.

    Raises:
      RuntimeError: If the file is not a notebook, or if a cell failed or took too
        long. The message is a single line.
    """
    try:
        notebook = with_parameters(nb.read(path), parameters)
    except DataError as error:
        raise RuntimeError(str(error)) from error
    if twice:
        notebook.cells = [each for cell in notebook.cells for each in _again(cell)]
    cells = [c for c in notebook.cells if c.cell_type == "code"
             and not is_injected(c)]
    here, times = ["before the first cell"], 1 + twice

    def started(cell, cell_index):
        if cell in cells:
            number = cells.index(cell) // times + 1
            here[0] = f"code cell {number} of {len(cells) // times}"
            bar.set_postfix_str(f"{path.stem}, {here[0]}")

    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        on_cell_start=started,
        on_cell_executed=lambda cell, **_: bar.update(cell in cells),
    )
    try:
        return client.execute(stderr=subprocess.DEVNULL)
    except (AssertionError, asyncio.CancelledError) as error:
        if isinstance(error, AssertionError) and client.km is not None:
            raise
        # On Ctrl-C, nbclient ends the kernel and then fails because it is gone.
        raise KeyboardInterrupt from None
    except CellExecutionError as error:
        raise RuntimeError(
            f"{path.name}, {here[0]}: {error.ename}: " + error.evalue.split("\n")[0]
        ) from error
    except CellTimeoutError as error:
        raise RuntimeError(
            f"{path.name}, {here[0]}: The cell timed out after {CELL_SECONDS} s."
        ) from error
    except DeadKernelError as error:
        raise RuntimeError(
            f"{path.name}, {here[0]}: The kernel died, possibly out of memory."
        ) from error


def _again(cell: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    if cell.cell_type != "code":
        return [cell]
    second = copy.deepcopy(cell)
    second.id = f"{cell.id}-again"
    return [cell, second]


def differences(executed: nbformat.NotebookNode) -> list[str]:
    """Returns the code cells whose output changed when they ran twice."""
    code = [cell for cell in executed.cells if cell.cell_type == "code"]
    changed = []
    for k, (first, second) in enumerate(zip(code[::2], code[1::2], strict=True)):
        marked = nb.IGNORE_TAGS & set(first.metadata.get("tags", []))
        within.settle(second.outputs, first.outputs, within.tolerance(first))
        if not marked and _said(first) != _said(second):
            changed.append(f"Code cell {k + 1} printed another output the second time: "
                           f"{_said(second)}")
    return changed


def _said(cell: nbformat.NotebookNode) -> str:
    return "".join(said(cell))


def one_run(
    executed: nbformat.NotebookNode, stored: nbformat.NotebookNode, name: str
) -> nbformat.NotebookNode:
    """Returns the notebook to store: the new run as a whole, or the stored one.

    The stored notebook is kept if the new run agrees with it everywhere: numbers within
    the tolerance of their cell, and everything else exactly, including pictures. If
    anything differs, no old output is kept. Otherwise the text and the figures of a
    lesson would come from two runs and might contradict each other.

    Args:
      executed: The notebook after the new run.
      stored: The notebook as it is in the file.
      name: The file name, from which the cell ids are made.
    """
    before = nb.canonical(stored, name)
    settled = nb.canonical(copy.deepcopy(executed), name)
    for now, then in zip(settled.cells, before.cells, strict=True):
        if allowed := within.tolerance(now):
            within.settle(now.outputs, then.outputs, allowed)
    return stored if nb.dumps(settled) == nb.dumps(before) else executed


def run(
    paths: list[Path], save: bool, parameters: dict | None = None, *,
    twice: bool = False, time_it: bool = False,
) -> list[str]:
    """Executes notebooks, prints their running times, and returns the failures.

    Args:
      paths: Paths of the notebooks, in order.
      save: Whether to store the outputs of each successful run in canonical form. If
        all outputs agree with the stored ones, the file is not changed.
      parameters: Parameters for every notebook. Such a run is stored in `my/`, next to
        the reader's copies.
      twice: Whether to run each cell twice. A different output in the second run is a
        failure.
      time_it: Whether to store the running times, from which the guide computes its
        minutes.
    """
    # ipykernel hides C-level output from cells while this variable is set.
    os.environ.pop("PYTEST_CURRENT_TEST", None)
    os.environ.pop(CALLED_FROM, None)  # for programs that lessons start
    counts = [_count(path) * (1 + twice) for path in paths]
    failures, rows, kept = [], [], []
    with tqdm(total=sum(counts), unit="cell", dynamic_ncols=True) as bar:
        for path, count in zip(paths, counts, strict=True):
            start, before, wrong = time.monotonic(), bar.n, len(failures)
            try:
                executed = execute(path, bar, parameters or {}, twice=twice)
            except RuntimeError as error:
                failures.append(str(error))
            else:
                if twice:
                    failures += [f"{path.name}, {difference}"
                                 for difference in differences(executed)]
                elif save:
                    stored = nb.read(path)
                    nb.store(path, one_run(executed, stored, path.name))
                elif parameters:
                    kept.append(copies.FOLDER / f"{path.stem}.run.ipynb")
                    nb.store(kept[-1], executed)
            bar.update(before + count - bar.n)
            rows.append((path, time.monotonic() - start,
                         "FAILED" if failures[wrong:] else "all cells ran"))
    if time_it and not failures:
        keep_seconds({nb.number(path): seconds for path, seconds, _ in rows
                      if path.parent.name != "solutions"})
    for path, seconds, status in rows:
        print(f"{path.relative_to(ROOT).as_posix():52s} {seconds:7.1f} s  {status}")
    print(f"{'sum':52s} {sum(seconds for _, seconds, _ in rows):7.1f} s")
    if not save and not kept:
        print("Your files are unchanged. To store the outputs, pass --save.")
    for path in kept:
        print(f"The outputs are in {path.parent.name}/{path.name}.")
    return failures


def _count(path: Path) -> int:
    """Returns the number of code cells, 0 for what `execute` will refuse."""
    try:
        return sum(cell.cell_type == "code" for cell in nb.read(path).cells)
    except DataError:
        return 0


def keep_seconds(found: dict[str, float]) -> None:
    """Updates the stored running times of the lessons that were run."""
    known = {**seconds_kept(), **{number: math.ceil(s) for number, s in found.items()}}
    with whole_file(SECONDS) as temporary:
        temporary.write_text("".join(f"{number} {seconds}\n" for number, seconds
                                     in sorted(known.items())), encoding="utf-8")


def value_of(text: str) -> object:
    """Converts the text of a parameter to a literal, a folder path or a string.

    The path of a folder is relative to where `course.py` was called, and is returned as
    a full path.
    """
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        called_from = os.environ.get(CALLED_FROM, "")
        folder = Path(called_from, text)
        return str(folder) if called_from and folder.is_dir() else text


def checked(paths: list[Path], pairs: list[tuple[str, str]]) -> dict[str, object]:
    """Converts parameters and checks that every lesson has them.

    Args:
      paths: Paths of the lessons.
      pairs: Names and texts of the parameters.

    Raises:
      ValueError: If a name is given twice, or if a lesson has no such parameter.
    """
    parameters = {name: value_of(text) for name, text in pairs}
    if twice := [name for name, n in Counter(n for n, _ in pairs).items() if n > 1]:
        raise ValueError(
            f"Parameter {twice[0]} is given more than once. Pass each one once with -p."
        )
    for path in paths if parameters else ():
        available = Lesson(path).parameters
        if unknown := [name for name in parameters if name not in available]:
            names = f"Its parameters are {', '.join(available)}." if available else (
                "It has no parameters, so leave out -p.")
            raise ValueError(f"{path.name} has no parameter {unknown[0]}. {names}")
    return parameters


def main() -> int:
    parser = nb.parser("run", __doc__)
    parser.add_argument("--solutions", action="store_true",
                        help="also run the solutions")
    parser.add_argument("--save", action="store_true", help="store the outputs")
    parser.add_argument("--time", action="store_true",
                        help="store the running times, which the guide uses")
    parser.add_argument("--twice", action="store_true",
                        help="run each cell twice in a row and store nothing")
    parser.add_argument(
        "-p", "--parameter", nargs=2, action="append", default=[],
        metavar=("NAME", "VALUE"),
        help="set a parameter of the lessons, such as SOURCE; may be repeated",
    )
    options, paths = nb.chosen(parser, sys.argv[1:])
    if options.save and options.parameter:
        parser.error(
            "The option --save cannot be combined with -p, because a lesson is stored "
            "with its own parameters."
        )
    try:
        parameters = checked(paths, options.parameter)
    except ValueError as error:
        parser.error(str(error))
    if options.solutions:
        paths = [p for lesson in paths for p in (lesson, nb.solution(lesson))]
    failures = run([p for p in paths if p.exists()], options.save, parameters,
                   twice=options.twice, time_it=options.time)
    for failure in failures:
        print("FAILED", failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
