"""Readers of document formats other than HTML, Markdown, PDF and plain text."""
