"""The kernels of `course.py test notebooks`, which are forks of a warm process."""

import os
import subprocess
import sys

import nbformat
import pytest

from helpers.files import ROOT
from tests.limits import LIMIT

# What a kernel must not share with the process from which it was forked.
CELLS = [
    "import os, sys\nprint('tensorflow' in sys.modules, os.getpgid(0) == os.getpid())",
    "print(os.getcwd() == os.environ['PWD_OF_THE_TEST'], sys.stdin.isatty())",
    "import tensorflow as tf; print(tf.reduce_sum(tf.ones([3])).numpy())",
    "import matplotlib.pyplot as plt; print(plt.get_backend())",
    "from helpers import lesson\n_ = lesson.begin('tests')\n"
    "tf.get_logger().error('said')",
]
PRINTED = ["True True\n", "True False\n", "3.0\n",
           "module://matplotlib_inline.backend_inline\n", "ERROR:tensorflow:said\n"]


@pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux alone")
def test_a_forked_kernel_is_a_kernel_and_ends_with_its_notebook(tmp_path):
    cells = [nbformat.v4.new_code_cell(source, execution_count=k, outputs=[
        nbformat.v4.new_output("stream", name="stdout", text=text)])
        for k, (source, text) in enumerate(zip(CELLS, PRINTED, strict=True), 1)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "01_some.ipynb")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "-rA", "-p",
         "tools.jupyter.warm_kernels", "-p", "notebooks.conftest",
         "--rootdir", tmp_path, tmp_path / "01_some.ipynb"],
        cwd=ROOT, capture_output=True, text=True, timeout=LIMIT,
        env={**os.environ, "PWD_OF_THE_TEST": str(tmp_path)})
    assert f"{len(CELLS)} passed" in done.stdout, done.stdout
