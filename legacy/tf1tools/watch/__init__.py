"""Runs an old program, and says why it stands still."""
