"""Converts the weights of old files to other formats."""
