"""Reasoners: the protocol, Claude, and the closest passages."""
