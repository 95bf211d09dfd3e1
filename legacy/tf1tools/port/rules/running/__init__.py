"""Rules that let whole programs run on `tensorflow.compat.v1`."""
