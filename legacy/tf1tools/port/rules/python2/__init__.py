"""What Python 2 wrote otherwise."""
