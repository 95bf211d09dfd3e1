"""Rules for NumPy, Matplotlib, SciPy and other libraries."""
