"""Searching: providers, and how their hits become one list."""
