"""Finds the first tensor at which two programs differ, and the likely causes."""

from helpers.divergence.search import Divergence, first_difference

__all__ = ["Divergence", "first_difference"]
