"""Closest passages: without a model, quotes the passages closest to a question."""
