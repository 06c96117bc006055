"""The trace of an answer: everything about a run, read from the store.

    asked → understood → cut → searched → read → drafted and revised → written → checked

``trace`` is pure: rows of the store in, values out. If steps were pruned, their information comes
from the answer, which stores its plan, sources and cost. The journal has the end and duration of
each step; a line of the plan that is not a step itself (a sub-question, a paragraph) lasts from its
first step to its last.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from bot.core.messages import Answer, Citation, Disagreement, StepState, StepView, Usage
from bot.pages.urls import dedupe_key
from bot.reasoning.calls import Block, ModelReply, Text, ToolCall
from bot.reasoning.evidence import CitationDelta, TextDelta
from bot.rendering.marks import numbers_in, without_marks
from bot.rendering.verbatim import as_words
from bot.research.outcomes import ReadOutcome, SearchOutcome, StreamOutcome
from bot.research.revision import Revision
from bot.storage.archive import KeptPage, KeptRun, KeptStep
from bot.storage.journal import step_key
from bot.storage.store import RunRecord
from bot.storage.workspaces import Verdict
from bot.text.sentences import BlockKind, Sentence, sentences
from bot.text.terms import keywords, terms

ID = 12  # characters of a step's key used as its line's id in the plan

# Idle times longer than this many seconds, and than this share of all work, are shortened.
LONGEST_IDLE, IDLE_SHARE = 5.0, 0.25


@dataclass(frozen=True, slots=True)
class Span:
    """A line of the timeline; ``begin`` and ``end`` are seconds after the question was accepted.
    They are None if the journal no longer has the step; ``seconds`` then comes from the plan.
    ``waited`` is the time in seconds from planning the line to its beginning; ``attempt`` is 0 for
    a line that is not a step itself. ``depth`` is the number of its ancestors.
    """

    id: str
    kind: str
    title: str
    state: StepState
    seconds: float
    begin: float | None = None
    end: float | None = None
    waited: float = 0.0
    detail: str = ""
    sources: tuple[str, ...] = ()
    parent: str = ""
    needs: tuple[str, ...] = ()
    attempt: int = 0
    depth: int = 0


def timeline(
    lines: Sequence[StepView], steps: Sequence[KeptStep], accepted_at: datetime
) -> tuple[Span, ...]:
    """Return a span for each line of the plan and each step without a line: children follow their
    parent, siblings are sorted by beginning."""
    spans = {line.id: _of_line(line) for line in lines}
    for step in steps:
        if step.title:  # steps without a title only store a decision
            known = spans.get(step.key[:ID])
            spans[step.key[:ID]] = _of_step(step, known, accepted_at)
    children: dict[str, list[str]] = {}
    for span in spans.values():
        children.setdefault(span.parent if span.parent in spans else "", []).append(span.id)
    for id in _inside_first(children):
        spans[id] = _around(spans[id], [spans[child] for child in children.get(id, ())])
    for span in list(spans.values()):
        spans[span.id] = replace(span, waited=_waited(span, spans))
    return tuple(_in_order(spans, children))


def _of_line(line: StepView) -> Span:
    return Span(
        line.id,
        line.kind,
        line.title,
        line.state,
        line.seconds,
        detail=line.detail,
        sources=line.sources,
        parent=line.parent,
        needs=line.needs,
    )


def _of_step(step: KeptStep, known: Span | None, accepted_at: datetime) -> Span:
    end = (step.at - accepted_at).total_seconds()
    span = known or Span(step.key[:ID], step.kind, step.title, "done", step.seconds)
    # An edited question may reuse steps of the earlier version, which took none of its time.
    begin = max(0.0, end - step.seconds)
    return replace(
        span, seconds=step.seconds, begin=begin, end=max(begin, end), attempt=step.attempt
    )


def _inside_first(children: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the ids of all lines with children, innermost first."""
    found: list[str] = []
    level = list(children.get("", ()))
    while level:
        found += [id for id in level if id in children]
        level = [child for id in level for child in children.get(id, ())]
    return found[::-1]


def _around(span: Span, inside: Sequence[Span]) -> Span:
    """Return a span that is not a step itself, with the times of the spans inside it."""
    begins = [one.begin for one in inside if one.begin is not None]
    ends = [one.end for one in inside if one.end is not None]
    if span.begin is not None or not begins:
        return span
    begin = min(begins)
    return replace(span, begin=begin, end=max(*ends, begin + span.seconds))


def _waited(span: Span, spans: Mapping[str, Span]) -> float:
    """Return how long a sub-question waited for the last of those it needs.

    Measured from the time it was planned, which is the end of the last plan before it.
    """
    if span.begin is None or not span.needs:
        return 0.0
    planned = [
        one.end
        for one in spans.values()
        if one.kind == "plan" and one.end is not None and one.end <= span.begin
    ]
    return span.begin - max(planned) if planned else 0.0


def _in_order(spans: Mapping[str, Span], children: Mapping[str, Sequence[str]]) -> list[Span]:
    """Sort depth first; spans without times stay after the line before them in the plan."""
    found: list[Span] = []

    def visit(ids: Iterable[str], depth: int) -> None:
        known: list[tuple[float, int, str]] = []
        last = 0.0
        for place, id in enumerate(ids):
            begin = spans[id].begin
            last = last if begin is None else begin
            known.append((last, place, id))
        for _, _, id in sorted(known):
            found.append(replace(spans[id], depth=depth))
            visit(children.get(id, ()), depth + 1)

    visit(children.get("", ()), 0)
    return found


# ---------------------------------------------------------------- long breaks


@dataclass(frozen=True, slots=True)
class Pause:
    """A long idle time, such as between a crash and the next attempt."""

    begin: float
    end: float


def pauses(spans: Iterable[Span]) -> tuple[Pause, ...]:
    """Return the idle times that would make the rest of a chart too small to see."""
    busy: list[tuple[float, float]] = []
    for begin, end in sorted(
        (s.begin, s.end) for s in spans if s.begin is not None and s.end is not None
    ):
        if busy and begin <= busy[-1][1]:
            busy[-1] = (busy[-1][0], max(busy[-1][1], end))
        else:
            busy.append((begin, end))
    worked = sum(end - begin for begin, end in busy)
    longest = max(LONGEST_IDLE, IDLE_SHARE * worked)
    before = [(0.0, 0.0), *busy]
    return tuple(
        Pause(earlier[1], later[0])
        for earlier, later in zip(before, busy, strict=False)
        if later[0] - earlier[1] > longest
    )


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
        return tuple(span for span in self.spans if span.kind == "node")

    @property
    def quotes(self) -> tuple[Quote, ...]:
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
            problem = (read.said or read.problem) if read else ""
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
                outcome.said or outcome.problem,
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
    found = {step.key: _valid(shape, step) for step in steps if step.kind == kind}
    return {key: one for key, one in found.items() if one is not None}


def _valid(shape: TypeAdapter[T], step: KeptStep) -> T | None:
    """The result of a step; None if another version of Footnote stored it in another format."""
    try:
        return shape.validate_json(step.result)
    except ValidationError:
        return None
