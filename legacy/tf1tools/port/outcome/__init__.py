"""Applies the rules to a project and writes the report and the copy."""
