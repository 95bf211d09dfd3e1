"""Imports what every kernel of a lesson imports, before the kernels are forked."""

import logging
import os

import ipykernel.kernelapp  # noqa: F401

# Matplotlib reads it when it is imported; a kernel sets it before a notebook's cells.
os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"

from helpers import lesson

lesson.quiet_tensorflow()

# The logger of TensorFlow writes to the stream that was there when it was made. Each
# kernel has streams of its own, so it makes its own logger.
from tensorflow.python.platform import tf_logging  # noqa: E402

logging.getLogger("tensorflow").handlers.clear()
tf_logging._logger = None
