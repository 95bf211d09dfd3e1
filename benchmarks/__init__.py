"""This course beside its rivals, each in turn, in one run on the same data."""
