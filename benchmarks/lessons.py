"""What every lesson takes: seconds, core seconds, memory, each run once.

    python3 course.py bench lessons                   # all of them
    python3 course.py bench lessons --numbers 01 03   # some
    python3 course.py bench lessons --save            # and note their seconds
    python3 course.py bench lessons --quick           # a notebook of one cell

Each lesson runs in a kernel of its own, started from a process of its own, which
asks the system what the kernel and all it started took. Nothing is stored. Data that
a lesson draws or converts once is there the second time, so run it twice.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from tqdm import tqdm

from benchmarks.rounds import ROOT, run_alone
from benchmarks.tables import Table
from tools import notebook as nb
from tools import run_lessons

LIMIT_MINUTES = 12
SECONDS = ROOT / "docs" / "book" / "seconds.json"


def run_one(path: Path) -> None:
    """Runs a notebook and prints seconds, core seconds and peak MB of its kernel."""
    import resource

    start = time.perf_counter()
    with tqdm(disable=True) as bar:
        run_lessons.execute(path, bar, {})
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    unit = 1 if sys.platform == "darwin" else 1024
    seconds = time.perf_counter() - start
    cores = used.ru_utime + used.ru_stime
    print(json.dumps([seconds, cores, used.ru_maxrss * unit / 1e6]))


def main(arguments: list[str]) -> Table | None:
    """Runs the lessons, or the one that `--one` names."""
    parser = argparse.ArgumentParser(prog="course.py bench lessons")
    parser.add_argument("--quick", action="store_true", help="a notebook of one cell")
    parser.add_argument("--numbers", nargs="*", default=[], metavar="NN",
                        help="lessons; default all")
    parser.add_argument("--save", action="store_true", help="for the guide's minutes")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        run_one(options.one)
        return None
    if not options.quick:
        try:
            paths = nb.lessons(ROOT, options.numbers)
        except ValueError as error:
            parser.error(str(error))
        table = table_of(paths)
        if options.save:
            note(table, paths)
        return table
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "one_cell.ipynb")
        cell = nbformat.v4.new_code_cell("sum(range(10))")
        nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path)
        return table_of([path])


def note(table: Table, paths: list[Path]) -> None:
    """Writes the seconds of lessons where the guide reads them."""
    seconds = json.loads(SECONDS.read_text("utf-8"))
    seconds |= {nb.number(path): round(table.rows[path.stem]["s"]) for path in paths}
    SECONDS.write_text(json.dumps(seconds, indent=1) + "\n", "utf-8")


def table_of(paths: list[Path]) -> Table:
    """Returns the table of all lessons, and their sum beside the limit."""
    rows = {}
    for path in paths:
        print(f"{path.stem} ...", file=sys.stderr, flush=True)
        said = run_alone(path.stem, ["benchmarks.lessons", "--one", str(path)])
        seconds, cores, peak = json.loads(said.splitlines()[-1])
        rows[path.stem] = {"s": seconds, "core s": cores, "peak MB": peak}
    minutes = sum(row["s"] for row in rows.values()) / 60
    cores = sum(row["core s"] for row in rows.values())
    note = (f"sum: {minutes:.1f} minutes (at most {LIMIT_MINUTES} for all), "
            f"{cores:.0f} core seconds")
    return Table("each lesson once", rows, (note,))


if __name__ == "__main__":
    main(sys.argv[1:])
