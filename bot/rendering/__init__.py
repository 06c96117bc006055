"""Turns answers into what a platform can show: parts, footnote links, tables, safe text, words."""
