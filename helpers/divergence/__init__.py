"""The first tensor at which two programs differ, and the usual causes of it."""

from helpers.divergence.search import Divergence, first_difference

__all__ = ["Divergence", "first_difference"]
