"""Imports what every kernel of a lesson imports, before the kernels are forked."""

import os

import ipykernel.kernelapp  # noqa: F401

# Matplotlib reads it when it is imported; a kernel sets it before a notebook's cells.
os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"

from helpers import lesson

lesson.quiet_tensorflow()
