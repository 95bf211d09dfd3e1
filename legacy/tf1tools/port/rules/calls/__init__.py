"""Rules for TensorFlow calls whose arguments were renamed, moved or removed."""
