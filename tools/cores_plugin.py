"""Gives each worker of pytest-xdist a core of its own, as long as there are any.

pytest -n 4 -p tools.cores_plugin

Small nets gain little from a second thread: lesson 06 took 180 to 212 core seconds on
two cores and 130 on one, and no more time (`benchmarks/NOTES.md`).
"""

import os


def pytest_configure(config):
    """Binds this worker, and all that it starts, to its share of the cores."""
    worker = getattr(config, "workerinput", None)
    if worker and hasattr(os, "sched_setaffinity"):  # Linux
        cores = sorted(os.sched_getaffinity(0))
        number = int(worker["workerid"].removeprefix("gw"))
        share = cores[number::worker["workercount"]] or [cores[number % len(cores)]]
        os.sched_setaffinity(0, share)
