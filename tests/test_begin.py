"""`lesson.begin` leaves Python's collector at work, and hides nothing of the user's."""

import gc
import os
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from helpers import lesson
from tools import pythons


def test_the_collector_works_again_and_a_second_call_hides_nothing():
    """The first call was conftest.py's: it imported TensorFlow."""
    frozen = gc.get_freeze_count()
    assert gc.isenabled() and frozen > 100_000
    mine = []
    mine.append(mine)
    lesson.begin("tests")  # a cell that is run again
    assert gc.isenabled() and gc.get_freeze_count() <= frozen
    assert any(one is mine for one in gc.get_objects())


def printed(python, program):
    """Returns what a program of a lesson prints as its errors and warnings."""
    return subprocess.run([python, "-c", program], capture_output=True).stderr


def test_a_program_of_a_lesson_prints_no_warnings_and_one_may_ask_for_them(monkeypatch):
    monkeypatch.delenv("PYTHONWARNINGS", raising=False)
    warns = sys.executable, "import warnings; warnings.warn('old')"
    assert b"old" in printed(*warns)
    lesson.begin("tests")
    assert printed(*warns) == b""
    monkeypatch.setenv("PYTHONWARNINGS", "default")
    lesson.begin("tests")
    assert b"old" in printed(*warns)


def test_a_program_of_a_lesson_prints_no_colours(monkeypatch):
    """Under a Python that has colours: a kernel asks for them."""
    python = pythons.others().get((3, 13))
    if not python:
        pytest.skip("no Python 3.13 here, or it runs the tests")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("PYTHON_COLORS", raising=False)
    assert b"\x1b" in printed(python, "1/0")
    lesson.begin("tests")
    assert "FORCE_COLOR" not in os.environ
    assert b"\x1b" not in printed(python, "1/0")


def test_lessons_agree_on_a_gpu_and_share_it(monkeypatch):
    """TF32 is off, and a process takes memory as it needs it, unless asked not to."""
    tf32 = tf.config.experimental
    tf32.enable_tensor_float_32_execution(True)
    monkeypatch.delenv("TF_FORCE_GPU_ALLOW_GROWTH")
    lesson.begin("tests")
    assert not tf32.tensor_float_32_execution_enabled()
    assert os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] == "true"
    monkeypatch.setenv("TF_FORCE_GPU_ALLOW_GROWTH", "false")
    lesson.begin("tests")
    assert os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] == "false"


@pytest.mark.gpu
def test_a_product_on_a_gpu_has_the_precision_of_float32():
    left, right = np.random.default_rng(7).normal(size=[2, 300, 300])
    with tf.device("/gpu:0"):
        product = tf.matmul(*[tf.constant(side, tf.float32) for side in (left, right)])
    np.testing.assert_allclose(product, left @ right, atol=1e-4)
