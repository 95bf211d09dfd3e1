"""The names that are known, as data; nothing is imported."""
