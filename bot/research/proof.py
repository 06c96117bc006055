"""Selects the words of a cited passage that support the sentences citing it.

A passage is one to four sentences, or a group of list items or table rows; a claim seldom rests on
all of them. Only its sentences with the claim's figures, dates, names and rarer words are shown,
never those that give orders to the reader (``bot.text.orders``). Results are spans of the passage,
so that quotes stay verbatim. Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from bot.core.messages import Span
from bot.text.facts import Fact, facts, measure_at, missing_from
from bot.text.language import detect
from bot.text.names import NamesIn
from bot.text.orders import is_order
from bot.text.sentences import BlockKind, Sentence, sentences
from bot.text.struck import without_struck
from bot.text.terms import has_cjk, keywords, terms

MOST = 4  # sentences, items, rows or lines of a passage shown for one claim
_QUOTED = 0.8  # share of a claim's characters in the passage, from which it is a quote
_FACT = 2.0  # weight of a figure, date or name relative to a word
_WORTH = 1.0  # weight another sentence must add to be shown besides the first
_FRESH = 0.25  # weighted share of a claim's words that it must add if it adds no fact

_WORD = re.compile(r"\w+")
_LINE = re.compile(r"[^\n]+")
_FENCE_LINE = re.compile(r"\s*(?:`{3,}|~{3,})")
_RULER = re.compile(r"\|[\s|:-]*")  # the line between the head of a table and its rows


@dataclass(frozen=True, slots=True)
class Proof:
    """The ``spans`` of a passage to show, in order, and the spans ``shared`` with the claims; none
    are shared if no sentence of the passage stands out."""

    spans: tuple[Span, ...]
    shared: tuple[Span, ...] = ()


def proof(quote: str, claims: Iterable[str]) -> Proof:
    """Return the part of a passage to show for the sentences that cite it, given without marks."""
    return proofs([quote], [(claim, (0,)) for claim in claims])[0]


def proofs(quotes: Sequence[str], claims: Iterable[tuple[str, Sequence[int]]]) -> tuple[Proof, ...]:
    """Return the part to show of each of several cited passages; ``claims`` are sentences, each
    with the indexes of the passages of one page that it cites.

    Of passages cited together, those that add nothing are not shown. A whole passage, without
    orders, is shown if no cited sentence has anything in common with the claim (they may be in two
    languages), and if there is no claim.
    """
    passages = [_Passage(quote) for quote in quotes]
    spared: set[int] = set()  # passages cited besides one that supports the claim
    for claim, cited in claims:
        pool = [(number, place) for number in cited for place in passages[number].places]
        looked_for = _Claim(claim, [passages[number].honest[place] for number, place in pool])
        chosen = list(looked_for.chosen())
        spared.update(cited if chosen else ())
        for at in chosen:
            number, place = pool[at]
            passages[number].chosen.setdefault(place, []).extend(looked_for.shared(at))
    return tuple(
        passage.proof(is_spared=number in spared) for number, passage in enumerate(passages)
    )


# ---------------------------------------------------------------- the passage


@dataclass(frozen=True, slots=True)
class _Part:
    """A sentence, list item, table row or line of code: ``text`` at ``start`` in the passage."""

    start: int
    text: str
    kind: BlockKind
    words: frozenset[str]
    compared: str

    @property
    def span(self) -> Span:
        return self.start, self.start + len(self.text)


class _Passage:
    """A cited passage; ``honest`` are its parts without orders, ``chosen`` maps the indexes of the
    parts to show to the spans they share with the claims."""

    def __init__(self, quote: str) -> None:
        self.quote = quote
        self.parts = list(_parts(quote))
        self.honest = [part for part in self.parts if not is_order(part.text)]
        self.chosen: dict[int, list[Span]] = {}

    @property
    def places(self) -> range:
        return range(len(self.honest))

    def proof(self, *, is_spared: bool) -> Proof:
        """Return the spans to show; none of a spared passage without chosen parts."""
        shared = (span for found in self.chosen.values() for span in found)
        if self.chosen:
            shown: Sequence[int] = sorted({*self.chosen, *_heads(self.honest, self.chosen)})
        else:
            shown = () if is_spared else self.places
        if len(shown) == len(self.parts) > 0:
            return Proof(((0, len(self.quote)),), _merged(self.quote, shared))
        spans = [self.honest[place].span for place in shown]
        if not self.chosen and not is_spared:
            spans = list(_untouched(self.quote, self.parts, self.honest))
        return Proof(_joined(self.quote, spans), _merged(self.quote, shared))


def _parts(quote: str) -> Iterator[_Part]:
    for sentence in sentences(quote):
        for start, end in _lines(quote, sentence):
            text = quote[start:end]
            yield _Part(start, text, sentence.kind, frozenset(terms(text)), as_compared(text))


def _untouched(quote: str, parts: Sequence[_Part], honest: Sequence[_Part]) -> Iterator[Span]:
    """Yield the spans of honest parts, except those following an order on the same line, which have
    the same author."""
    touched = 0  # the end of that line
    for part in parts:
        if part not in honest:
            line_end = quote.find("\n", part.span[1])
            touched = len(quote) if line_end < 0 else line_end
        elif part.start >= touched:
            yield part.span


def _lines(quote: str, sentence: Sentence) -> Iterator[Span]:
    """Yield the span of a sentence; for code, the spans of its lines without the fence."""
    if sentence.kind != "code":
        yield sentence.start, sentence.end
        return
    for line in _LINE.finditer(quote, sentence.start, sentence.end):
        if line.group().strip() and not _FENCE_LINE.match(line.group()):
            yield line.span()


def _heads(parts: Sequence[_Part], chosen: Iterable[int]) -> Iterator[int]:
    """Yield the header of each table that has a chosen row, if the passage contains it."""
    for place in chosen:
        first = place
        while first and parts[first].kind == parts[first - 1].kind == "row":
            first -= 1
        following = parts[first + 1 : first + 2]
        if parts[first].kind == "row" and any(_RULER.fullmatch(each.text) for each in following):
            yield from (first, first + 1)


def _joined(quote: str, spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return spans in order, joined if only white space is between them."""
    joined: list[Span] = []
    for start, end in spans:
        if joined and not quote[joined[-1][1] : start].strip():
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return tuple(joined)


def _merged(quote: str, spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return spans in order, merged if they overlap or only a space is between them."""
    merged: list[Span] = []
    for start, end in sorted(set(spans)):
        if merged and (start <= merged[-1][1] or quote[merged[-1][1] : start] == " "):
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return tuple(merged)


# ---------------------------------------------------------------- a claim


class _Claim:
    """A sentence of an answer, compared with the parts of a passage."""

    def __init__(self, claim: str, parts: Sequence[_Part]) -> None:
        self._parts = parts
        self._said = as_compared(claim)
        self._facts = _facts(claim)
        words = frozenset(keywords(claim))
        self._words = [words & part.words for part in parts]
        self._borne = [
            frozenset(n for n, fact in enumerate(self._facts) if _has(part.text, fact))
            for part in parts
        ]
        # Words in every part of a passage do not show which part a claim rests on.
        in_words = Counter(word for found in self._words for word in found)
        in_facts = Counter(fact for found in self._borne for fact in found)
        self._of_word = {word: 1 / count for word, count in in_words.items()}
        self._of_fact = {fact: _FACT / count for fact, count in in_facts.items()}

    def chosen(self) -> Iterator[int]:
        """Yield the indexes of the parts that support the claim, best first; for a verbatim claim,
        all of its parts."""
        said = [place for place, part in enumerate(self._parts) if part.compared in self._said]
        length = sum(len(self._parts[place].compared) - 1 for place in said)
        if length >= _QUOTED * len(self._said):
            yield from said
            return
        words: frozenset[str] = frozenset()
        borne: frozenset[int] = frozenset()
        left = set(range(len(self._parts)))
        whole = sum(self._of_word.values())
        for count in range(MOST):
            gains = {place: self._gain(place, words, borne) for place in left}
            best = max(gains, key=lambda place: (gains[place], -place), default=-1)
            if best < 0 or gains[best] <= 0:
                return
            fresh = sum(self._of_word[word] for word in self._words[best] - words)
            if count and not self._borne[best] - borne and fresh < max(_WORTH, _FRESH * whole):
                return
            yield best
            left.discard(best)
            words |= self._words[best]
            borne |= self._borne[best]

    def _gain(self, place: int, words: frozenset[str], borne: frozenset[int]) -> float:
        return sum(self._of_fact[fact] for fact in self._borne[place] - borne) + sum(
            self._of_word[word] for word in self._words[place] - words
        )

    def shared(self, place: int) -> list[Span]:
        """The spans of the claim's facts in a part, or of its words if they share no facts."""
        part = self._parts[place]
        borne = [self._facts[number] for number in sorted(self._borne[place])]
        found = [span for fact in borne for span in _places(part.text, fact)]
        found = found or list(_places_of_words(part.text, self._words[place]))
        return [(part.start + start, part.start + end) for start, end in found]


def as_compared(text: str) -> str:
    """Return the words of a text that hold, for comparison, with a space around each."""
    return f" {' '.join(_WORD.findall(without_struck(text)))} "


def _has(text: str, fact: Fact) -> bool:
    """Return True if a text states a fact itself; False if they cannot be compared because of
    another script or language."""
    if fact.kind == "name":
        if has_cjk(fact.text) != has_cjk(text):
            return False
        return _names(text).bear_out(fact.values, fact.text)
    is_word = not any(character.isnumeric() for character in fact.text)
    if is_word and fact.kind == "figure" and fact.language != detect(text):
        return False
    return not missing_from([fact], text)


def _places(text: str, fact: Fact) -> Iterator[Span]:
    """Yield the spans of a fact in a text, figures with their unit."""
    is_name = fact.kind == "name"  # a figure may be taken for a year
    written = [other.text for other in _facts(text) if (other.kind == "name") == is_name]
    same = [fact.text, *(other for other in written if other != fact.text and _has(other, fact))]
    for other in same:
        pattern = rf"(?<![A-Za-z0-9]){re.escape(other)}(?![A-Za-z0-9])"
        for match in re.finditer(pattern, text):
            start, end = match.span()
            measure = measure_at(text, start, end) if fact.kind == "figure" else None
            if measure and not any(c.isdecimal() for c in text[end : measure.end]):  # no range
                end = max(end, measure.end)
            yield start, end


@lru_cache(maxsize=1024)
def _facts(text: str) -> Sequence[Fact]:
    return facts(text)


@lru_cache(maxsize=1024)
def _names(text: str) -> NamesIn:
    return NamesIn(text)


def _places_of_words(text: str, words: frozenset[str]) -> Iterator[Span]:
    return (span for span, there in _placed_words(text) if not words.isdisjoint(there))


@lru_cache(maxsize=1024)
def _placed_words(text: str) -> Sequence[tuple[Span, Sequence[str]]]:
    """The terms of each word of a text, with its span; of CJK words, their bigrams."""
    found: list[tuple[Span, Sequence[str]]] = []
    for match in _WORD.finditer(text):
        token, start = match.group(), match.start()
        if has_cjk(token):
            for at in range(len(token) - 1):
                found.append(((start + at, start + at + 2), (token[at : at + 2],)))
        else:
            found.append((match.span(), terms(token)))
    return found
