"""The trace of an answer: everything about a run, read from the store.

    asked → understood → cut → searched → read → drafted and revised → written → checked

``trace`` is pure: rows of the store in, values out. If steps were pruned, their information comes
from the answer, which stores its plan, sources and cost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from bot.core.messages import Answer, StepView, Usage
from bot.pages.urls import dedupe_key
from bot.reasoning.calls import Block, ModelReply, Text, ToolCall
from bot.research.answer.support import Quote, Quoted, TracedSentence, quotes_of, sentences_of
from bot.research.outcomes import ReadOutcome, SearchOutcome, StreamOutcome
from bot.research.report.revision import Revision
from bot.research.trace.timeline import ID, Span, timeline
from bot.storage.archive import KeptPage, KeptRun, KeptStep
from bot.storage.journal import step_key
from bot.storage.store import RunRecord
from bot.storage.workspaces import Verdict

T = TypeVar("T")

Price = Callable[[ModelReply], float | None]
HitFate = Literal["read", "failed", "left"]
SaidKind = Literal["text", "thinking", "call"]

LONGEST_SAID = 4_000  # characters shown of one block of a reply

_search = TypeAdapter(SearchOutcome)
_read = TypeAdapter(ReadOutcome)
_stream = TypeAdapter(StreamOutcome)
_reply = TypeAdapter(ModelReply)
_revision = TypeAdapter(Revision)


@dataclass(frozen=True, slots=True)
class TracedHit:
    """A hit of a search and what happened to it. ``page`` is its footnote number, if it has one;
    ``problem`` says why it could not be read."""

    title: str
    url: str
    snippet: str
    provider: str
    fate: HitFate = "left"
    page: int | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class TracedSearch:
    """A query as sent. ``under`` is the line of the plan it belongs to, or ""."""

    id: str
    query: str
    seconds: float
    hits: tuple[TracedHit, ...] = ()
    failures: tuple[str, ...] = ()
    problem: str = ""
    under: str = ""

    @property
    def read(self) -> int:
        """The number of hits that were read."""
        return sum(hit.fate == "read" for hit in self.hits)


@dataclass(frozen=True, slots=True)
class ReplyBlock:
    """One block of a model's reply: its text, or a tool call with its input as JSON."""

    kind: SaidKind
    text: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """The tokens and cost of a model call; ``usd`` is None if the model's price is unknown."""

    id: str
    model: str
    stop_reason: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    usd: float | None
    said: tuple[ReplyBlock, ...] = ()


@dataclass(frozen=True, slots=True)
class TracedPage:
    """A page with a footnote number, and its quotes."""

    kept: KeptPage
    quotes: tuple[Quote, ...]

    @property
    def quoted(self) -> tuple[Quoted, ...]:
        """The places of the quoted words in its text: those that support a sentence, or the whole
        quote if unknown."""
        return tuple(
            Quoted(quote.anchor, quote.citation.start + start, quote.citation.start + end)
            for quote in self.quotes
            if quote.is_verbatim
            for start, end in quote.citation.proof or ((0, len(quote.citation.quote)),)
        )


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything about a run. ``understood`` is the standalone question that was researched.
    ``answer`` is None while the run is in progress. ``spent`` comes from the answer, or is the sum
    of the steps so far. ``is_pruned`` is True if the run's journal was deleted.
    """

    record: RunRecord
    ended_at: datetime | None
    answer: Answer | None
    understood: str
    spans: tuple[Span, ...]
    searches: tuple[TracedSearch, ...]
    calls: Mapping[str, ModelCall]
    pages: tuple[TracedPage, ...]
    sentences: tuple[TracedSentence, ...]
    revisions: tuple[Revision, ...]
    spent: Usage
    feedback: Mapping[str, Verdict]
    is_pruned: bool

    @property
    def nodes(self) -> tuple[Span, ...]:
        """The sub-questions, if the question was divided."""
        return tuple(span for span in self.spans if span.kind == "node")

    @property
    def quotes(self) -> tuple[Quote, ...]:
        """Every quoted passage, by page."""
        return tuple(quote for page in self.pages for quote in page.quotes)


def trace(kept: KeptRun, price: Price, shown: Sequence[StepView] = ()) -> Trace:
    """Build the trace of a stored run; ``price`` returns the USD for a reply, if known. ``shown``
    is the latest known plan of a run still in progress.
    """
    record, answer = kept.record, kept.record.answer
    spans = timeline(answer.steps if answer else shown, kept.steps, record.accepted_at)
    calls = _calls(kept.steps, price)
    quotes = quotes_of(answer.citations if answer else (), kept.pages)
    pages = _pages(kept.pages, quotes)
    return Trace(
        record=record,
        ended_at=kept.ended_at,
        answer=answer,
        understood=answer.question if answer else record.message.text,
        spans=spans,
        searches=_searches(kept.steps, spans, kept.pages),
        calls=calls,
        pages=pages,
        sentences=sentences_of(answer, quotes, _written(kept.steps)) if answer else (),
        revisions=tuple(_kept_as(_revision, kept.steps, "revision").values()),
        spent=answer.usage if answer else _spent(kept.steps, calls),
        feedback=kept.feedback,
        is_pruned=bool(answer and answer.steps and not kept.steps),
    )


def page_of_trace(page: KeptPage, answer: Answer | None) -> TracedPage:
    """Return one page of a run with its whole text and the answer's quotes from it."""
    found = quotes_of(answer.citations if answer else (), (page,))
    return _pages((page,), found)[0]


# ---------------------------------------------------------------- searching and reading


def _searches(
    steps: Sequence[KeptStep], spans: Sequence[Span], pages: Sequence[KeptPage]
) -> tuple[TracedSearch, ...]:
    reads = _kept_as(_read, steps, "read")
    numbers = {dedupe_key(page.url): page.number for page in reversed(pages)}
    titles = {span.id: span.title for span in spans}
    under = {span.id: titles.get(span.parent, "") for span in spans}
    order = {span.id: place for place, span in enumerate(spans)}
    found: list[TracedSearch] = []
    for step in steps:
        outcome = _valid(_search, step) if step.kind == "search" else None
        if outcome is None:
            continue
        hits = []
        for hit in outcome.hits:
            read = reads.get(step_key("read", {"url": hit.url}))
            fate: HitFate = "left" if read is None else "failed" if read.problem else "read"
            number = numbers.get(dedupe_key(read.url if read and fate == "read" else hit.url))
            if fate != "failed":  # numbered under a variant of its address, or only examined
                fate = "left" if number is None else "read"
            problem = read.problem if read else ""
            hits.append(
                TracedHit(hit.title, hit.url, hit.snippet, hit.provider, fate, number, problem)
            )
        id = step.key[:ID]
        found.append(
            TracedSearch(
                id,
                step.title,
                step.seconds,
                tuple(hits),
                (*filter(None, (outcome.withheld,)), *outcome.failures),
                outcome.problem,
                under.get(id, ""),
            )
        )
    return tuple(sorted(found, key=lambda one: order.get(one.id, len(order))))


# ---------------------------------------------------------------- what the model said and cost


def _calls(steps: Sequence[KeptStep], price: Price) -> dict[str, ModelCall]:
    found: dict[str, ModelCall] = {}
    for step in steps:
        reply, is_streamed = _reply_of(step)
        if reply is None:
            continue
        found[step.key[:ID]] = ModelCall(
            step.key[:ID],
            reply.model,
            reply.stop_reason,
            reply.input_tokens + reply.cache_write_tokens,
            reply.output_tokens,
            reply.cache_read_tokens,
            price(reply),
            () if is_streamed else _said(reply.content),  # streamed text is the answer itself
        )
    return found


def _reply_of(step: KeptStep) -> tuple[ModelReply | None, bool]:
    """Return the model reply stored with a step, and whether it was streamed."""
    if '"stop_reason"' not in step.result:
        return None, False
    streamed = _valid(_stream, step)
    return (streamed.reply, True) if streamed else (_valid(_reply, step), False)


def _said(content: Sequence[Block]) -> tuple[ReplyBlock, ...]:
    found: list[ReplyBlock] = []
    for block in content:
        match block:
            case Text():
                found.append(ReplyBlock("text", _cut(block.text)))
            case ToolCall():
                words = TypeAdapter(Any).dump_json(block.input, indent=2).decode()
                found.append(ReplyBlock("call", _cut(words), block.name))
            case {"type": "thinking", "thinking": str(thought)}:
                found.append(ReplyBlock("thinking", _cut(thought)))
    return tuple(one for one in found if one.text.strip())


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_SAID else f"{text[:LONGEST_SAID]} …"


def _spent(steps: Sequence[KeptStep], calls: Mapping[str, ModelCall]) -> Usage:
    reads = _kept_as(_read, steps, "read").values()
    return Usage(
        model_calls=len(calls),
        searches=sum(step.kind == "search" for step in steps),
        pages=sum(not read.problem for read in reads),
        input_tokens=sum(call.input_tokens for call in calls.values()),
        output_tokens=sum(call.output_tokens for call in calls.values()),
        cached_tokens=sum(call.cached_tokens for call in calls.values()),
        usd=sum(call.usd or 0.0 for call in calls.values()),
    )


# ---------------------------------------------------------------- pages


def _pages(pages: Sequence[KeptPage], quotes: Sequence[Quote]) -> tuple[TracedPage, ...]:
    found = []
    for page in pages:
        of_page = tuple(
            quote
            for quote in quotes
            if (quote.citation.number, quote.citation.page_hash) == (page.number, page.hash)
        )
        found.append(TracedPage(page, of_page))
    return tuple(found)


# ---------------------------------------------------------------- steps as they were kept


def _written(steps: Sequence[KeptStep]) -> list[StreamOutcome]:
    """Return the text streamed for the reader: the answer, or the parts of a report."""
    streams = [_valid(_stream, step) for step in steps if step.kind in ("write", "revise")]
    return [stream for stream in streams if stream is not None]


def _kept_as(shape: TypeAdapter[T], steps: Sequence[KeptStep], kind: str) -> dict[str, T]:
    """Return the results of all steps of a kind, by key."""
    found = {step.key: _valid(shape, step) for step in steps if step.kind == kind}
    return {key: one for key, one in found.items() if one is not None}


def _valid(shape: TypeAdapter[T], step: KeptStep) -> T | None:
    """The result of a step; None if another version of Footnote stored it in another format."""
    try:
        return shape.validate_json(step.result)
    except ValidationError:
        return None
