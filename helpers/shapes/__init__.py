"""Synthetic pictures that are drawn in the layouts of real datasets."""

from helpers.shapes.scenes import write_scenes
from helpers.shapes.tiny import write_tiny_shapes

__all__ = ["write_scenes", "write_tiny_shapes"]
