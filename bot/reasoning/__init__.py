"""Reasoners: the protocol, Claude, and the extractive reasoner."""
