"""What became of every old name, found by running it."""

from helpers.tf1_names.source import LATER_NAMES, OTHER_CALLS, SOURCE_NAMES
from helpers.tf1_names.trial import VERDICTS, OldName, verdict

__all__ = ["LATER_NAMES", "OTHER_CALLS", "SOURCE_NAMES", "VERDICTS", "OldName",
           "verdict"]
