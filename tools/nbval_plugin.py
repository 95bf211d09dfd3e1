"""Moved: see notebooks/conftest.py, which `pytest --nbval notebooks` reads."""
