"""Maps old names to current ones, and spells them as a file needs them."""
