"""Contestants in turn, each in a process of its own: medians of rounds, and ratios.

A machine that does other things beside shifts every time, so only ratios within one
round mean anything; core seconds shift least.
"""

import argparse
import contextlib
import importlib
import io
import itertools
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from helpers.files import ROOT


class Table(NamedTuple):
    """One comparison.

    Attributes:
      title: says what was done, and on what.
      rows: by contestant, its figures by the name of their column.
      notes: lines below the table, such as verdicts.
    """

    title: str
    rows: dict[str, dict[str, float]]
    notes: tuple[str, ...] = ()


def text_of(table: Table) -> str:
    """Returns a table as lines of text."""
    columns = list(next(iter(table.rows.values())))
    first = max(map(len, table.rows)) + 2
    lines = [table.title, " " * first + "".join(f"{name:>17}" for name in columns)]
    for name, row in table.rows.items():
        cells = "".join(f"{number(row[column]):>17}" for column in columns)
        lines.append(f"{name:{first}}{cells}")
    return "\n".join([*lines, *table.notes])


def number(value: float) -> str:
    """Returns a figure with the digits that a measurement of time deserves."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}"


class Result(NamedTuple):
    """What one contestant did in one round, or the medians of all its rounds.

    Attributes:
      rate: pictures per second.
      core_us: microseconds of cores per picture.
      peak_mb: largest resident size of the process, in 10**6 bytes.
    """

    rate: float
    core_us: float
    peak_mb: float


def options_of(name: str, contestants: Sequence[str]) -> argparse.ArgumentParser:
    """Returns a parser of what all contests have in common."""
    parser = argparse.ArgumentParser(prog=f"course.py bench {name}")
    parser.add_argument("--quick", action="store_true", help="small: does it run?")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--one", choices=contestants, help=argparse.SUPPRESS)
    return parser


def timed(batches: Iterator[int], warm_up: int, count: int) -> None:
    """Times an iterator of the pictures in each batch, and prints a `Result`.

    Args:
      batches: does the work of one batch for each number that it gives.
      warm_up: batches before the clock runs.
      count: batches that are timed.
    """
    for _ in itertools.islice(batches, warm_up):
        pass
    cores, start = time.process_time(), time.perf_counter()
    pictures = sum(itertools.islice(batches, count))
    seconds, cores = time.perf_counter() - start, time.process_time() - cores
    print(json.dumps([pictures / seconds, cores / pictures * 1e6, peak_mb()]))


def compete(
    contestants: dict[str, list[str]], rounds: int, here: Collection[str] = ()
) -> dict[str, list[Result]]:
    """Runs the command line of each contestant, round by round.

    Args:
      contestants: module and arguments by name; it must end with `timed`.
      rounds: how often.
      here: names that run in this process: the import of TensorFlow takes longer than
        all that `--quick` does.

    Returns:
      What each contestant did, round by round.

    Raises:
      RuntimeError: a contestant failed; with its last words.
    """
    found: dict[str, list[Result]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, line in contestants.items():
            said = run_here(*line) if name in here else run_alone(name, line)
            found[name].append(Result(*json.loads(said.splitlines()[-1])))
    return found


def run_alone(name: str, line: Sequence[str]) -> str:
    """Runs a module in a process of its own; returns what it printed.

    Raises:
      RuntimeError: it failed; the message ends with what it said last.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    child = subprocess.run(
        [sys.executable, "-m", *line], cwd=ROOT, env=environment, capture_output=True,
        text=True, check=False,
    )
    if child.returncode:
        last = (child.stderr.strip() or "no output").splitlines()[-1]
        raise RuntimeError(f"{name} failed with status {child.returncode}: {last}")
    return child.stdout


def run_here(module: str, *arguments: str) -> str:
    """Calls the `main` of a module in this process; returns what it printed."""
    with contextlib.redirect_stdout(io.StringIO()) as said:
        importlib.import_module(module).main(list(arguments))
    return said.getvalue()


def peak_mb() -> float:
    """Returns the largest resident size of this process so far; 0 on Windows."""
    status = Path("/proc/self/status")
    if status.exists():  # a child's `ru_maxrss` begins with that of its parent
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(fields["VmHWM"].split()[0]) * 1024 / 1e6
    try:
        import resource
    except ImportError:
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6  # of macOS: bytes


def compared(
    title: str, results: dict[str, list[Result]], notes: Sequence[str]
) -> Table:
    """Returns a table of the medians, with notes below it."""
    rows = {}
    for name, found in results.items():
        middle = Result(*map(statistics.median, zip(*found, strict=True)))
        rows[name] = {"pictures/s": middle.rate, "core us/picture": middle.core_us,
                      "peak MB": middle.peak_mb}
    return Table(title, rows, tuple(notes))


def verdict(results: dict[str, list[Result]], one: str, other: str, goal: float) -> str:
    """Returns a line: how fast one is beside another, round by round."""
    pairs = zip(results[one], results[other], strict=True)
    found = [ours.rate / theirs.rate for ours, theirs in pairs]
    middle, ends = statistics.median(found), f"{min(found):.2f} to {max(found):.2f}"
    met = "met" if middle >= goal else "NOT MET"
    return f"{one} / {other}: {middle:.2f}, rounds {ends}; goal {goal}: {met}"
