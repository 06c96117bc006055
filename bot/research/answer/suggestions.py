"""The questions to ask next that an answer shows, chosen from those that its writer offers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bot.text.terms import keywords, without_controls

MOST = 3
LONGEST = 75  # characters: no button or menu may hold more (Slack)
SAME = 0.6  # share of common terms (Jaccard) from which two questions count as the same
# Parts of mentions, links and markup. A pressed suggestion counts as written by the person, so it
# must not contain any.
_UNSAFE = re.compile(r"[<>@\[\]|`*\\\n⚠]|://|\bwww\.|\w\.[a-z]{2,}/", re.IGNORECASE)


def suggestions(offered: Sequence[str], asked: Iterable[str]) -> tuple[str, ...]:
    """Return up to ``MOST`` of the ``offered`` questions, without those that repeat a question
    ``asked`` in the thread or another one, are too long for a button, or contain links or marks."""
    taken = [frozenset(keywords(question)) for question in asked]
    chosen: list[str] = []
    for question in offered:
        terms = frozenset(keywords(question))
        if len(question) > LONGEST or _UNSAFE.search(question):
            continue
        if question != without_controls(question) or any(_alike(terms, one) for one in taken):
            continue
        taken.append(terms)
        chosen.append(question)
    return tuple(chosen[:MOST])


def _alike(terms: frozenset[str], others: frozenset[str]) -> bool:
    return len(terms & others) >= SAME * len(terms | others)
