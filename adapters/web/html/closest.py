"""Renders the closest passages as what they are: quotes with the question's words, no answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from adapters.web.html.sources import WORD, ShownQuote, Source, anchored
from bot.core.messages import Answer, Span
from bot.pages.bm25 import asked_words, is_everyday
from bot.reasoning.reasoner import CLOSEST
from bot.text.terms import has_cjk, keywords, terms

_INFLECTION = re.compile("^[\u3041-\u309f]+|[\u3041-\u309f]+$")  # hiragana around a word


@dataclass(frozen=True, slots=True)
class Passage:
    """Consecutive quotes of a source below one heading; ``words`` are the words of the question
    that ``text``, the quotes with heading and title, has, as they are written in the question."""

    source: Source
    heading: str
    quotes: tuple[ShownQuote, ...]
    text: str
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
    wanted = frozenset(keywords(" ".join(asked_words(asked))))
    for match in WORD.finditer(text):
        start, end = match.span()
        near = (match[0],) if end - start > 1 else (text[start : end + 1], text[start - 1 : end])
        if not wanted.isdisjoint(terms(" ".join(near))):
            yield start, end


def passages(answer: Answer, sources: Sequence[Source]) -> Iterator[Passage]:
    """Yield the passages, the best first; ``sources`` are the cards of the answer."""
    cited = dict(anchored(answer.citations))
    shown = [(source, quote) for source in sources for quote in source.quotes]
    shown.sort(key=lambda one: [*cited].index(one[1].anchors[-1]))
    for (_, heading), group in groupby(shown, lambda one: (one[0].number, one[1].heading)):
        (source, *_), quotes = zip(*group, strict=True)
        texts = (cited[anchor].quote for quote in quotes for anchor in quote.anchors)
        text = "\n".join((source.title, heading, *texts))
        words = tuple(word for word, has in _found(answer.question, text).items() if has)
        yield Passage(source, heading, quotes, text, words)


def lacking(question: str, shown: Sequence[Passage]) -> tuple[str, ...]:
    """Return the words of a question that no passage has, without everyday ones."""
    found = _found(question, "\n".join(one.text for one in shown))
    return tuple(word for word, has in found.items() if not has and not is_everyday(word))


def _found(question: str, text: str) -> Mapping[str, bool]:
    """Return the words of a question, and whether a text has them; of what is written without
    spaces the runs of characters that it has, by pairs, and lacks."""
    held, found = frozenset(terms(text)), dict[str, bool]()
    for word in asked_words(question):
        run = _INFLECTION.sub("", word)
        if not has_cjk(word) or len(run) == 1:
            found[run] = run in text if has_cjk(word) else held.issuperset(terms(word))
            continue
        pairs = (at for at in range(len(run) - 1) if run[at : at + 2] in text)
        had = {place for at in pairs for place in (at, at + 1)}
        for has, places in groupby(range(len(run)), had.__contains__):
            part = "".join(run[at] for at in places)
            if len(part) > 1:
                found[part] = has
    return found
