"""Hours of everything at random: does memory, or anything else, grow?

    python3 course.py test soak [--minutes N] [--seed N] [--plot FILE.png]

Pipelines, failing feeds, saves, restores, conversions, clusters and killed children
follow each other in a random order. After each round it counts what a leak would
raise; at the end the later rounds must not have more of it than the earlier ones.
Ctrl-C ends it early, with the same summary.
"""

import argparse
import contextlib
import ctypes
import faulthandler
import gc
import io
import itertools
import platform
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import psutil
from tqdm import tqdm

from helpers import lesson

MIB = 1 << 20
HANGS = 600  # seconds after which a round is said to hang, and all threads are shown
LEAST = 12  # rounds that are compared, at least


class Count(NamedTuple):
    """What there is after a round.

    Attributes:
      memory: resident, in MiB.
      threads: of this process, those of TensorFlow's pools too.
      open_files: descriptors, sockets and pipes too.
      processes: children and theirs.
      temporary_files: files in the folder that the rounds work in.
    """

    memory: float
    threads: int
    open_files: int
    processes: int
    temporary_files: int


# How much the least of the last third may lie above that of the first: what is kept
# raises the least too, what comes and goes does not. A leak of one per round of one
# kind of eight adds about a twelfth of the rounds that are compared.
# Memory is never the same twice: allocators cut up what they have, and TensorFlow
# caches by shape. 64 MiB is an estimate of what that takes; pictures or weights that
# are kept do not. The folder holds two sets of 1 to 4 shards at a time.
MARGINS = Count(memory=64, threads=3, open_files=2, processes=0, temporary_files=8)
UNITS = Count("memory (MiB)", "threads", "open files", "child processes",
              "temporary files")
Kinds = dict[str, Callable[[Path, Random], None]]


class Report:
    """What a soak has seen.

    Attributes:
      kinds: rounds per kind.
      counts: one `Count` per round.
      failures: a line per round that failed.
    """

    def __init__(self):
        self.kinds: Counter = Counter()
        self.counts: list[Count] = []
        self.failures: list[str] = []

    @property
    def warm_up(self) -> int:
        """How many rounds are not compared: pools and caches fill in them."""
        return max(len(self.counts) // 4, len(self.kinds))

    def grown(self) -> list[str]:
        """Returns a line for each thing that the last third has more of."""
        measured = self.counts[self.warm_up:]
        if len(measured) < LEAST:
            return []
        third = len(measured) // 3
        lines = []
        for field, unit, margin in zip(Count._fields, UNITS, MARGINS, strict=True):
            of_rounds = [getattr(count, field) for count in measured]
            early, late = min(of_rounds[:third]), min(of_rounds[-third:])
            if late > early + margin:
                lines.append(f"{unit} grew from {early:.4g} to {late:.4g}")
        return lines

    def verdict(self) -> int:
        """Prints the summary; returns 1 if a round failed or something grew."""
        for kind, rounds in sorted(self.kinds.items()):
            print(f"{rounds:6d}  {kind}")
        print(f"{self.kinds.total():6d}  rounds, {len(self.failures)} failed")
        print(*self.failures, sep="\n", end="\n" if self.failures else "")
        grown = self.grown()
        if len(self.counts) - self.warm_up < LEAST:
            print("too few rounds to tell whether anything grows: give more minutes")
        else:
            print("\n".join(grown) or "nothing grows")
        return int(bool(grown or self.failures))


def give_back() -> None:
    """Has glibc return the memory that is free to the system.

    It keeps some 200 MiB after one pass and none after another, as threads happen to
    fall; without this they look like a leak. Other allocators are left alone.
    """
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)


def count(folder: Path) -> Count:
    """Counts what there is now."""
    gc.collect()  # graphs are circles: until it runs they look like a leak
    give_back()
    me = psutil.Process()
    files = me.num_fds() if hasattr(me, "num_fds") else me.num_handles()
    return Count(
        me.memory_info().rss / MIB, me.num_threads(), files,
        len(me.children(recursive=True)),
        sum(path.is_file() for path in folder.rglob("*")),
    )


def in_turn(kinds: Kinds, seed: int) -> Iterator[tuple[str, Random]]:
    """Yields each kind as often as the others, in an order of its own each time."""
    order = Random(seed)
    for turn in itertools.count():
        for kind in order.sample(sorted(kinds), len(kinds)):
            yield kind, Random(f"{seed}/{turn}/{kind}")


def soak(kinds: Kinds, folder: Path, seed: int, go_on: Callable[[int], bool]) -> Report:
    """Runs rounds as long as `go_on(rounds)` says so, or until Ctrl-C."""
    report = Report()
    try:
        for number, (kind, chance) in enumerate(in_turn(kinds, seed)):
            if not go_on(number):
                break
            faulthandler.dump_traceback_later(HANGS, exit=True, file=sys.__stderr__)
            try:
                with contextlib.redirect_stderr(io.StringIO()):  # the rounds' bars
                    kinds[kind](folder, chance)
            except Exception as error:
                line = f"round {number}, {kind}: {type(error).__name__}: {error}"
                report.failures.append(line)
                tqdm.write(line)
            report.kinds[kind] += 1
            report.counts.append(count(folder))
    except KeyboardInterrupt:
        print("\nstopped by Ctrl-C", flush=True)
    finally:
        faulthandler.cancel_dump_traceback_later()
    return report


def for_minutes(minutes: float, bar: tqdm) -> Callable[[int], bool]:
    """Returns the function that moves the bar, and says whether there is time left."""
    begin = time.monotonic()

    def go_on(rounds: int) -> bool:
        passed = (time.monotonic() - begin) / 60
        bar.set_postfix_str(f"{rounds} rounds")
        bar.update(min(passed, minutes) - bar.n)
        return passed < minutes

    return go_on


def for_rounds(most: int, bar: tqdm) -> Callable[[int], bool]:
    """Returns the function that moves the bar, and says whether rounds are left."""
    def go_on(rounds: int) -> bool:
        bar.update(rounds - bar.n)
        return rounds < most

    return go_on


def draw(report: Report, path: Path) -> None:
    """Draws each count over the rounds, and saves the figure."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 9), layout="constrained")
    axes = figure.subplots(len(UNITS), sharex=True)
    columns = zip(*report.counts, strict=True)
    for axis, unit, values in zip(axes, UNITS, columns, strict=True):
        axis.plot(range(1, len(values) + 1), values, linewidth=1)
        axis.set_ylabel(unit)
        axis.set_ylim(0, 1.15 * max(*values, 1))
        axis.axvspan(1, report.warm_up, color="0.9")
    axes[0].set_title(f"After each of {len(report.counts)} rounds (grey: not compared)")
    axes[-1].set_xlabel("round")
    figure.savefig(path)


def main(arguments: list[str] | None = None) -> int:
    """Runs the soak; returns 1 if a round failed or something grew."""
    parser = argparse.ArgumentParser(
        prog="course.py test soak", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=2, help="default: 2")
    parser.add_argument("--rounds", type=int, help="so many rounds instead of minutes")
    parser.add_argument("--seed", type=int, default=7, help="default: 7")
    parser.add_argument("--plot", type=Path, metavar="FILE.png")
    options = parser.parse_args(arguments)
    lesson.begin("soak")
    from tools import soak_rounds

    with tempfile.TemporaryDirectory() as name, tqdm(
        total=options.rounds or options.minutes, desc="soak",
        unit="round" if options.rounds else "min",
        bar_format="{desc} {bar} {n:.1f} of {total:g} {unit} {postfix}",
    ) as bar:
        with contextlib.redirect_stderr(io.StringIO()):
            soak_rounds.prepare(Path(name))
        if options.rounds:
            go_on = for_rounds(options.rounds, bar)
        else:
            go_on = for_minutes(options.minutes, bar)
        report = soak(soak_rounds.KINDS, Path(name), options.seed, go_on)
    if options.plot and report.counts:
        draw(report, options.plot)
    return report.verdict()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
