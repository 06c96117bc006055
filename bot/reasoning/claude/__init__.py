"""The reasoner on Claude's API."""
