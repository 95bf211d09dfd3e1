"""What a name is today, and how a file writes it."""
