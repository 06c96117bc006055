"""Extracts the statements of a text without a model: its sentences with figures, dates or names."""

from __future__ import annotations

from bot.reasoning.evidence import Statement
from bot.reasoning.extractive.rewrite import queries_for
from bot.text.facts import facts
from bot.text.sentences import sentences

QUERIES = 2


def statements(text: str) -> tuple[Statement, ...]:
    """Return each sentence that claims a figure, a date or a name, unchanged."""
    found = []
    for sentence in sentences(text):
        words = text[sentence.start : sentence.end]
        if sentence.kind in ("paragraph", "item", "row") and facts(words):
            said = " ".join(words.split())
            if not said.endswith(("?", "？")):
                found.append(Statement(said, said, queries_for(said)[:QUERIES]))
    return tuple(found)
