"""How old code is read: files, names, who imports whom."""
