"""Selects the pages that plainly fit a question, to show them before they are chosen."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from bot.pages.page import Page
from bot.pages.passages import split
from bot.pages.relevance import weigh
from bot.text.terms import keywords, terms

ENOUGH = 0.5  # of the weight of the wanted words that one passage has, with the page's title
BESIDE = 0.75  # of the share of the best page for the same words, below which one is left shut
_QUALIFIER = re.compile(r"\s*\([^()]*\)\s*")  # "(song)", "(near Pleasant Plains)"
_ARTICLES = frozenset({"the", "a", "an", "der", "die", "das", "le", "la", "les", "el", "los"})
_CAPITAL_NEXT = re.compile(r" [^\W\d_a-z]\w*")
STUDIED = 60_000  # characters of a page that are looked at
STUDIED_PAGES = 64  # whose terms are kept: several queries and questions find the same pages


def fitting(wanted: Sequence[str], pages: Sequence[Page], rarity: Mapping[str, float]) -> list[str]:
    """The addresses of the pages that fit any of the texts wanted, the best first.

    A page fits if the text names it (``is_named``), or if one of its passages has enough of the
    text's words, rare ones (``rarity`` as of ``search.provider.Lexicon``) counting for more, and no
    other page fits that text much better.
    """
    passages = {page.url: _passage_terms(page.title, page.text[:STUDIED]) for page in pages}
    scores: dict[str, float] = {}
    for text in wanted:
        shares = {url: _best_share(text, found, rarity) for url, found in passages.items()}
        bar = max(ENOUGH, BESIDE * max(shares.values(), default=0.0))
        for page in pages:
            score = shares[page.url] + is_named(page.title, text)
            if score >= bar:
                scores[page.url] = max(score, scores.get(page.url, 0.0))
    return sorted(scores, key=lambda url: -scores[url])


def is_named(title: str, text: str) -> bool:
    """Whether a text has a title's words, or the name in it without what tells namesakes apart:
    "Hello Love" of "Hello Love (song)", "McRae" of "McRae, Arkansas" (as it is written)."""
    words = frozenset(terms(title)) - _ARTICLES
    if words and words <= frozenset(terms(text)):
        return True
    name = _QUALIFIER.sub(" ", title).strip()
    place, comma, _ = name.partition(",")
    if comma:
        return _has_name(text, place.strip(), re.NOFLAG)
    return name != title and _has_name(text, name, re.IGNORECASE)


def _has_name(text: str, name: str, flags: re.RegexFlag) -> bool:
    """Whether a name is in a text, and is not a part of a longer name."""
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, flags) if name else None
    if found is None:
        return False
    before = text[: found.start()].split(" ")[1:-1]  # the first word always has a capital
    follows_capital = bool(before) and before[-1][:1].isupper()
    return not follows_capital and not _CAPITAL_NEXT.match(text, found.end())


@lru_cache(maxsize=STUDIED_PAGES)
def _passage_terms(title: str, text: str) -> tuple[frozenset[str], ...]:
    """The terms of each passage, with those of its headings and of the page's title."""
    of_title = frozenset(terms(title))
    return tuple(
        of_title | frozenset(terms(f"{passage.heading} {passage.text}")) for passage in split(text)
    )


def _best_share(
    text: str, passages: Sequence[frozenset[str]], rarity: Mapping[str, float]
) -> float:
    """The share of the text's weight that the best of a page's passages has."""
    words = list(dict.fromkeys(keywords(text)))
    weights = weigh(text, rarity) or dict.fromkeys(words, 1.0)
    return max((_share(weights, passage) for passage in passages), default=0.0)


def _share(weights: Mapping[str, float], found: frozenset[str]) -> float:
    total = sum(weights.values())
    return sum(w for term, w in weights.items() if term in found) / total if total else 0.0
