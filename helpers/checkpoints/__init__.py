"""Save by step number; restore the newest checkpoint that is whole and fits."""

from helpers.checkpoints.restoring import numbered, restore_latest
from helpers.checkpoints.saving import save_numbered
from helpers.checkpoints.slots import load_slots

__all__ = ["load_slots", "numbered", "restore_latest", "save_numbered"]
