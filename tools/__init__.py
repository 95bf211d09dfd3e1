"""What authors and tests use: running, normalising and deriving notebooks."""
