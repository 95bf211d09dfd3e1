"""Imports, and files that cannot be read."""
