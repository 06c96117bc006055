"""Corrections: what people said was wrong with an answer, kept as a source of later ones."""
