"""What `pytest --nbval notebooks` needs beside nbval, and what it says at the end."""

import copy
import os
import sys
from pathlib import Path

import nbformat
import nbval.kernel
import pytest
from nbval.plugin import IPyNbCell

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools import notebook as nb  # noqa: E402
from tools import within  # noqa: E402

_start_new_kernel = nbval.kernel.start_new_kernel


def _start(*args, **options):
    # ipykernel hands C-level output to cells only where this variable is absent.
    clean = {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"}
    options.setdefault("env", clean)
    return _start_new_kernel(*args, **options)


nbval.kernel.start_new_kernel = _start

_compare_outputs = IPyNbCell.compare_outputs


def _compare_within(cell, test, ref, skip_compare=None):
    """Compares the outputs of one cell: what is within its tolerance is the same."""
    test = copy.deepcopy(test)
    within.settle(test, ref, within.tolerance(cell.cell))
    return _compare_outputs(cell, test, ref, skip_compare)


IPyNbCell.compare_outputs = _compare_within

# They train, or start processes: a minute or more each.
SLOWEST = ("04b", "06b", "06c", "07a", "07b", "08b", "09a", "09b", "12a")


def pytest_collectstart(collector):
    """Leaves out stderr, which carries times (nbval issue 88), and HTML."""
    if getattr(collector, "skip_compare", None) is not None:
        collector.skip_compare += ("stderr", "text/html")


def pytest_collection_modifyitems(items):
    """Begins with the lessons that take longest: one would run alone in the end."""
    items.sort(key=lambda item: nb.number(item.path) not in SLOWEST)


def pytest_terminal_summary(terminalreporter):
    """Says how many cells were run, and whose outputs were not compared."""
    done = {report.nodeid.partition("::")[0]
            for reports in terminalreporter.stats.values() for report in reports
            if getattr(report, "when", "") == "call"}
    root = terminalreporter.config.rootpath
    read = [nbformat.read(root / name, as_version=4) for name in sorted(done)
            if name.endswith(".ipynb")]
    if read:
        ignored, code = map(sum, zip(*map(nb.ignored_share, read), strict=True))
        near = sum(bool(within.tolerance(cell)) for book in read for cell in book.cells)
        terminalreporter.write_line(
            f"{len(read)} notebooks: {code} cells run, the outputs of {code - ignored} "
            f"compared with the stored ones, {near} of them within a tolerance; "
            f"{ignored} are marked as never the same. "
            "Pictures, HTML and standard error are not compared.")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Hands out lessons; a mark `xdist_group` is not seen under pytest 9.2."""
    from xdist.scheduler import LoadScopeScheduling

    class ByLesson(LoadScopeScheduling):
        """Keeps a lesson and its solution in one worker: they share folders."""

        def _split_scope(self, nodeid):
            return nb.number(Path(nodeid.partition("::")[0]))

    return ByLesson(config, log)
