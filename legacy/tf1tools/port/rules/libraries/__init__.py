"""NumPy, Matplotlib and SciPy."""
