"""What the lessons taught and use again; docs/architecture.md is its map."""
