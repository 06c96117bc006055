"""Quotes a passage whole: with what continues it, or cut around the question's words if it is long.

A passage is a piece of a page of about 70 words, so a paragraph, list or table is often several.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bot.pages.passages import HEADING_SEPARATOR, Passage
from bot.reasoning.evidence import Source
from bot.text.orders import is_order
from bot.text.sentences import Sentence, sentences
from bot.text.terms import has_cjk, terms

LONGEST = 90  # words
CJK_CHARACTERS = 1.7  # counted as one word
BETWEEN = 8  # characters between passages that can be quoted together

_WORD = re.compile(r"(?<!\S)[^\w\s]*+\w\S*+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LINE_BEGINS = re.compile(r"[ \t]*(?:\||[-*+•‣◦][ \t]|\d{1,3}[.)][ \t]|`{3}|~{3})")
_DIVIDER = re.compile(r"[ \t]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The words quoted, the passages that they are from, and their spans in the page."""

    text: str
    passages: tuple[Passage, ...]
    spans: tuple[tuple[int, int], ...]


def count_words(text: str) -> int:
    """Count words; in Chinese, Japanese and Korean, ``CJK_CHARACTERS`` characters count as one."""
    if not has_cjk(text):
        return len(_WORD.findall(text))
    others = _WORD.findall("".join(" " if has_cjk(mark) else mark for mark in text))
    return round(sum(map(has_cjk, text)) / CJK_CHARACTERS) + len(others)


def excerpt(
    source: Source,
    place: int,
    weights: Mapping[str, float],
    room: int,
    taken: Collection[str] = (),
) -> Excerpt:
    """Return the passage at a place, in at most about ``LONGEST`` words, or ``room`` if less, with
    what continues it except passages already ``taken``."""
    most = min(LONGEST, room)
    passage = source.passages[place]
    if count_words(passage.text) > most:
        return _cut(passage, weights, most)
    first = last = place
    spent = count_words(passage.text)
    while True:
        grown = next(
            (
                at
                for at, before, after in ((last + 1, last, last + 1), (first - 1, first - 1, first))
                if 0 <= at < len(source.passages)
                and source.passages[at].text not in taken
                and _goes_on(source.passages[before], source.passages[after])
                and spent + count_words(source.passages[at].text) <= most
            ),
            None,
        )
        if grown is None:
            break
        spent += count_words(source.passages[grown].text)
        first, last = min(first, grown), max(last, grown)
    kept = source.passages[first : last + 1]
    return Excerpt(_joined(kept), kept, tuple((each.start, each.end) for each in kept))


def _goes_on(one: Passage, other: Passage) -> bool:
    """Return True if a passage continues another in the same section."""
    if other.start - one.end > BETWEEN or _has_orders(one) or _has_orders(other):
        return False
    above, below = sorted((f"{each.heading}{HEADING_SEPARATOR}" for each in (one, other)), key=len)
    return below.startswith(above)


def _has_orders(passage: Passage) -> bool:
    return any(is_order(passage.text[s.start : s.end]) for s in sentences(passage.text))


def _joined(passages: Sequence[Passage]) -> str:
    text = _fenced(passages[0])
    for before, passage in pairwise(passages):
        is_line = _LINE_BEGINS.match(passage.text) is not None
        space = " " if passage.start - before.end < 2 else "\n\n"
        text += ("\n" if is_line and space == " " else space) + _fenced(passage)
    return text


def _fenced(passage: Passage) -> str:
    return f"```\n{passage.text}" if passage.in_code else passage.text


# ---------------------------------------------------------------- long passages


def _cut(passage: Passage, weights: Mapping[str, float], most: int) -> Excerpt:
    """Return consecutive sentences, items, rows or lines around the ones closest to the question;
    rows below the table's head if the passage has it."""
    parts = [part for each in sentences(passage.text) for part in _lines(passage, each)]
    rated = [_rate(passage.text[part.start : part.end], weights) for part in parts]
    sizes = [count_words(passage.text[part.start : part.end]) for part in parts]
    first = last = max(range(len(parts)), key=lambda at: (rated[at], -at))
    spent = sizes[first]
    while True:
        sides = [at for at in (last + 1, first - 1) if 0 <= at < len(parts)]
        sides = [at for at in sides if spent + sizes[at] <= most]
        if not sides:
            break
        at = max(sides, key=lambda at: rated[at])
        spent += sizes[at]
        first, last = min(first, at), max(last, at)
    start, end = parts[first].start, parts[last].end
    text = passage.text[start:end]
    spans = [(passage.start + start, passage.start + end)]
    if parts[first].kind == "code" and not _FENCE.match(text):
        text = f"```\n{text}"
    top = _head(passage.text, parts) if parts[first].kind == "row" else 0
    if first and 0 < top <= start:
        text = f"{passage.text[parts[0].start : top]}\n{text}"
        spans.insert(0, (passage.start + parts[0].start, passage.start + top))
    return Excerpt(text, (passage,), tuple(spans))


def _lines(passage: Passage, part: Sentence) -> list[Sentence]:
    """Return a sentence as it is, and code as its lines."""
    if not (passage.in_code or part.kind == "code"):
        return [part]
    found, at = [], part.start
    for line in passage.text[part.start : part.end].split("\n"):
        found.append(Sentence(at, at + len(line), "code"))
        at += len(line) + 1
    return found


def _rate(text: str, weights: Mapping[str, float]) -> float:
    if is_order(text):
        return -1.0
    return sum(weights.get(term, 0.0) for term in set(terms(text)))


def _head(text: str, parts: Sequence[Sentence]) -> int:
    """Return the end of the head that a table begins with; 0 if there is none."""
    heads = parts[1:2]
    return next((p.end for p in heads if _DIVIDER.fullmatch(text[p.start : p.end])), 0)
