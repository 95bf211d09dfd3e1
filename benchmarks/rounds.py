"""Rivals in turn, each in a process of its own: medians of rounds, ratios to the best.

A machine that does other things beside shifts every time, so only ratios within one
run mean anything; core seconds shift least.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


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


def compete(
    module: str, names: Sequence[str], rounds: int, arguments: Sequence[str]
) -> dict[str, Result]:
    """Runs `python -m MODULE --one NAME ARGUMENTS` for each name, round by round.

    Each must end with a line of JSON, as `report` prints it.
    """
    found: dict[str, list[Result]] = {name: [] for name in names}
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    for _ in range(rounds):
        for name in names:
            child = subprocess.run(
                [sys.executable, "-m", module, "--one", name, *arguments],
                cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
            )
            if child.returncode:
                raise RuntimeError(f"{name}: {child.stderr[-2000:]}")
            found[name].append(Result(*json.loads(child.stdout.splitlines()[-1])))
    return {
        name: Result(*map(statistics.median, zip(*results, strict=True)))
        for name, results in found.items()
    }


def report(run: Callable[[], int]) -> None:
    """Times a call that returns how many pictures it took, and prints a `Result`."""
    cores, start = time.process_time(), time.perf_counter()
    count = run()
    seconds, cores = time.perf_counter() - start, time.process_time() - cores
    print(json.dumps([count / seconds, cores / count * 1e6, peak_mb()]))


def peak_mb() -> float:
    """Returns the largest resident size of this process so far; 0 on Windows."""
    try:
        import resource
    except ImportError:
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


def print_table(results: dict[str, Result], ours: Sequence[str], limit: str) -> None:
    """Prints rates with their ratios to the best rival and to the limit."""
    rivals = [name for name in results if name not in (*ours, limit)]
    best = max(results[name].rate for name in rivals)
    print(f"{'':20s}{'pictures/s':>12s}{'best rival':>12s}{'limit':>8s}"
          f"{'core us':>10s}{'peak MB':>9s}")
    for name, result in results.items():
        print(f"{name:20s}{result.rate:12.0f}{result.rate / best:12.2f}"
              f"{result.rate / results[limit].rate:8.2f}{result.core_us:10.1f}"
              f"{result.peak_mb:9.0f}")
