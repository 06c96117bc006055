"""Which pages plainly fit what is looked for, so that they are shown before anyone chose them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from bot.pages.page import Page
from bot.pages.passages import split
from bot.pages.relevance import weigh
from bot.text.terms import keywords, terms

ENOUGH = 0.5  # of the weight of the wanted words that one passage has, with the page's title
BESIDE = 0.75  # of the share of the best page for the same words, below which one is left shut
STUDIED = 60_000  # characters of a page that are looked at
STUDIED_PAGES = 64  # whose terms are kept: several queries and questions find the same pages


def fitting(wanted: Sequence[str], pages: Sequence[Page], rarity: Mapping[str, float]) -> list[str]:
    """The addresses of the pages that fit any of the texts wanted, the best first.

    A page fits if its title is in the text, or if one of its passages has enough of the text's
    words, rare ones (``rarity`` as of ``search.provider.Lexicon``) counting for more, and no other
    page fits that text much better.
    """
    passages = {page.url: _passage_terms(page.title, page.text[:STUDIED]) for page in pages}
    scores: dict[str, float] = {}
    for text in wanted:
        shares = {url: _best_share(text, found, rarity) for url, found in passages.items()}
        bar = max(ENOUGH, BESIDE * max(shares.values(), default=0.0))
        words = frozenset(keywords(text))
        for page in pages:
            named = frozenset(keywords(page.title))
            score = shares[page.url] + (bool(named) and named <= words)
            if score >= bar:
                scores[page.url] = max(score, scores.get(page.url, 0.0))
    return sorted(scores, key=lambda url: -scores[url])


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
