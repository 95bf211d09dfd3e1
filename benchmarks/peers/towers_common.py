"""What the contestants of `benchmarks/towers.py` share: pictures, clock, memory."""

import json
import resource
import sys
import time
from collections.abc import Callable

import numpy as np

LEARNING_RATE, MOMENTUM = 0.001, 0.9


def pictures(task: dict) -> tuple[np.ndarray, np.ndarray]:
    """Returns float32 `[batch, size, size, 3]` in [-1, 1] and int32 `[batch]`."""
    random = np.random.default_rng(7)
    size = task["image_size"]
    images = random.random([task["batch"], size, size, 3], np.float32) * 2 - 1
    return images, random.integers(task["classes"], size=task["batch"], dtype=np.int32)


def measure(step: Callable[[], float], steps: int) -> None:
    """Warms up with one step, times the others, and prints what the parent reads.

    Args:
      step: trains on one batch and returns the loss.
      steps: how many are timed.
    """
    losses, seconds, core_seconds = [float(step())], [], []
    for _ in range(steps):
        start, worked = time.perf_counter(), time.process_time()
        losses.append(float(step()))
        seconds.append(time.perf_counter() - start)
        core_seconds.append(time.process_time() - worked)
    unit = 1 if sys.platform == "darwin" else 1024
    said = {
        "seconds": seconds,
        "core_seconds": core_seconds,
        "losses": losses,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit,
    }
    print(json.dumps(said))
