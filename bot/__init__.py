"""Footnote: a research bot for team chat that answers with numbered footnotes."""

__version__ = "0.1.0"
