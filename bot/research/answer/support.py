"""Quotes of an answer: the passages each sentence cites, and their places in pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.core.messages import Answer, Citation, Disagreement
from bot.reasoning.evidence import CitationDelta, TextDelta
from bot.rendering.marks import numbers_in, without_marks
from bot.rendering.verbatim import as_words
from bot.research.outcomes import StreamOutcome
from bot.storage.archive import KeptPage
from bot.text.sentences import BlockKind, Sentence, sentences
from bot.text.terms import keywords, terms

_WORD = re.compile(r"\w+")
_EMPTY_LINE = re.compile(r"\n[ \t]*\n")

# Streamed text, as words, and the citations streamed with it.
_Block = tuple[str, tuple[CitationDelta, ...]]


@dataclass(frozen=True, slots=True)
class Quote:
    """A quoted passage. ``anchor`` is its place in the highlighted page; ``is_verbatim`` is True if
    the stored page has exactly these words there, None if the page is gone."""

    anchor: str
    citation: Citation
    is_verbatim: bool | None


@dataclass(frozen=True, slots=True)
class Quoted:
    """The place of a quote in a page, ``text[start:end]``, and its anchor name; without one it is
    highlighted but cannot be linked to."""

    anchor: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TracedSentence:
    """A sentence of the answer and its passages, best first.

    ``text`` is on one line, without escapes, ``markdown`` as it was written; both without marks.
    """

    text: str
    markdown: str
    kind: BlockKind
    numbers: tuple[int, ...]
    quotes: tuple[Quote, ...] = ()
    doubt: str = ""
    disagreement: Disagreement | None = None


def quotes_of(cited: Sequence[Citation], pages: Sequence[KeptPage]) -> tuple[Quote, ...]:
    """Return one quote per citation, named by its number and its position among those with this
    number."""
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
    """Return the sentences of an answer; ``written`` is a model's streamed
    text with its citations, if still stored.

    A sentence without a mark may belong to a run of sentences with its mark at the end.
    """
    blocks = _cited_blocks(written)
    # Doubted sentences have a mark in the answer's text, but not in the doubt itself.
    doubts = {_words(one.sentence): one.reason for one in answer.doubts}
    others = {_words(one.sentence): one for one in answer.disagreements}
    restated = answer.verification.sentences if answer.verification else ()
    first = {_words(each.now): each.sentence for each in restated if each.now}
    text, found = answer.text, sentences(answer.text)
    traced = []
    for place, sentence in enumerate(found):
        piece = text[sentence.start : sentence.end]
        own = tuple(numbers_in(piece))
        markdown = without_marks(piece)
        claim = " ".join(as_words(markdown).split())
        numbers = own or _numbers_of_run(text, found, place)
        of_marks = [quote for quote in quotes if quote.citation.number in numbers]
        came = _came_with(first.get(_words(claim), claim), of_marks, blocks)
        if own:
            known = {quote.citation.number for quote in came}
            came += [quote for quote in of_marks if quote.citation.number not in known]
        else:
            came = came or [each for each in of_marks if _stands_in(claim, each.citation.quote)]
            numbers = tuple(dict.fromkeys(quote.citation.number for quote in came))
        traced.append(
            TracedSentence(
                claim,
                markdown,
                sentence.kind,
                numbers,
                _best_first(claim, came, numbers),
                doubts.get(_words(claim), ""),
                others.get(_words(claim)),
            )
        )
    return tuple(traced)


def _numbers_of_run(text: str, found: Sequence[Sentence], place: int) -> tuple[int, ...]:
    """Return the numbers of the next marks in the same paragraph or table; for code, those below it
    or in its lead-in."""
    sentence = found[place]
    if sentence.kind == "code" and place and (before := numbers_in(_piece(text, found[place - 1]))):
        return tuple(before)
    end = sentence.end
    for later in found[place + 1 :]:
        if _EMPTY_LINE.search(text, end, later.start):
            break
        if numbers := numbers_in(_piece(text, later)):
            return tuple(numbers)
        end = later.end
    return ()


def _piece(text: str, sentence: Sentence) -> str:
    return text[sentence.start : sentence.end]


def _cited_blocks(written: Sequence[StreamOutcome]) -> list[_Block]:
    """Return the streamed blocks, each with its citations."""
    found: list[_Block] = []
    for stream in written:
        text, cited = "", list[CitationDelta]()
        for delta in stream.deltas:
            if isinstance(delta, CitationDelta):
                cited.append(delta)
            elif isinstance(delta, TextDelta):
                if cited or delta.opens:
                    found.append((_words(without_marks(text)), tuple(cited)))
                    text, cited = "", []
                text += delta.text
        found.append((_words(without_marks(text)), tuple(cited)))
    return [block for block in found if block[0] and block[1]]


def _came_with(claim: str, quotes: Sequence[Quote], blocks: Sequence[_Block]) -> list[Quote]:
    """Return the passages streamed with the claim itself, if known."""
    words = _words(claim)
    deltas = [
        delta
        for text, cited in blocks
        if words and (words in text or text in words)
        for delta in cited
    ]
    return [
        quote
        for quote in quotes
        if any(
            delta.start <= quote.citation.start and quote.citation.end <= delta.end
            for delta in deltas
        )
    ]


def _stands_in(claim: str, quote: str) -> bool:
    words = _words(claim)
    return bool(words) and f" {words} " in f" {_words(quote)} "


def _words(text: str) -> str:
    """Return a text for comparison: the check and the marks move spaces and punctuation."""
    return " ".join(_WORD.findall(text))


def _best_first(claim: str, quotes: Sequence[Quote], numbers: Sequence[int]) -> tuple[Quote, ...]:
    """Sort quotes by page in the order of the marks, then by their number of words of the claim."""
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
