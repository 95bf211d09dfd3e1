"""Edits the text of programs and analyses their syntax trees."""
