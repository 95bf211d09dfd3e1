"""What the contestants of `benchmarks/towers.py` share: pictures, clock, memory."""

import json
import time
from collections.abc import Callable

import numpy as np

from benchmarks.rounds import peak_mb

LEARNING_RATE, MOMENTUM = 0.001, 0.9


def pictures(task: dict) -> tuple[np.ndarray, np.ndarray]:
    """Returns float32 `[batch, size, size, 3]` in [-1, 1] and int32 `[batch]`."""
    random = np.random.default_rng(7)
    size = task["image_size"]
    images = random.random([task["batch"], size, size, 3], np.float32) * 2 - 1
    return images, random.integers(task["classes"], size=task["batch"], dtype=np.int32)


class Stopwatch:
    """Times steps of training, wherever the loop is, and prints what the parent reads.

    The first step warms up and is not timed.
    """

    def __init__(self):
        self.losses, self.seconds, self.core_seconds = [], [], []

    def start(self) -> None:
        self._now = time.perf_counter(), time.process_time()

    def stop(self, loss: float) -> None:
        before, worked = self._now
        self.losses.append(float(loss))
        if len(self.losses) > 1:
            self.seconds.append(time.perf_counter() - before)
            self.core_seconds.append(time.process_time() - worked)
        self.peak_bytes = int(1e6 * peak_mb())

    def say(self, **more: float) -> None:
        said = {
            "seconds": self.seconds, "core_seconds": self.core_seconds,
            "losses": self.losses, "peak_bytes": self.peak_bytes,
        }
        print(json.dumps(said | more))


def measure(step: Callable[[], float], steps: int) -> Stopwatch:
    """Times `steps` calls of `step`, which trains on a batch and returns its loss."""
    watch = Stopwatch()
    for _ in range(1 + steps):
        watch.start()
        watch.stop(step())
    return watch
