"""What each sentence of an answer rests on: the passages that came with it, or those of its marks.

Pure. A model with citations says which words a sentence rests on; elsewhere a mark only names the
page, and its passages are put in the order of how well they fit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.answers import Answer, Citation, Disagreement
from bot.reasoning.evidence import CitationDelta, TextDelta
from bot.research.marks import numbers_in, without_marks
from bot.research.outcomes import StreamOutcome
from bot.storage.traces import KeptPage
from bot.text.sentences import BlockKind, sentences
from bot.text.terms import keywords, terms

_WORD = re.compile(r"\w+")

# What was streamed, as words, and the citations that came with it.
_Block = tuple[str, tuple[CitationDelta, ...]]


@dataclass(frozen=True, slots=True)
class Quote:
    """A quoted passage. ``anchor`` is its place in the highlighted page; ``is_verbatim`` whether
    the stored page has these very words there, None where the page is gone."""

    anchor: str
    citation: Citation
    is_verbatim: bool | None


@dataclass(frozen=True, slots=True)
class TracedSentence:
    """A sentence of the answer and what it rests on, the passage that fits it best first.

    ``text`` is on one line, ``markdown`` as it was written; both are without marks.
    """

    text: str
    markdown: str
    kind: BlockKind
    numbers: tuple[int, ...]
    quotes: tuple[Quote, ...] = ()
    doubt: str = ""
    disagreement: Disagreement | None = None


def quotes_of(cited: Sequence[Citation], pages: Sequence[KeptPage]) -> tuple[Quote, ...]:
    """Each citation once, named by its number and its place among those of this number."""
    texts = {(page.url, page.hash): page.text for page in pages}
    counted: dict[int, int] = {}
    found: list[Quote] = []
    for one in cited:
        counted[one.number] = counted.get(one.number, 0) + 1
        text = texts.get((one.url, one.page_hash))
        verbatim = None if text is None else text[one.start : one.end] == one.quote
        found.append(Quote(f"q{one.number}-{counted[one.number]}", one, verbatim))
    return tuple(found)


def sentences_of(
    answer: Answer, quotes: Sequence[Quote], written: Sequence[StreamOutcome]
) -> tuple[TracedSentence, ...]:
    """The sentences of an answer; ``written`` is what a model streamed for it, with its citations,
    where that is still kept."""
    blocks = _cited_blocks(written)
    # The answer's text has a mark at each doubted sentence, which the doubt itself has not.
    doubts = {_words(one.sentence): one.reason for one in answer.doubts}
    others = {_words(one.sentence): one for one in answer.disagreements}
    found = []
    for sentence in sentences(answer.text):
        piece = answer.text[sentence.start : sentence.end]
        numbers = tuple(numbers_in(piece))
        claim = " ".join(without_marks(piece).split())
        of_marks = [quote for quote in quotes if quote.citation.number in numbers]
        found.append(
            TracedSentence(
                claim,
                without_marks(piece),
                sentence.kind,
                numbers,
                _best_first(claim, _cited_with(claim, of_marks, blocks), numbers),
                doubts.get(_words(claim), ""),
                others.get(_words(claim)),
            )
        )
    return tuple(found)


def _cited_blocks(written: Sequence[StreamOutcome]) -> list[_Block]:
    """The blocks of what was streamed, each with the citations that came with it."""
    found: list[_Block] = []
    for stream in written:
        text, cited = "", list[CitationDelta]()
        for delta in stream.deltas:
            if isinstance(delta, CitationDelta):
                cited.append(delta)
            elif isinstance(delta, TextDelta):
                if cited or delta.opens:
                    found.append((_words(text), tuple(cited)))
                    text, cited = "", []
                text += delta.text
        found.append((_words(text), tuple(cited)))
    return [block for block in found if block[0] and block[1]]


def _cited_with(claim: str, quotes: Sequence[Quote], blocks: Sequence[_Block]) -> list[Quote]:
    """Those of the passages that came with the claim itself, where that is known."""
    words = _words(claim)
    deltas = [
        delta
        for text, cited in blocks
        if words and (words in text or text in words)
        for delta in cited
    ]
    came = [
        quote
        for quote in quotes
        if any(
            delta.number == quote.citation.number
            and delta.start <= quote.citation.start
            and quote.citation.end <= delta.end
            for delta in deltas
        )
    ]
    known = {quote.citation.number for quote in came}
    return came + [quote for quote in quotes if quote.citation.number not in known]


def _words(text: str) -> str:
    """A text as it is compared: the check and the marks move spaces and punctuation."""
    return " ".join(_WORD.findall(without_marks(text)))


def _best_first(claim: str, quotes: Sequence[Quote], numbers: Sequence[int]) -> tuple[Quote, ...]:
    """By page in the order of the marks, then by how many of the claim's words a passage has."""
    words = set(keywords(claim))
    return tuple(
        sorted(
            quotes,
            key=lambda quote: (
                numbers.index(quote.citation.number),
                -len(words & set(terms(quote.citation.quote))),
                quote.citation.start,
            ),
        )
    )
