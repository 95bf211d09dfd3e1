"""What the rules say of a project: report and copy."""
