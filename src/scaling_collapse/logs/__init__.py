"""Readers of anybody's training logs: the format is recognised from content, and whatever is dropped is counted."""
