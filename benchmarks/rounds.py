"""Contestants in turn, each in a process of its own: medians of rounds, and ratios.

A machine that does other things beside shifts every time, so only ratios within one
round mean anything; core seconds shift least.
"""

import argparse
import itertools
import multiprocessing
import statistics
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from helpers import lesson
from helpers.errors import first_line
from tools import notebook as nb


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


def options_of(name: str, rounds: int = 5) -> argparse.ArgumentParser:
    """Returns a parser of what all contests have in common."""
    parser = argparse.ArgumentParser(prog=f"course.py bench {name}")
    parser.add_argument("--quick", action="store_true", help="small: does it run?")
    parser.add_argument("--rounds", type=nb.count, default=rounds)
    return parser


def timed(batches: Iterator[int], warm_up: int, count: int) -> Result:
    """Times an iterator of the pictures in each batch.

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
    return Result(pictures / seconds, cores / pictures * 1e6, peak_mb())


def compete(
    contestants: Collection[str], run: Callable[[str], Result], rounds: int,
    here: Collection[str] = (),
) -> dict[str, list[Result]]:
    """Runs each contestant, round by round.

    Args:
      contestants: their names.
      run: returns what the contestant of a name does; called in a process of its own.
      rounds: how often.
      here: names that run in this process: the import of TensorFlow takes longer than
        all that `--quick` does.

    Returns:
      What each contestant did, round by round.

    Raises:
      RuntimeError: a contestant failed in its process; with its name and why.
    """
    found: dict[str, list[Result]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name in contestants:
            found[name].append(run(name) if name in here else _alone(run, name))
    return found


def _alone(run: Callable[[str], Result], name: str) -> Result:
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, fresh, lesson.begin, ("benchmarks",)) as process:
        try:
            return process.submit(run, name).result()
        except Exception as error:
            raise RuntimeError(f"{name} failed: {first_line(error)}") from error


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
