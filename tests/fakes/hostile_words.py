"""Messages that are made to keep a reader busy: a few signs, repeated up to the limit."""

from __future__ import annotations

from bot.core.messages import MAX_QUESTION

SIGNS = (
    *("[", "什么是", "[1", "(", "1 ", "a ", "`", "<a "),
    *(")", "1年", "1/2 ", "``` ", "*", "《", '"', "[![a](a)", "what is ", "compare a and b "),
    *("https://a.example/", "a@b.example ", "カ", "한국 "),
)


def repeated(signs: str, length: int = MAX_QUESTION - 100) -> str:
    """A message of this length that is nothing but the signs."""
    return (signs * (length // len(signs) + 1))[:length]
