"""What a whole program needs, to run on `tensorflow.compat.v1`."""
