"""The small package behind the course: what one lesson taught and the next needs.

One concept per module. A module imports only those that the course taught before
it; `pyproject.toml` lists that order and import-linter holds it.
"""
