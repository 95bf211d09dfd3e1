"""Our towers, the source's towers and MirroredStrategy train full VGG-19, in one run.

    python3 course.py bench towers            # full size: 20 pictures of 224 x 224
    python3 course.py bench towers --quick    # 2 of 32 x 32, one step
    python3 course.py bench towers --grow     # over 1, 2 and 4 towers

All contestants train VGG-19 (configuration E, no dropout) from random weights, by
momentum SGD (learning rate 0.001, momentum 0.9), on the same random pictures, on the
same number of logical CPUs, each in a process of its own, one after the other:

  towers    helpers.towers: one set of variables, add_n, all-or-nothing check
  kept      the same in a session that leaves add_n as it is (see averaging.py)
  stack     the same towers with the source's average: None to zero, stack, mean
  mirrored  MirroredStrategy with keras.applications.VGG19, which keeps one copy of
            all weights and momenta per device; a step by hand, pictures in place
  fit       the same by compile and fit, as Keras's guide writes it

Pictures per second are those of the median step after a warm-up; peak memory is the
largest resident size of the whole process. Only ratios within one run, on a machine
that does nothing else, mean anything: the column "cores" says how many cores the
contestant had to itself, "core s" how many core seconds a step took. The convolutions
are the same in all: their share of our step, measured in a traced one, says how far
ahead any way of averaging could get.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.results import Table
from benchmarks.rounds import options_of, run_alone, run_here

CONTESTANTS = ("towers", "kept", "stack", "mirrored", "fit")
GRAPHS = ("towers", "kept", "stack")
# Copies of all weights, in use at once: towers share weights and momenta and hold a
# gradient per tower and the average; stack a copy of all gradients more; the strategy
# weights, momenta and, through the all-reduce, three gradients per device.
COPIES = {
    "towers": lambda towers: 3 + towers,
    "kept": lambda towers: 3 + towers,
    "stack": lambda towers: 3 + 2 * towers,
    "mirrored": lambda towers: 5 * towers,
    "fit": lambda towers: 5 * towers,
}
TOWERS = 4  # that the targets are about: with fewer there is less to share
GIGA = 10**9


class Result(NamedTuple):
    """What one contestant did.

    Attributes:
      name: one of `CONTESTANTS`.
      pictures_per_second: of the median step.
      peak_bytes: largest resident size of its process.
      core_seconds: processor time of the median step, all cores added up.
      cores: how many cores it kept busy; fewer than there are if it had to share.
      losses: of each step, the first from random weights.
      convolution_share: of the work of a step, if it was traced.
    """

    name: str
    pictures_per_second: float
    peak_bytes: int
    core_seconds: float
    cores: float
    losses: list[float]
    convolution_share: float | None = None


def needed_bytes(name: str, image_size: int, classes: int, batch: int, towers: int):
    """Estimates a contestant's peak memory, to skip it where it would swap."""
    from helpers.vgg import layer_table

    layers = layer_table("E", image_size, classes)
    weights = 4 * sum(layer.parameters for layer in layers)
    activations = 2 * batch * sum(layer.bytes for layer in layers)
    return COPIES[name](towers) * weights + activations + GIGA // 2


def available_bytes() -> int | None:
    """Returns the memory that is free for use, or None where nobody can say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    fields = dict(line.split(":") for line in lines)
    return int(fields["MemAvailable"].split()[0]) * 1024


def run_contestants(
    names: Sequence[str], options: argparse.Namespace, towers: int
) -> list[Result]:
    """Runs contestants of one kind, in a process of their own.

    Raises:
      RuntimeError: one failed; the message ends with what it said last.
    """
    module = "towers_graph" if names[0] in GRAPHS else "towers_mirrored"
    task = json.dumps({**vars(options), "names": list(names), "towers": towers})
    module = f"benchmarks.peers.{module}"
    if options.quick and names[0] in GRAPHS:
        printed = run_here(module, task)
    else:
        command = [sys.executable, "-m", module, task]
        printed = run_alone(" and ".join(names), command)
    said = map(json.loads, printed.splitlines()[-len(names):])
    return [result_of(*one, options.batch) for one in zip(names, said, strict=True)]


def result_of(name: str, said: dict, batch: int) -> Result:
    """Returns the figures of what a contestant printed."""
    return Result(
        name,
        batch / statistics.median(said["seconds"]),
        said["peak_bytes"],
        statistics.median(said["core_seconds"]),
        sum(said["core_seconds"]) / sum(said["seconds"]),
        said["losses"],
        said.get("convolution_share"),
    )


def table_of(results: list[Result], title: str, towers: int = TOWERS) -> Table:
    """Returns the results with each one's ratio to ours, and judges four towers."""
    ours, rows = results[0], {}
    for r in results:
        rows[r.name] = {
            "pictures/s": r.pictures_per_second,
            "ours is": ours.pictures_per_second / r.pictures_per_second,
            "peak GB": r.peak_bytes / GIGA,
            "ours is (GB)": ours.peak_bytes / r.peak_bytes,
            "core s/step": r.core_seconds, "cores": r.cores, "first loss": r.losses[0],
        }
    judged = ours.name == "towers" and towers == TOWERS
    notes = verdicts(results) if judged else ()
    return Table(title, rows, ("towers", "kept"), tuple(notes))


def verdicts(results: list[Result]) -> list[str]:
    """Returns a line for each target that these results can decide."""
    found = {r.name: r for r in results}
    ours, lines = found["towers"], []

    def line(text, value, reached):
        lines.append(f"{text}: {value:.2f}, {'reached' if reached else 'NOT REACHED'}")

    for peer in (found[name] for name in ("mirrored", "fit") if name in found):
        speed = ours.pictures_per_second / peer.pictures_per_second
        line(f"pictures/s against {peer.name}, at least 1.20", speed, speed >= 1.2)
        if ours.convolution_share:
            bound = speed / ours.convolution_share
            lines.append(f"  {bound:.2f} if all but our convolutions took no time")
        memory = ours.peak_bytes / peer.peak_bytes
        line(f"memory against {peer.name}, at most 0.50", memory, memory <= 0.5)
    if "stack" in found:
        memory = ours.peak_bytes / found["stack"].peak_bytes
        line("memory against stack, at most 0.85", memory, memory <= 0.85)
    return lines


def main(arguments: list[str] | None = None) -> list[Table]:
    """Runs the contestants that fit into memory."""
    parser = options_of("towers")
    parser.add_argument("--image-size", type=int, default=224)
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=20, help="over all towers")
    parser.add_argument("--towers", type=int, default=TOWERS)
    parser.add_argument("--steps", type=int, default=5, help="after one to warm up")
    parser.add_argument("--grow", action="store_true", help="over 1, 2 and 4 towers")
    options = parser.parse_args(arguments)
    options.base_width = 64
    if options.quick:
        options.image_size, options.classes, options.batch = 32, 5, 2
        options.towers, options.steps = 2, 1
        options.base_width = 8  # of ours: Keras has its convolutions in full width only
    counts = (1, 2, 4) if options.grow else (options.towers,)
    return [
        table_of(results, title_of(options, towers), towers) for towers in counts
        if (results := run_all(options, towers))
    ]


def title_of(options: argparse.Namespace, towers: int) -> str:
    """Says what was trained."""
    devices = "1 logical CPU" if towers == 1 else f"{towers} logical CPUs"
    return (f"VGG-19 on {devices}, {options.batch} pictures of {options.image_size}, "
            f"median of {options.steps} steps")


def run_all(options: argparse.Namespace, towers: int) -> list[Result]:
    """Runs the contestants that fit into memory, and says which do not."""
    fit = []
    for name in CONTESTANTS:
        sizes = options.image_size, options.classes, options.batch, towers
        needed, available = needed_bytes(name, *sizes), available_bytes()
        if available is None or available >= needed:
            fit.append(name)
        else:
            print(f"{name}: skipped, it needs about {needed / GIGA:.1f} GB and "
                  f"{available / GIGA:.1f} GB are free")
    if options.quick:  # both of a kind in one process
        groups = [[n for n in fit if (n in GRAPHS) == here] for here in (True, False)]
    else:
        groups = [[name] for name in fit]
    return [result for names in groups if names
            for result in run_contestants(names, options, towers)]
