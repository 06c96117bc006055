"""``footnote eval``: a file of questions is asked, and the answers are compared with what was
expected of them."""
