"""Rules for Keras 1, 2 and 3."""
