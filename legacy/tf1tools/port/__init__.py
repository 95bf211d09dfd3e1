"""Reports on TensorFlow 1 programs and writes copies that run on TensorFlow 2."""
