"""Which pages plainly fit what is looked for, so that they are shown before anyone chose them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.pages.page import Page
from bot.pages.passages import split
from bot.pages.relevance import weigh
from bot.text.terms import keywords, terms

ENOUGH = 0.5  # of the weight of the wanted words that one passage has, with the page's title
STUDIED = 60_000  # characters of a page that are looked at


def fitting(wanted: Sequence[str], pages: Sequence[Page], rarity: Mapping[str, float]) -> list[str]:
    """The addresses of the pages that fit any of the texts wanted, the best first.

    A page fits if its title is in the text, or if one of its passages has enough of the text's
    words, rare ones (``rarity`` as of ``search.provider.Lexicon``) counting for more.
    """
    scores = {
        page.url: max((_fit(text, page, rarity) for text in wanted), default=0.0) for page in pages
    }
    best = sorted(scores, key=lambda url: -scores[url])
    return [url for url in best if scores[url] >= ENOUGH]


def _fit(text: str, page: Page, rarity: Mapping[str, float]) -> float:
    words = list(dict.fromkeys(keywords(text)))
    if not words:
        return 0.0
    weights = weigh(text, rarity) or dict.fromkeys(words, 1.0)
    title = frozenset(terms(page.title))
    named = frozenset(keywords(page.title))
    score = max(
        (
            _share(weights, title | frozenset(terms(f"{passage.heading} {passage.text}")))
            for passage in split(page.text[:STUDIED])
        ),
        default=0.0,
    )
    return score + 1.0 if named and named <= frozenset(words) else score


def _share(weights: Mapping[str, float], found: frozenset[str]) -> float:
    total = sum(weights.values())
    return sum(w for term, w in weights.items() if term in found) / total if total else 0.0
