"""Rivals in turn, each in a process of its own: medians of rounds, ratios to the best.

A machine that does other things beside shifts every time, so only ratios within one
round mean anything; core seconds shift least.
"""

import argparse
import contextlib
import importlib
import io
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.results import Table

ROOT = Path(__file__).resolve().parent.parent


class Result(NamedTuple):
    """What one contestant did in one round, or the medians of all its rounds.

    Attributes:
      rate: pictures (or what else is counted) per second.
      core_us: microseconds of cores per picture.
      peak_mb: largest resident size of the process, in 10**6 bytes.
    """

    rate: float
    core_us: float
    peak_mb: float


def options_of(name: str, contestants: Iterable[str] = ()) -> argparse.ArgumentParser:
    """Returns a parser of what all benchmarks have in common."""
    parser = argparse.ArgumentParser(prog=f"course.py bench {name}")
    parser.add_argument("--quick", action="store_true", help="small: does it run?")
    if contestants:
        parser.add_argument("--rounds", type=int, default=5)
        parser.add_argument("--one", choices=list(contestants), help=argparse.SUPPRESS)
    return parser


def commands(
    module: str, names: Iterable[str], arguments: Sequence[str]
) -> dict[str, list[str]]:
    """Returns `python -m MODULE --one NAME ARGUMENTS` for each name."""
    return {
        name: [sys.executable, "-m", module, "--one", name, *map(str, arguments)]
        for name in names
    }


def compete(
    contestants: dict[str, list[str]], rounds: int, *, quick: bool = False
) -> dict[str, list[Result]]:
    """Runs the command of each contestant, round by round.

    Each must end with a line of JSON, as `report` prints it.

    Args:
      contestants: as `commands` returns them.
      rounds: how often.
      quick: runs modules of this Python here, without a process of their own: the
        import of TensorFlow takes longer than all of them.

    Returns:
      What each contestant did, round by round.

    Raises:
      RuntimeError: a contestant failed; with its last words.
    """
    found: dict[str, list[Result]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, command in contestants.items():
            here = quick and command[0] == sys.executable
            said = run_here(*command[2:]) if here else run_alone(name, command)
            found[name].append(Result(*json.loads(said.splitlines()[-1])))
    return found


def medians(results: list[Result]) -> Result:
    """Returns the median of each figure."""
    return Result(*map(statistics.median, zip(*results, strict=True)))


def ratios(results: list[Result], others: list[Result]) -> list[float]:
    """Returns the rates of one contestant over those of another, round by round."""
    pairs = zip(results, others, strict=True)
    return [one.rate / other.rate for one, other in pairs]


def run_alone(name: str, command: Sequence[str]) -> str:
    """Runs a command in a process of its own; returns what it printed.

    Raises:
      RuntimeError: it failed; the message ends with what it said last.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    child = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
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


def report(run: Callable[[], float]) -> None:
    """Times a call that returns how many pictures it took, and prints a `Result`."""
    cores, start = time.process_time(), time.perf_counter()
    count = run()
    seconds, cores = time.perf_counter() - start, time.process_time() - cores
    print(json.dumps([count / seconds, cores / count * 1e6, peak_mb()]))


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
    title: str, results: dict[str, list[Result]], ours: Sequence[str], *,
    notes: Sequence[str] = (),
) -> Table:
    """Returns a table of rates, with their ratios to the best rival and the limit.

    A ratio is the median of the ratios of each round: what shifts the machine for a
    round shifts both sides.

    Args:
      title: says what was done, and on what.
      results: as `compete` returns them.
      ours: names that are no rivals; nor is `limit`, which nobody can pass.
      notes: lines below the table.
    """
    middle = {name: medians(rounds) for name, rounds in results.items()}
    rivals = [name for name in results if name not in (*ours, "limit")]
    best = max(rivals, key=lambda name: middle[name].rate)
    rows = {
        name: {
            "pictures/s": one.rate,
            "to best rival": statistics.median(ratios(results[name], results[best])),
            "to limit": statistics.median(ratios(results[name], results["limit"])),
            "core us/picture": one.core_us, "peak MB": one.peak_mb,
        }
        for name, one in middle.items()
    }
    return Table(title, rows, tuple(ours), tuple(notes))


def verdict(results: dict[str, list[Result]], one: str, other: str, goal: float) -> str:
    """Returns a line: how fast one is beside another, in the median and at the ends."""
    found = ratios(results[one], results[other])
    middle, ends = statistics.median(found), f"{min(found):.2f} to {max(found):.2f}"
    met = "met" if middle >= goal else "NOT MET"
    return f"{one} / {other}: {middle:.2f}, rounds {ends}; goal {goal}: {met}"
