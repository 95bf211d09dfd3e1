"""Runs old programs and explains why they hang or fail."""
