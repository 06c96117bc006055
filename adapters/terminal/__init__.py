"""The terminal, Footnote's first platform."""
