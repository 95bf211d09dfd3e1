"""Adjustments that let nbval run notebooks that use TensorFlow, several at a time.

pytest --nbval notebooks -p tools.nbval_plugin
"""

import json
import os
from pathlib import Path

import nbval.kernel
import pytest
from xdist.scheduler import LoadScopeScheduling

from helpers.files import ROOT
from tools import notebook as nb

_start_new_kernel = nbval.kernel.start_new_kernel


def _start(*args, **options):
    # ipykernel hands C-level output to cells only where this variable is absent.
    clean = {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"}
    options.setdefault("env", clean)
    return _start_new_kernel(*args, **options)


nbval.kernel.start_new_kernel = _start


def pytest_collectstart(collector):
    """Leaves stderr out: progress bars and logs carry times (nbval issue 88)."""
    if getattr(collector, "skip_compare", None) is not None:
        collector.skip_compare += ("stderr",)


def pytest_collection_modifyitems(items):
    """Begins with the lessons that take longest: one would run alone in the end."""
    seconds = json.loads((ROOT / "docs" / "book" / "seconds.json").read_text("utf-8"))

    items.sort(key=lambda item: -seconds.get(nb.number(item.path), 0))


class ByLesson(LoadScopeScheduling):
    """Keeps a lesson and its solution in one worker: they write the same folders."""

    def _split_scope(self, nodeid):
        return nb.number(Path(nodeid.partition("::")[0]))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Hands out lessons; a mark `xdist_group` is not seen under pytest 9.2."""
    return ByLesson(config, log)
