"""A language model as a reasoner, at any service."""
