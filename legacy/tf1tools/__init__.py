"""Tools for maintainers of programs written for TensorFlow 1."""
