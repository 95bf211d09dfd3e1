"""Imports what every kernel of a lesson imports, before it is forked."""

import ipykernel.kernelapp  # noqa: F401

from helpers import lesson

lesson.quiet_tensorflow()
