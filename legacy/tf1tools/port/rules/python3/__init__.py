"""What Python 3 itself and its library took away since."""
