"""Code as text and as a tree."""
