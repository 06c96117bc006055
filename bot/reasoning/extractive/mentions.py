"""Names that pages mention: in which sentences, and how prominently."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from bot.reasoning.extractive.words import holds, term_tuple, title_terms
from bot.text.names import names
from bot.text.sentences import sentences

CLOSE_WORDS = 4
IS_TITLE, IN_THE_TITLE, IN_SNIPPET = 1.0, 0.8, 0.55  # where a hit has the lead's name
_CODE = re.compile(r"(?<!`)(`+)(?!`)(?:(?!\1).)+?\1(?!`)|[^\W_]+_\w+", re.DOTALL)
"""Code spans, fenced blocks and what is written like a variable: its capitals are no names."""


@lru_cache(maxsize=4_000)
def sentences_of(text: str) -> tuple[tuple[str, str], ...]:
    """The sentences of a text, each as written and with its code blanked."""
    prose = _CODE.sub(lambda code: " " * len(code.group()), text)
    return tuple((text[s.start : s.end], prose[s.start : s.end]) for s in sentences(text))


@lru_cache(maxsize=4_000)
def names_of(sentence: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The names in a sentence, each with the last words before it."""
    return tuple(
        (
            re.sub(r"\s+", " ", sentence[name.start : name.end].strip(".")),
            term_tuple(sentence[max(0, name.start - 40) : name.start])[-CLOSE_WORDS:],
        )
        for name in names(sentence, "en")
    )


def prominence(name: tuple[str, ...], title: str, texts: Sequence[str]) -> float:
    """The prominence of a name in a page: as its title, in its title, in its text, not at all."""
    if name == title_terms(title):
        return IS_TITLE
    if holds(term_tuple(title), name):
        return IN_THE_TITLE
    return IN_SNIPPET if any(holds(term_tuple(text), name) for text in texts) else 0.0
