"""Calls of TensorFlow whose arguments changed place, name or number."""
