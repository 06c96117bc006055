"""The result of each paragraph of a report, and the report assembled from them.

A word diff (``difflib``) shows what happened to the words of a draft; the run's trace stores it
with draft and revision.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bot.core.texts import Texts
from bot.rendering.marks import without_marks
from bot.rendering.verbatim import as_words, inline
from bot.research.composer import CitedSpan, Written
from bot.text.facts import facts, missing_from
from bot.text.patterns import lazy_regex

ChangeKind = Literal["kept", "added", "removed"]
Fate = Literal["revised", "unsourced", "deleted"]

# A word with the space after it; Chinese and Japanese text, which has no spaces between words, is
# compared character by character.
_HAN_KANA = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = lazy_regex(rf"[{_HAN_KANA}]\s*|[^\s{_HAN_KANA}]+\s*|\s+")
_HEADINGS_FIRST = lazy_regex(r"\A\s*+(?:[ \t]*#{1,6}[ \t][^\n]*(?:\n+|\Z))+")
_QUOTE_FIRST = lazy_regex(r"\A\s*+(?:[ \t]*+>[^\n]*+(?:\n|\Z))++")
_QUOTE_MARK = lazy_regex(r"^[ \t]*>[ \t]?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Change:
    """A run of text that draft and revision share, or that is in only one of them."""

    kind: ChangeKind
    text: str


@dataclass(frozen=True, slots=True)
class Revision:
    """One paragraph's draft and revision, as stored in the run's trace.

    ``draft`` was written from the model's memory; ``revised`` is its replacement with footnote
    marks ("" if nothing was left); ``pages`` are the citation numbers of the pages used. ``reason``
    says why a paragraph stayed as drafted.
    """

    number: int
    heading: str
    draft: str
    fate: Fate
    queries: tuple[str, ...] = ()
    pages: tuple[int, ...] = ()
    revised: str = ""
    changes: tuple[Change, ...] = ()
    reason: str = ""

    @property
    def kept(self) -> float:
        """The share of the draft's characters kept in the revision, in order."""
        kept = sum(len(change.text) for change in self.changes if change.kind == "kept")
        return kept / len(self.draft) if self.draft else 0.0


def summary(revision: Revision, texts: Texts) -> str:
    name = revision.heading or texts("report-part", number=revision.number)
    kept = round(100 * revision.kept)
    return texts(f"report-{revision.fate}", name=name, pages=len(revision.pages), kept=kept)


def changes(draft: str, revised: str) -> tuple[Change, ...]:
    """Return the word diff from a draft to its revision (footnote marks are not words)."""
    old, new = _WORD.findall(draft), _WORD.findall(as_words(without_marks(revised)))
    found: list[Change] = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            found.append(Change("kept", "".join(old[a:b])))
            continue
        if b > a:
            found.append(Change("removed", "".join(old[a:b])))
        if d > c:
            found.append(Change("added", "".join(new[c:d])))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Section:
    """A finished part of a report: its heading, its text, and what it reports as not found.

    ``preface`` is the writer's remark above the heading, ``remark`` our own below the text.
    """

    heading: str
    body: Written
    fate: Fate
    limits: tuple[str, ...] = ()
    preface: str = ""
    remark: str = ""

    @property
    def text(self) -> str:
        """The section's text in the report; "" if nothing is left of it."""
        if not self.body.text:
            return ""
        text = f"{self._above}{self.body.text}"
        return f"{text}\n\n> {self.remark}" if self.remark else text

    @property
    def start(self) -> int:
        return len(self._above)

    @property
    def _above(self) -> str:
        preface = f"{self.preface}\n\n" if self.preface else ""
        return preface + under(self.heading, "")


def section(heading: str, written: Written, known: str = "") -> Section:
    """Convert a revised paragraph, drafted under ``heading``, to a section.

    The heading that the writer put before the text replaces the drafted one, unless that is "" (the
    opening has none). A heading that has figures or dates that are in neither the text nor
    ``known`` is left out. Block quotes are the writer's remarks: one before the text is put above
    the heading; one after it says what was not found, and is moved to the end of the report.
    """
    text = written.text
    first = _HEADINGS_FIRST.match(text)
    start = first.end() if first else 0
    own = text[:start].strip().rpartition("\n")[2].strip("#* \t")
    end = start + _quote_at_end(text[start:])
    limits = _QUOTE_MARK.sub("", text[end:]).strip()
    said = (" ".join(without_marks(limits).split()),) if limits else ()
    preface = _QUOTE_FIRST.match(text[start:end])
    body = _cut(written, start + preface.end() if preface else start, end)
    above = preface.group().strip() if preface else ""
    known = f"{known}\n{body.text}"
    heading = heading and (_borne_out(own, known) or _borne_out(heading, known))
    return Section(heading, body, "revised" if body.text else "deleted", said, above)


def _quote_at_end(text: str) -> int:
    """The start of the block quote that ends a text; the text's length if there is none."""
    start = len(text)
    end = len(text.rstrip())
    while end >= 0:
        line = text.rfind("\n", 0, end) + 1
        if not text[line:end].lstrip(" \t").startswith(">"):
            break
        start, end = max(line - 1, 0), line - 1
    return start


def _borne_out(heading: str, known: str) -> str:
    """Return a heading, or "" if it has figures or dates that are not in ``known``: a
    heading has no footnote with which they could be checked."""
    claims = [fact for fact in facts(heading) if fact.kind != "name"]
    return "" if missing_from(claims, known) else heading


def under(heading: str, text: str) -> str:
    return f"## {inline(heading)}\n\n{text}" if heading else text


def joined(sections: Sequence[Section], ending: str = "") -> Written:
    """Join all sections that have text to one written answer."""
    text = ""
    spans: list[CitedSpan] = []
    for one in sections:
        if not one.text:
            continue
        text += "\n\n" if text else ""
        shift = len(text) + one.start
        text += one.text
        spans += (replace(s, start=s.start + shift, end=s.end + shift) for s in one.body.spans)
    if ending:
        text += f"\n\n{ending}" if text else ending
    suggested = sections[-1].body.suggested if sections else ()
    remarks = "\n".join((*(f"> {one.remark}" for one in sections if one.remark), ending))
    return Written(text, tuple(spans), suggested=suggested, remarks=remarks)


def _cut(written: Written, start: int, end: int) -> Written:
    """Return ``written`` from ``start`` to ``end``, without surrounding space."""
    piece = written.text[start:end]
    start += len(piece) - len(piece.lstrip())
    end -= len(piece) - len(piece.rstrip())
    if end <= start:
        return Written("", ())
    kept = tuple(
        replace(s, start=max(s.start, start) - start, end=min(s.end, end) - start)
        for s in written.spans
        if s.start < end and start < s.end
    )
    return replace(written, text=written.text[start:end], spans=kept)
