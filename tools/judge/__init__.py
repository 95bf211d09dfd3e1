"""An answer and its check, in a process of its own, for `mutants`."""
