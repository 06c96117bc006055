"""``footnote eval``: asks a file of questions and compares the answers with the expected ones."""
