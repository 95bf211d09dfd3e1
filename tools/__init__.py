"""Tools that run, normalise and derive the notebooks of the course."""
