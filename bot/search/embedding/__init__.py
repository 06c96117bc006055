"""Embedders: models that turn texts into vectors, so that texts of like meaning lie close."""
