"""Rules for imports and for files that cannot be read."""
