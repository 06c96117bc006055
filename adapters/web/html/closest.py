"""Renders the closest passages as what they are: quotes with the question's words, no answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from adapters.web.html.sources import WORD, ShownQuote, Source, anchored
from bot.core.messages import Answer, Span
from bot.reasoning.reasoner import CLOSEST
from bot.text.terms import content_words, keywords, terms


@dataclass(frozen=True, slots=True)
class Passage:
    """Consecutive quotes of a source below one heading; ``words`` are the words of the question
    that they, their heading or the title have, as they are written in the question."""

    source: Source
    heading: str
    quotes: tuple[ShownQuote, ...]
    words: tuple[str, ...]


def is_closest(answer: Answer) -> bool:
    """Return True if an answer is the closest passages below their heading."""
    is_quoted = answer.reasoner == CLOSEST and bool(answer.citations)
    return is_quoted and answer.text.startswith("### ")


def with_words(answer: Answer) -> Answer:
    """Return the answer with the words of its question as the shared spans of its quotes."""
    asked = answer.question
    marked = (
        replace(one, shared=tuple(spans_of_words(one.quote, asked))) for one in answer.citations
    )
    return replace(answer, citations=tuple(marked))


def spans_of_words(text: str, asked: str) -> Iterator[Span]:
    """Yield where a question's words are, in any of their forms; in scripts without spaces these
    are pairs of characters."""
    wanted = frozenset(keywords(asked))
    for match in WORD.finditer(text):
        start, end = match.span()
        near = (match[0],) if end - start > 1 else (text[start : end + 1], text[start - 1 : end])
        if not wanted.isdisjoint(terms(" ".join(near))):
            yield start, end


def passages(answer: Answer, sources: Sequence[Source]) -> Iterator[Passage]:
    """Yield the passages, the best first; ``sources`` are the cards of the answer."""
    cited, asked = dict(anchored(answer.citations)), content_words(answer.question)
    shown = [(source, quote) for source in sources for quote in source.quotes]
    shown.sort(key=lambda one: [*cited].index(one[1].anchors[-1]))
    for (_, heading), group in groupby(shown, lambda one: (one[0].number, one[1].heading)):
        (source, *_), quotes = zip(*group, strict=True)
        texts = (cited[anchor].quote for quote in quotes for anchor in quote.anchors)
        has = set(terms("\n".join((source.title, heading, *texts))))
        words = tuple(each for each in asked if has.issuperset(terms(each)))
        yield Passage(source, heading, quotes, words)
