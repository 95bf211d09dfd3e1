"""Explanations of the error messages of TensorFlow 1 programs."""
