"""Tools for people who inherited a program of TensorFlow 1."""
