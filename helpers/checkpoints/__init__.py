"""Numbered checkpoints, and the restoring of the newest one that is complete."""

from helpers.checkpoints.restoring import numbered, restore_latest
from helpers.checkpoints.saving import save_numbered
from helpers.checkpoints.slots import load_slots

__all__ = ["load_slots", "numbered", "restore_latest", "save_numbered"]
