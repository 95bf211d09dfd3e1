"""Rules for names that Python 3 has renamed or removed since TensorFlow 1."""
