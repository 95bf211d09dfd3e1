"""Rules for Python 2."""
