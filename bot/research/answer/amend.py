"""Amends a written answer: restates or drops sentences, and keeps the footnotes in order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from bot.reasoning.evidence import CitationDelta
from bot.rendering.marks import as_marks, numbers_in, without_marks
from bot.rendering.verbatim import as_words
from bot.research.answer.write import CitedSpan, Written, at_tail, unsourced
from bot.text.sentences import Sentence, blocks, sentences, sentences_of

_ITEM = re.compile(r"[ \t]*(?:[-*+•‣◦]|\d{1,3}[.)])[ \t]+")
_RUNNING = ("paragraph", "item")

Added = Mapping[str, Sequence[CitationDelta]]
"""Citations that sentences get besides their own, by ``claim_of``."""


@dataclass(frozen=True, slots=True)
class _Edit:
    """A replacement of ``text[start:end]`` by ``new``."""

    start: int
    end: int
    new: str


def claim_of(piece: str) -> str:
    """Return a sentence as ``check`` names it: on one line, without marks and escapes."""
    return " ".join(as_words(without_marks(piece)).split())


def as_restated(claim: str, new: str) -> str:
    """Return the text of a claim after rewording; "" if nothing is left of it."""
    words = _words(new)
    return claim_of(_item_mark(claim) + words) if words else ""


def restatable(written: Written) -> frozenset[str]:
    """Return the sentences that can be reworded: those of running text and lists."""
    text = written.text
    return frozenset(
        claim_of(text[sentence.start : sentence.end])
        for block in blocks(text)
        if block.kind in _RUNNING
        for sentence in sentences_of(text, block)
    )


def amended(
    written: Written, changes: Mapping[str, str], added: Added = MappingProxyType({})
) -> Written:
    """Return the answer with sentences changed, by ``claim_of``; "" drops a sentence.

    A replacement keeps the citations of its original sentence, besides those ``added`` to it. A
    footnote shared by several sentences stays with those that are left.
    """
    text = written.text
    edits: list[_Edit] = []
    for block in blocks(text):
        found = list(sentences_of(text, block))
        news = [changes.get(claim_of(text[each.start : each.end])) for each in found]
        if found and all(new == "" for new in news):
            edits.append(_whole_lines(text, found[0].start, found[-1].end, edits))
        elif any(new is not None for new in news):
            edits += _edits(written, found, news, added)
    if not edits:
        return written
    out, end = "", 0
    for edit in edits:
        out += written.text[end : edit.start] + edit.new
        end = edit.end
    return replace(
        written,
        text=out + written.text[end:],
        spans=tuple(_moved_spans(_cited_more(written, changes, added), edits)),
    )


def _edits(
    written: Written, found: Sequence[Sentence], news: Sequence[str | None], added: Added
) -> list[_Edit]:
    """Return the edits of one remaining block, in order and without overlaps."""
    text = written.text
    pieces = [text[each.start : each.end] for each in found]
    kept = [place for place, new in enumerate(news) if new != ""]
    now = list(pieces)
    for place, new in enumerate(news):
        if new:
            more = [each.number for each in added.get(claim_of(pieces[place]), ())]
            own = _numbers(written, found[place]) if more else numbers_in(pieces[place])
            now[place] = _restated(pieces[place], new, (*own, *more))
    for place, new in enumerate(news):
        if new == "" or (new and added.get(claim_of(pieces[place]))):
            _hand_on_marks(written, found, now, [k for k in kept if k < place], place)
    edits = [
        _Edit(found[place].start, found[place].end, now[place])
        for place in kept
        if now[place] != pieces[place]
    ]
    for place, new in enumerate(news):
        if new == "" and place < kept[-1]:
            begin = found[place].start + len(_item_mark(pieces[place]))
            edits.append(_Edit(begin, found[place + 1].start, ""))
    if kept[-1] < len(found) - 1:
        edits.append(_Edit(found[kept[-1]].end, found[-1].end, ""))
    return sorted(edits, key=lambda edit: edit.start)


def _restated(piece: str, new: str, numbers: Sequence[int]) -> str:
    words = _words(new)
    return _item_mark(piece) + (at_tail(words, as_marks(numbers)) if numbers else words)


def _words(new: str) -> str:
    """Return a model's sentence as running text on one line, without marks and links."""
    words = " ".join(unsourced(new).split())
    words = words[len(_item_mark(words)) :]
    return words if any(char.isalnum() for char in words) else ""


def _item_mark(piece: str) -> str:
    found = _ITEM.match(piece)
    return found.group() if found else ""


def _hand_on_marks(
    written: Written,
    found: Sequence[Sentence],
    now: list[str],
    before: Sequence[int],
    place: int,
) -> None:
    """Give the marks of a sentence that is dropped, or that gets others, to the one before it, if
    they covered both."""
    cited = _citations(written, found[place])
    if not before or not cited:
        return
    last = before[-1]
    if _citations(written, found[last]) == cited and not numbers_in(now[last]):
        now[last] = at_tail(now[last], as_marks(_numbers(written, found[place])))


def _citations(written: Written, sentence: Sentence) -> list[CitationDelta]:
    spans = (span for span in written.spans if span.overlaps(sentence))
    return list(dict.fromkeys(cited for span in spans for cited in span.citations))


def _numbers(written: Written, sentence: Sentence) -> list[int]:
    """Return the numbers of a sentence's marks, and of its citations if its mark comes later."""
    own = numbers_in(written.text[sentence.start : sentence.end])
    return list(dict.fromkeys([*own, *(each.number for each in _citations(written, sentence))]))


def _whole_lines(text: str, start: int, end: int, edits: list[_Edit]) -> _Edit:
    """Remove whole lines and one of the empty lines around them, merged with the last of the
    ``edits`` if that removed the lines right above."""
    start = text.rfind("\n", 0, start) + 1
    if edits and edits[-1].end == start:
        start = edits.pop().start
    line_end = text.find("\n", end)
    end = len(text) if line_end < 0 else line_end + 1
    if not text[:start].strip() or text[:start].endswith("\n\n"):
        while text[end : end + 1] == "\n":
            end += 1
    return _Edit(start, end, "")


# ---------------------------------------------------------------- spans


def _cited_more(
    written: Written, changes: Mapping[str, str], added: Added
) -> tuple[CitedSpan, ...]:
    """Return the spans of an answer with the citations that are added to sentences. Where marks are
    typed there are no spans: the mark alone says what is cited."""
    spans = list(written.spans)
    if not spans or not added:
        return written.spans
    text = written.text
    for sentence in sentences(text):
        claim = claim_of(text[sentence.start : sentence.end])
        more = added.get(claim, ()) if changes.get(claim) else ()
        there = [place for place, span in enumerate(spans) if span.overlaps(sentence)]
        if more and there:
            last = spans[there[-1]]
            spans[there[-1]] = replace(last, citations=(*last.citations, *more))
        elif more:
            spans.append(CitedSpan(sentence.start, sentence.end, tuple(more)))
    return tuple(sorted(spans, key=lambda span: span.start))


def _moved_spans(spans: Sequence[CitedSpan], edits: Sequence[_Edit]) -> list[CitedSpan]:
    moved = []
    for span in spans:
        start = _moved(span.start, edits, to_end=False)
        end = _moved(span.end, edits, to_end=True)
        if start < end:
            moved.append(replace(span, start=start, end=end))
    return moved


def _moved(at: int, edits: Sequence[_Edit], *, to_end: bool) -> int:
    """Return a position after the edits; a position inside an edit moves to its end or start."""
    shift = 0
    for edit in edits:
        if at >= edit.end and at > edit.start:
            shift += len(edit.new) - (edit.end - edit.start)
        elif at > edit.start:
            return edit.start + shift + (len(edit.new) if to_end else 0)
        else:
            break
    return at + shift
