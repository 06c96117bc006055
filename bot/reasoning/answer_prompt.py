"""Writing answers and reports: renders evidence as search results, and converts the streamed reply
to deltas with citations.

The prompt asks for questions to ask next after the tag ``<ask_next>``, one a line; they are split
off while the answer streams. Nothing from the tag on belongs to the answer, however the tag is
written; the end of the text that may become the tag is held back.

Revising a paragraph of a report is like writing an answer, with other text around the passages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from string import whitespace
from typing import ClassVar

from bot.reasoning.calls import (
    STRING,
    Again,
    Begins,
    CachePoint,
    Citation,
    Ends,
    ModelReply,
    MoreText,
    Part,
    Request,
    SearchResult,
    Text,
    ToolCall,
    Unusable,
    UserBlock,
    UserTurn,
    Words,
    clean,
    element,
    json_object,
    line,
    lines,
    list_of,
    middle_out,
    name,
    object_of,
    passage_lines,
    prompt,
    title,
    user_turn,
)
from bot.reasoning.evidence import (
    AnswerDelta,
    CitationDelta,
    Evidence,
    Manuscript,
    Paragraph,
    Reply,
    Restart,
    Rewritten,
    Source,
    Suggested,
    TextDelta,
)
from bot.reasoning.tool_loop import (
    address_for_model,
    findings_lines,
    headings_of,
    opening,
    page_element,
    page_tag,
)
from bot.text.terms import keywords

MOST_NEXT = 3
LONGEST_NEXT = 2_000  # characters kept of what follows the tag

# The tag, also unclosed, escaped, in square brackets, bold, or as a bare word; but not a name of
# code, such as `ask_next` or ask_next().
_TAG = re.compile(
    r"[<\[]\s{0,9}/?\s{0,9}ask[_-]next\b|(?<![\w.`-])ask[_-]next(?![\w(.`-])", re.IGNORECASE
)
# The end of a text that may become the tag's name.
_BEGUN = re.compile(
    r"(?<![\w.`-])a(?:s(?:k(?:[_-](?:n(?:e(?:x(?:t)?)?)?)?)?)?)?\Z",
    re.IGNORECASE,
)
_FEWEST = 3  # letters of a bare name with which a stream may have been cut
_LOOKED_BACK = 16  # characters, in which the name of the tag would be part of a longer one
_MARKUP = "*_`\\>#-"
_LIST_MARK = re.compile(r"^(?:[-*•–]|\d{1,2}[.)、])\s*")
_ENDS = re.compile(r"\n|(?<=[?？])[^\S\n]+|(?<=？)")
_QUESTION = re.compile(r"\w.*[?？؟]$")


@dataclass(slots=True)
class Splitter:
    """Splits the text of one answer, which arrives in pieces."""

    _before: str = ""  # the last characters shown
    _held: str = ""
    _next: str | None = None

    def shown(self, text: str) -> str:
        """Return the words of the answer that a further piece completes."""
        if self._next is not None:
            self._next = f"{self._next}{text}"[:LONGEST_NEXT]
            return ""
        if text := self._split(self._before + self._held + text)[len(self._before) :]:
            self._before = (self._before + text)[-_LOOKED_BACK:]
        return text

    def _split(self, text: str) -> str:
        # A tag at the very end may still be a longer word, unless it has a bracket.
        tag = _TAG.search(text)
        if tag is not None and (tag.end() < len(text) or tag[0][0] in "<["):
            self._held, self._next = "", text[tag.end() :][:LONGEST_NEXT]
            return _without_markup(text[: tag.start()])
        kept = text[: _begun(text)]
        self._held = text[max(len(kept), len(self._before)) :]
        return kept

    def ended(self, *, is_last: bool = False) -> str:
        """Return the words held back at the end of a block, or of the stream (``is_last``), unless
        they are the beginning of the tag."""
        begun = self._held.strip(_MARKUP + whitespace)
        if begun and not is_last:
            return ""
        rest, self._held = self._held, ""
        if begun[:1] in ("<", "[") or len(begun) >= _FEWEST:
            return _without_markup(rest[: rest.find(begun)])
        self._before = (self._before + rest)[-_LOOKED_BACK:]
        return rest

    @property
    def is_past_answer(self) -> bool:
        """True once the tag has come."""
        return self._next is not None

    @property
    def questions(self) -> tuple[str, ...]:
        """The questions so far, up to ``MOST``; one without its question mark is cut off."""
        lines = _ENDS.split(_TAG.sub("\n", self._next or ""))
        asked = (_LIST_MARK.sub("", line.strip().lstrip(_MARKUP + "/]: ")) for line in lines)
        return tuple(dict.fromkeys(filter(_QUESTION.match, asked)))[:MOST_NEXT]


def _begun(text: str) -> int:
    """Return the position from which the end of a text may become the tag, with the markup and
    space before it."""
    name = _BEGUN.search(text)
    before = text[: name.start()] if name else text
    bare = before.rstrip(whitespace + "/")
    before = bare[:-1] if bare.endswith(("<", "[")) else before
    return len(before.rstrip(_MARKUP + whitespace))


def _without_markup(text: str) -> str:
    """Return the text before a tag without the markup that belongs to the tag: bold, an escape, a
    bullet or fence on its line."""
    line = text[text.rfind("\n") + 1 :]
    if not any(char.isalnum() for char in line):
        return text[: len(text) - len(line)].rstrip()
    bare = text.rstrip().rstrip(_MARKUP)
    return (bare if bare[-1:].isspace() else text).rstrip()


TRIED = 30  # queries listed for the writer
EARLIER = 8_000  # characters of an answer to be reworked
NOTE = 500  # characters
SHORTENED = "Part of the passages had to be left out, because there were too many for one answer."


# Footnotes of another run, whose numbers are meaningless here, and the sign of a doubt.
_OURS = re.compile(r" ?(?:\[\d{1,4}\]|⚠)")


@dataclass(frozen=True, slots=True)
class Writing:
    """One answer to be written. It has only shown passages: a citation is an index into them."""

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
        """Return it with half the passages: pages without findings are dropped first, then the end
        of each page. None if nothing more can be dropped.
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

    def request(self, common: Request) -> Request:
        """Return the request; ``common`` is an empty request to the same model."""
        results = (_search_result(source) for source in self.sources)
        return replace(
            common,
            system=prompt(self.prompt, citing=prompt("write_blocks"), ask_next=prompt("ask_next")),
            system_for_marks=prompt(
                self.prompt, citing=prompt("write_marks"), ask_next=prompt("ask_next")
            ),
            turns=(UserTurn((*self._opening(), *results, Words(self._task()))),),
        )

    def _opening(self) -> tuple[UserBlock, ...]:
        """Return the text before the passages."""
        return ()

    def _task(self) -> str:
        parts = opening(self.now, self.question.question, self.question.language)
        titles = {s.number: title(s.url, s.title, 120) for s in self.sources}
        if self.evidence.findings:
            findings = findings_lines(self.evidence.findings, titles)
            parts.append(element("findings", findings))
        if self.evidence.answer:
            parts.append(element("concluded", line(self.evidence.answer, NOTE)))
        missing = [*self.evidence.missing]
        if not self.evidence.enough and not missing and self.evidence.findings:
            missing.append("The research ended before everything was proven.")
        if missing:
            parts.append(element("missing", _list(missing)))
        if missing or not self.sources or self.question.depth == "exhaustive":
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
        elif self.question.depth == "exhaustive":
            parts.append(prompt("coverage"))
        else:
            parts.append("Write the answer.")
        return "\n\n".join(parts)

    def _queries(self) -> list[str]:
        """Return the queries sent, without the verbatim question unless it is the only one."""
        asked = keywords(self.question.question)
        queries = [query for query in self.evidence.queries if keywords(query) != asked]
        return queries or list(self.evidence.queries)

    # ------------------------------------------------------------ citations

    def cited(self, citation: Citation) -> Iterator[CitationDelta]:
        """Yield a delta for each passage that a citation covers; none if it is invalid."""
        source = self._source(citation.search_result_index, citation.source)
        if source is not None:
            yield from deltas(citation, source)

    def _source(self, index: int, url: str) -> Source | None:
        """Return a source by its index, or by its address if the endpoint counts differently."""
        by_index = self.sources[index] if 0 <= index < len(self.sources) else None
        if by_index is not None and url in ("", address_for_model(by_index.url)):
            return by_index
        by_address = [source for source in self.sources if address_for_model(source.url) == url]
        return by_address[0] if by_address else by_index


def deltas(citation: Citation, source: Source) -> Iterator[CitationDelta]:
    """Yield a delta for each passage of a source that a citation covers."""
    first = citation.start_block_index
    end = max(citation.end_block_index, first + 1)
    for passage in source.passages[first:end] if first >= 0 else ():
        yield CitationDelta(source.number, passage.start, passage.end)


def _search_result(source: Source) -> SearchResult:
    # Part of a page often makes no sense without its heading.
    passages = (
        f"{heading}{clean(passage.text).strip()}"
        for passage, heading in zip(source.passages, headings_of(source), strict=True)
    )
    url = address_for_model(source.url)
    named = title(source.url, source.title or url, 200)
    return SearchResult(url, named, tuple(passages), page_tag(source))


def _list(items: Sequence[str]) -> str:
    return "\n".join(f"- {line(item, NOTE)}" for item in items)


@dataclass(slots=True)
class Reader:
    """Converts the parts of a written answer to deltas; ``cited`` returns those of a citation.

    A block's citations may come before or after its text; they are held back until the block's end,
    because they apply to the whole block. The questions below the answer are split off.
    """

    cited: Callable[[Citation], Iterator[CitationDelta]]
    has_marks: bool = False  # True if the model is asked for marks, for lack of citations
    wrote: bool = False  # True once any visible text has come
    _opens: bool = False
    _has_words: bool = False  # of the answer, in this block
    _citations: dict[CitationDelta, None] = field(default_factory=dict)
    _splitter: Splitter = field(default_factory=Splitter)

    def read(self, part: Part) -> Iterator[TextDelta | CitationDelta]:
        """Yield the deltas for one part of the reply."""
        match part:
            case Begins():
                self._opens, self._has_words = True, False
            case MoreText(text):
                yield from self._text(self._splitter.shown(text))
            case Citation():
                self._citations.update(dict.fromkeys(self.cited(part)))
            case Ends():
                yield from self._text(self._splitter.ended())
                if self._has_words or not self._splitter.is_past_answer:
                    yield from self._citations
                self._citations.clear()

    def finish(self) -> Iterator[TextDelta | Suggested]:
        """Yield the last deltas, at the end of the stream."""
        yield from self._text(self._splitter.ended(is_last=True))
        if self._splitter.questions:
            yield Suggested(self._splitter.questions)

    def _text(self, words: str) -> Iterator[TextDelta]:
        if words:
            opens, self._opens = self._opens, False
            self._has_words = self._has_words or bool(words.strip())
            self.wrote = self.wrote or self._has_words
            yield TextDelta(words, opens=opens, has_marks=self.has_marks)


_MARK = re.compile(r"\[(\d{1,6})(?:\.\d{1,6})?\]")


def reply_of(
    reply: ModelReply, sources: Sequence[Source], pages: Mapping[int, Source]
) -> Reply | None:
    """Convert a turn that is an answer; None if it calls a tool or cites nothing.

    ``sources`` are those of the request's search results, in order; ``pages`` maps numbers in the
    workspace to the shown pages.
    """
    if any(isinstance(block, ToolCall) for block in reply.content):
        return None
    reader = Reader(partial(cited, sources=sources))
    found: list[AnswerDelta] = []
    for block in reply.content:
        if isinstance(block, Text):
            parts: tuple[Part, ...] = (Begins(), MoreText(block.text), *block.citations, Ends())
            for part in parts:
                found += reader.read(part)
    found += reader.finish()
    if any(isinstance(delta, CitationDelta) for delta in found):
        return Reply(tuple(found))
    if not reply.plain:
        return None
    text = "".join(delta.text for delta in found if isinstance(delta, TextDelta))
    marked = _MARK.sub(lambda mark: _numbered(mark, pages), text)
    suggested = (delta for delta in found if isinstance(delta, Suggested))
    return Reply((TextDelta(marked, opens=True), *suggested)) if marked != text else None


def cited(citation: Citation, sources: Sequence[Source]) -> Iterator[CitationDelta]:
    """Yield a delta for each passage that a citation covers; none if it is invalid."""
    if 0 <= citation.search_result_index < len(sources):
        yield from deltas(citation, sources[citation.search_result_index])


def _numbered(mark: re.Match[str], pages: Mapping[int, Source]) -> str:
    """Return the mark with the page's citation number instead of its number in the workspace."""
    page = pages.get(int(mark[1]))
    return f"[{page.number}]" if page is not None else ""


class AnswerWatch:
    """Passes the answer on while it is being written, from its first citation on.

    Text before a citation may still precede a tool call. ``on_answer`` gets ``Restart`` if a tool
    call follows after all, or the request is sent again.
    """

    def __init__(self, on_answer: Callable[[AnswerDelta], None], sources: Sequence[Source]) -> None:
        self._on_answer = on_answer
        self._sources = sources
        self._is_call = False
        self._begin()

    def _begin(self) -> None:
        self._reader = Reader(partial(cited, sources=self._sources))
        self._held: list[AnswerDelta] = []
        self._is_answer = False

    def __call__(self, part: Part) -> None:
        if isinstance(part, Again):
            self._retract()
            self._is_call = False
        elif self._is_call:
            return
        elif isinstance(part, Begins) and part.is_call:
            self._retract()
            self._is_call = True
        else:
            self._held += self._reader.read(part)
            if self._is_answer or any(isinstance(one, CitationDelta) for one in self._held):
                self._is_answer = True
                for delta in self._held:
                    self._on_answer(delta)
                self._held.clear()

    def _retract(self) -> None:
        if self._is_answer:
            self._on_answer(Restart())
        self._begin()


FEWEST, MOST = 3, 8  # paragraphs of a draft
HEADING = 120  # characters
PURPOSE = 300  # characters
TEXT = 4_000  # characters of a drafted paragraph
SO_FAR = 12_000  # characters of the report so far, if only its topic matters
QUERIES = 3
QUERY = 200  # characters
QUERY_TOKENS = 1_024  # of the reply

DRAFT_SCHEMA = object_of(paragraphs=list_of(object_of(heading=STRING, purpose=STRING, text=STRING)))
QUERY_SCHEMA = object_of(queries=list_of(STRING))


# ---------------------------------------------------------------- the draft


def draft_request(
    common: Request,
    question: Rewritten,
    evidence: Evidence,
    instructions: str,
    now: datetime,
) -> Request:
    """Return the request for a whole draft; ``common`` is an empty request to the same model."""
    parts = [
        page_element(source, passage_lines(source.passages))
        for source in evidence.sources
        if source.passages
    ]
    parts += opening(now, question.question, question.language)
    if evidence.missing:
        parts.append(element("missing", _list(evidence.missing)))
    if instructions.strip():
        parts.append(element("operator", clean(instructions).strip()))
    parts.append("Draft the report.")
    return replace(
        common,
        system=prompt("draft"),
        turns=user_turn("\n\n".join(parts)),
        schema=DRAFT_SCHEMA,
    )


def parse_draft(reply: ModelReply, *, fewest: int = FEWEST) -> tuple[Paragraph, ...]:
    """Parse the reply to paragraphs. Raises ``Unusable``."""
    given = json_object(reply).get("paragraphs")
    items = [item for item in given if isinstance(item, dict)] if isinstance(given, list) else []
    paragraphs = tuple(
        Paragraph(
            heading=name(str(item.get("heading") or ""), HEADING).strip("#* "),
            purpose=line(str(item.get("purpose") or ""), PURPOSE),
            text=clean(middle_out(str(item["text"]), TEXT)).strip(),
        )
        for item in items
        if isinstance(item.get("text"), str) and item["text"].strip()
    )
    if len(paragraphs) < fewest:
        raise Unusable(f'"paragraphs" must hold {FEWEST} to {MOST} paragraphs, each with a "text".')
    return paragraphs[:MOST]


# ---------------------------------------------------------------- the queries of a paragraph


def query_request(
    model: str, question: Rewritten, manuscript: Manuscript, now: datetime
) -> Request:
    """Return the request for the queries of one paragraph."""
    parts = opening(now, question.question, question.language)
    if manuscript.revised:
        so_far = middle_out(clean("\n\n".join(manuscript.revised)), SO_FAR)
        parts.append(element("report", so_far))
    if manuscript.searched:
        searched = [
            f"{one.topic}: {'; '.join(one.queries)} → {'; '.join(one.cited) or 'nothing useful'}"
            for one in manuscript.searched
        ]
        parts.append(element("tried", _list(searched)))
    parts.append(_paragraph(manuscript.paragraph))
    return Request(
        model,
        QUERY_TOKENS,
        prompt("query"),
        user_turn("\n\n".join(parts)),
        schema=QUERY_SCHEMA,
    )


def parse_queries(reply: ModelReply) -> tuple[str, ...]:
    """Parse the reply to 1 to 3 queries. Raises ``Unusable``."""
    found = lines(json_object(reply).get("queries"), QUERY)[:QUERIES]
    if not found:
        raise Unusable(f'"queries" must hold 1 to {QUERIES} queries.')
    return found


def topic_query(question: Rewritten, paragraph: Paragraph) -> tuple[str, ...]:
    """Return a fallback query for a paragraph: its topic, in its own words."""
    return (line(paragraph.heading or question.question, QUERY),)


# ---------------------------------------------------------------- the revision

_NO_MANUSCRIPT = Manuscript((), Paragraph("", "", ""))  # fields after a parent's need a default


@dataclass(frozen=True, slots=True)
class Revising(Writing):
    """One paragraph to be revised: written like an answer, to replace a draft."""

    manuscript: Manuscript = _NO_MANUSCRIPT

    prompt: ClassVar[str] = "revise"

    @classmethod
    def of_paragraph(
        cls,
        question: Rewritten,
        manuscript: Manuscript,
        evidence: Evidence,
        instructions: str,
        now: datetime,
    ) -> Revising:
        plain = Writing.of(question, evidence, instructions, now)
        return cls(question, plain.sources, evidence, instructions, now, manuscript)

    def _opening(self) -> tuple[UserBlock, ...]:
        """The question and the report so far, so that each call begins like the previous one."""
        outline = opening(self.now, self.question.question, self.question.language)
        if self.instructions.strip():
            outline.append(element("operator", clean(self.instructions).strip()))
        report = (Words(element("report", clean(part))) for part in self.manuscript.revised)
        return (Words("\n\n".join(outline)), *report, CachePoint())

    def _task(self) -> str:
        parts = [_paragraph(self.manuscript.paragraph)]
        if self.manuscript.to_come:
            topics = "\n".join(f"- {line(topic, HEADING)}" for topic in self.manuscript.to_come)
            parts.append(element("to_come", topics))
        if self.manuscript.opens:
            return "\n\n".join((*parts, "Write the opening of the report."))
        if self.manuscript.gaps:
            parts.append(element("missing", _list(self.manuscript.gaps)))
        parts.append("Rewrite this paragraph from the passages.")
        if not self.manuscript.to_come:
            parts.append(f"It is the last one of the report. {prompt('ask_next')}")
        return "\n\n".join(parts)


# ---------------------------------------------------------------- pieces


def _paragraph(paragraph: Paragraph) -> str:
    given = {"heading": paragraph.heading} if paragraph.heading else {}
    if paragraph.purpose:
        given["purpose"] = paragraph.purpose
    return element("draft", clean(paragraph.text).strip(), **given)
