"""Made-up pictures, drawn from a seed, in the layouts of real collections."""

from helpers.shapes.tiny import write_tiny_shapes

__all__ = ["write_tiny_shapes"]
