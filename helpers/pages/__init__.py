"""What a lesson draws where the drawing is long: a module for each."""
