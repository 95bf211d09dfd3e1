"""Reports on old code, and copies of it that run."""
