"""Embedders: models that convert texts to vectors, so that similar meanings are close together."""
