"""The value of a checked answer, and the footnotes for cited passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.core.messages import Citation, Disagreement, Doubt
from bot.pages.passages import Passage
from bot.reasoning.evidence import CitationDelta, Claim, Source


@dataclass(frozen=True, slots=True)
class Checked:
    """The answer as shown, its citations in order of first use, and its doubts; ``claims`` are
    the sentences to verify: the first that states something, cited or not, and all that are
    cited."""

    text: str
    citations: tuple[Citation, ...]
    doubts: tuple[Doubt, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    claims: tuple[Claim, ...] = ()


def within(passages: Sequence[Passage], delta: CitationDelta) -> list[Passage]:
    """Return the passages that a citation covers, or the cited part of a single passage."""
    covered = [p for p in passages if delta.start <= p.start and p.end <= delta.end]
    if covered or delta.start >= delta.end:
        return covered
    for passage in passages:
        if passage.start <= delta.start and delta.end <= passage.end:
            words = passage.text[delta.start - passage.start : delta.end - passage.start]
            return [replace(passage, start=delta.start, end=delta.end, text=words)]
    return []


def citation(source: Source, passage: Passage) -> Citation:
    """Return the footnote for a passage."""
    return Citation(
        number=source.number,
        url=source.url,
        title=source.title,
        quote=passage.text,
        page_hash=source.page_hash,
        start=passage.start,
        end=passage.end,
        heading=passage.heading,
        via=source.via,
    )
