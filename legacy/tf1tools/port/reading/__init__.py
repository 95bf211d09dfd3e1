"""Reads old code: its files, its names, and its imports."""
