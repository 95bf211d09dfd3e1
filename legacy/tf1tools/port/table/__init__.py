"""Tables of known names, stored as data so that no library is imported."""
