"""Rules for TensorFlow names that were moved, renamed or removed, or that stay."""
