"""Two adjustments that let nbval run notebooks that use TensorFlow.

pytest --nbval notebooks -p tools.nbval_plugin
"""

import os

import nbval.kernel

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
