"""Corrections: people's objections to an answer, stored as a source for later answers."""
