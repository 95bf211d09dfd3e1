"""Determines the fate of TensorFlow 1 names by running old calls."""

from helpers.tf1_names.source import LATER_NAMES, OTHER_CALLS, SOURCE_NAMES
from helpers.tf1_names.trial import VERDICTS, OldName, verdict

__all__ = ["LATER_NAMES", "OTHER_CALLS", "SOURCE_NAMES", "VERDICTS", "OldName",
           "verdict"]
