"""Save by step number; restore the newest checkpoint that is whole and fits."""

from helpers.checkpoints.restoring import numbered, restore_latest
from helpers.checkpoints.saving import save_numbered

__all__ = ["numbered", "restore_latest", "save_numbered"]
