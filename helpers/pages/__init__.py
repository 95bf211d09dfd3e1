"""Figures of the lessons whose drawing code is long, one module per figure."""
