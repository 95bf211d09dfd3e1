"""Setup of every lesson: quiet TensorFlow, seeds, figure style, and log folder."""

import contextlib
import gc
import os
import random
import shutil
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from helpers import language
from helpers.arguments import numbers, whole
from helpers.errors import first_line
from helpers.files import ROOT


@numbers(seed=whole(0))
def begin(name: str = "scratch", *, seed: int = 7) -> Path:
    """Prepares a lesson: imports TensorFlow, sets all seeds, and styles the figures.

    On a GPU, it also makes lessons comparable and lets several of them run side by
    side: float32 products are computed in full precision, without TF32, and no
    process takes more of the memory than it needs.

    Args:
      name: Name of the notebook without its extension, such as `01a_variable_scope`.
      seed: Seed for Python, NumPy, and TensorFlow's eager mode. A `tf.Graph` has its
        own seed: call `tf1.set_random_seed` inside it.

    Returns:
      The folder `logs/<name>`, which is created, and which `course.py tensorboard`
      serves.
    """
    folder = ROOT / "logs" / name
    # Read when a GPU is first used, by all sessions and by eager code.
    os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")
    tensorflow = quiet_tensorflow()
    tensorflow.config.experimental.enable_tensor_float_32_execution(False)
    import numpy

    random.seed(seed)
    numpy.random.seed(seed)
    tensorflow.random.set_seed(seed)
    numpy.set_printoptions(precision=4, suppress=True)
    _figure_style()
    _tensorboard_in_notebooks()
    _plain_programs()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _plain_programs() -> None:
    """Sets environment variables so that subprocesses print without colours.

    All subprocesses of a lesson inherit these variables, so their output does not
    depend on the Python version. The kernel of a notebook asks for colours, and from
    3.13 on, Python then colours its tracebacks even in files and pipes. In addition,
    each version warns about features that the next one removes.
    """
    for asks in ("FORCE_COLOR", "CLICOLOR_FORCE"):
        os.environ.pop(asks, None)
    os.environ["PYTHON_COLORS"] = "0"
    os.environ.setdefault("PYTHONWARNINGS", "ignore")


@contextlib.contextmanager
def expect(error_type: type[BaseException]) -> Iterator[None]:
    """Context manager that expects an error and prints it in short form.

    Args:
      error_type: Type of the error that the block must raise.

    Raises:
      AssertionError: If the block raises no error. Errors of another type propagate.
    """
    try:
        yield
    except error_type as error:
        text = f"{type(error).__name__}: {first_line(error)}"
        print(textwrap.fill(text, 76, subsequent_indent="  "))
    else:
        raise AssertionError(
            f"Expected {error_type.__name__}, but the block raised no error."
        )


def quiet_tensorflow() -> Any:
    """Imports TensorFlow without the messages that its C++ code prints.

    `TF_CPP_MIN_LOG_LEVEL` alone does not silence them, because some are written before
    TensorFlow reads it (tensorflow issue 100442). Standard error is therefore
    redirected to the null device during the import.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    saved = os.dup(2)
    nothing = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, 2)
        with _no_garbage_from("tensorflow"):
            import tensorflow

        tensorflow.get_logger().setLevel("ERROR")
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(nothing)
    return tensorflow


@contextlib.contextmanager
def _no_garbage_from(module: str) -> Iterator[None]:
    """Excludes the objects of a module's first import from garbage collection.

    None of these objects is garbage, but scanning them took a fifth of TensorFlow's
    import time, and more time whenever the collector ran over all objects
    (`benchmarks/NOTES.md`).
    """
    if module in sys.modules or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        gc.enable()


def _figure_style() -> None:
    import matplotlib.pyplot
    import matplotlib.rcsetup

    # Four colours that are safe for every colour vision, and then dashed lines.
    lines = matplotlib.rcsetup.cycler(linestyle=["-", "--"]) * (
        matplotlib.rcsetup.cycler(color=language.TOWER))
    style: dict = {**language.STYLE, "axes.prop_cycle": lines}
    matplotlib.pyplot.rcParams.update(style)


def _tensorboard_in_notebooks() -> None:
    """Sets the environment variables that `%tensorboard` needs."""
    program = shutil.which("tensorboard", path=str(Path(sys.executable).parent))
    if program:
        os.environ.setdefault("TENSORBOARD_BINARY", program)
    hub = os.environ.get("JUPYTERHUB_SERVICE_PREFIX")
    if hub:
        os.environ.setdefault("TENSORBOARD_PROXY_URL", f"{hub}proxy/%PORT%/")
