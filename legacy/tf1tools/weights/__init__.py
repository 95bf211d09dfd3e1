"""The weights of an old file, in forms that others read."""
