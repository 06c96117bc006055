"""Writing: evidence as ``search_result`` blocks, and the stream back as deltas with citations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from bot.reasoning.claude.messages import (
    CACHED,
    Block,
    findings_lines,
    headings_of,
    page_element,
    shown_address,
    today,
)
from bot.reasoning.claude.text import (
    clean,
    element,
    line,
    middle_out,
    passage_lines,
)
from bot.reasoning.evidence import CitationDelta, Evidence, Source, TextDelta
from bot.reasoning.prompts import load
from bot.reasoning.questions import Rewritten
from bot.text.terms import keywords

if TYPE_CHECKING:
    from anthropic.types import CitationsSearchResultLocation, RawMessageStreamEvent

QUESTION = 8_000  # characters
TRIED = 30  # queries that the writer is told of
EARLIER = 8_000  # characters of an answer that is to be reworked
NOTE = 500  # characters
SHORTENED = "Part of the passages had to be left out, because there were too many for one answer."


# Footnotes of another run, whose numbers mean nothing here, and the sign of a doubt.
_OURS = re.compile(r" ?(?:\[\d{1,4}\]|⚠)")


@dataclass(frozen=True, slots=True)
class Writing:
    """One answer to be written. Shown passages only: a citation is an index into them."""

    question: Rewritten
    sources: tuple[Source, ...]
    evidence: Evidence
    instructions: str
    now: datetime

    prompt: ClassVar[str] = "write"

    @classmethod
    def of(
        cls, question: Rewritten, evidence: Evidence, instructions: str, now: datetime
    ) -> Writing:
        shown = (
            replace(s, passages=tuple(p for p in s.passages if clean(p.text).strip()))
            for s in evidence.sources
        )
        sources = tuple(source for source in shown if source.passages)
        return cls(question, sources, evidence, instructions, now)

    def halved(self) -> Writing | None:
        """With half the passages: pages that no finding names go first, then each one's end.

        None when there is nothing left to take away.
        """
        named = {n for finding in self.evidence.findings for n in finding.sources}
        relevant = tuple(source for source in self.sources if source.number in named)
        if relevant and len(relevant) < len(self.sources):
            kept = relevant
        elif any(len(source.passages) > 1 for source in self.sources):
            kept = tuple(
                replace(source, passages=source.passages[: -(-len(source.passages) // 2)])
                for source in self.sources
            )
        elif len(self.sources) > 1:
            kept = self.sources[: -(-len(self.sources) // 2)]
        else:
            return None
        notes = tuple(dict.fromkeys((*self.evidence.notes, SHORTENED)))
        return replace(self, sources=kept, evidence=replace(self.evidence, notes=notes))

    # ------------------------------------------------------------ the request

    def request(self, model: str, max_tokens: int) -> dict[str, Any]:
        """With search results, for endpoints that cite by themselves."""
        blocks: list[Block] = [_search_result(source) for source in self.sources]
        return self._request(model, max_tokens, "write_blocks", blocks)

    def plain_request(self, model: str, max_tokens: int) -> dict[str, Any]:
        """With the passages as text, for endpoints that have to be asked for marks."""
        pages = "\n\n".join(page_element(s, passage_lines(s.passages)) for s in self.sources)
        blocks: list[Block] = [{"type": "text", "text": pages}] if pages else []
        return self._request(model, max_tokens, "write_marks", blocks)

    def _request(
        self, model: str, max_tokens: int, citing: str, blocks: list[Block]
    ) -> dict[str, Any]:
        system = load(self.prompt, citing=load(citing))
        return {
            "model": model,
            "max_tokens": max_tokens,
            "system": [{"type": "text", "text": system, "cache_control": CACHED}],
            "messages": [
                {
                    "role": "user",
                    "content": [*self._opening(), *blocks, {"type": "text", "text": self._task()}],
                }
            ],
        }

    def _opening(self) -> list[Block]:
        """The text before the passages."""
        return []

    def _task(self) -> str:
        asked = clean(middle_out(self.question.question, QUESTION)).strip()
        parts = [today(self.now), element("question", asked, language=self.question.language)]
        titles = {s.number: line(s.title or s.url, 120) for s in self.sources}
        if self.evidence.findings:
            findings = findings_lines(self.evidence.findings, titles)
            parts.append(element("findings", findings))
        missing = [*self.evidence.missing]
        if not self.evidence.enough and not missing and self.evidence.findings:
            missing.append("The research ended before everything was proven.")
        if missing:
            parts.append(element("missing", _list(missing)))
        if missing or not self.sources:
            queries = "; ".join(self._queries()[:TRIED])
            tried = [f"searched: {queries}"] if queries else []
            tried += self.evidence.notes
            parts.append(element("tried", _list(tried) or "- nothing could be searched"))
        elif self.evidence.notes:
            parts.append(element("tried", _list(self.evidence.notes)))
        if self.question.earlier:
            earlier = _OURS.sub("", clean(middle_out(self.question.earlier, EARLIER))).strip()
            parts.append(element("earlier_answer", earlier))
        if self.instructions.strip():
            parts.append(element("operator", clean(self.instructions).strip()))
        if not self.sources:
            parts.append("No passage was found. Say so; do not answer from memory.")
        elif self.question.long_form:
            parts.append("A long text with sections is asked for.")
        else:
            parts.append("Write the answer.")
        return "\n\n".join(parts)

    def _queries(self) -> list[str]:
        """The queries that were searched, but for the question as it stands, where there is
        anything else."""
        asked = keywords(self.question.question)
        queries = [query for query in self.evidence.queries if keywords(query) != asked]
        return queries or list(self.evidence.queries)

    # ------------------------------------------------------------ citations

    def cited(self, citation: CitationsSearchResultLocation) -> Iterator[CitationDelta]:
        """One delta for each passage that a citation covers; none for one that leads nowhere."""
        try:
            index, first = int(citation.search_result_index), int(citation.start_block_index)
            end = max(int(citation.end_block_index), first + 1)
            source = self._source(index, citation.source)
        except (AttributeError, TypeError):  # an endpoint that left something out
            return
        if source is not None and first >= 0:
            for passage in source.passages[first:end]:
                yield CitationDelta(source.number, passage.start, passage.end)

    def _source(self, index: int, url: str) -> Source | None:
        """By its index; by its address where an endpoint counts otherwise."""
        by_index = self.sources[index] if 0 <= index < len(self.sources) else None
        if by_index is not None and url in ("", shown_address(by_index.url)):
            return by_index
        by_address = [source for source in self.sources if shown_address(source.url) == url]
        return by_address[0] if by_address else by_index


def _search_result(source: Source) -> Block:
    return {
        "type": "search_result",
        "source": shown_address(source.url),
        "title": line(source.title, 200) or shown_address(source.url),
        # A piece of a page often makes no sense without its heading.
        "content": [
            {"type": "text", "text": f"{heading}{clean(passage.text).strip()}"}
            for passage, heading in zip(source.passages, headings_of(source), strict=True)
        ],
        "citations": {"enabled": True},
    }


def _list(items: Sequence[str]) -> str:
    return "\n".join(f"- {line(item, NOTE)}" for item in items)


@dataclass(slots=True)
class Reader:
    """Turns the events of a written answer into deltas.

    A block's citations may come before or after its text; they are held back to the block's end,
    because they speak for the whole block.
    """

    writing: Writing
    has_marks: bool = False  # whether marks were asked for, because there are no citations
    wrote: bool = False  # whether any visible text has come
    _opens: bool = False
    _citations: dict[CitationDelta, None] = field(default_factory=dict)

    def read(self, event: RawMessageStreamEvent) -> Iterator[TextDelta | CitationDelta]:
        """The deltas that one event gives."""
        if event.type == "content_block_start":
            self._opens = True
            block = event.content_block
            if block.type == "text" and block.text:
                yield self._text(block.text)
        elif event.type == "content_block_delta":
            if event.delta.type == "text_delta" and event.delta.text:
                yield self._text(event.delta.text)
            elif event.delta.type == "citations_delta":
                citation = event.delta.citation
                if citation.type == "search_result_location":
                    self._citations.update(dict.fromkeys(self.writing.cited(citation)))
        elif event.type == "content_block_stop":
            yield from self._citations
            self._citations.clear()

    def _text(self, words: str) -> TextDelta:
        opens, self._opens = self._opens, False
        self.wrote = self.wrote or bool(words.strip())
        return TextDelta(words, opens=opens, has_marks=self.has_marks)
