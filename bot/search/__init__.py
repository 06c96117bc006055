"""Searching: the providers, and merging their hits into one list."""
