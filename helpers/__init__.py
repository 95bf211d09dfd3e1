"""Functions that the lessons teach and use again; docs/architecture.md lists them."""
