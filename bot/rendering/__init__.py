"""From answers to what a platform can show: parts, footnote links, tables, harmless text, words."""
