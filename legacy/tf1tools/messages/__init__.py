"""What error messages of old code mean."""
