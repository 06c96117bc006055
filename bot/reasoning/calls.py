"""Calls of a model: requests and replies as values independent of any SDK, the text of prompts, and
the reasoner's interface for making calls.

A request is written for a service with all features. Features that a service or a model lacks are
left out or put into words when the request is translated (``claude_api``, ``openai_api``), so that
the request, which is the journal's key, does not depend on them.

Content of people and pages is put between our own tags or in ``search_result`` blocks. Nothing
inside may look like one of these tags, or like the markup with which endpoints and models write
blocks, tools and turns, so that the model always knows where data ends: their ``<`` is written
``&lt;``.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from importlib.resources import files
from typing import Annotated, Any, Literal, Protocol
from urllib.parse import unquote, urlsplit

from pydantic import Field

from bot.core.lines import label, titled
from bot.core.reader import display_address
from bot.pages.passages import Passage
from bot.pages.pictures import Picture
from bot.reasoning.evidence import AnswerDelta
from bot.text.terms import has_cjk, terms


@dataclass(frozen=True, slots=True)
class Tokens:
    """The token counts of one attempt at a call; ``hour_write`` is the part of ``cache_write`` that
    is cached for an hour instead of five minutes."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    hour_write: int = 0


@dataclass(frozen=True, slots=True)
class Citation:
    """The passages of a search result that support a text: from ``start_block_index`` to
    ``end_block_index`` (exclusive) of the request's search result ``search_result_index``.
    ``source`` is its address; ``title`` and ``cited_text`` are as reported by the service."""

    search_result_index: int
    start_block_index: int
    end_block_index: int
    source: str = ""
    title: str | None = None
    cited_text: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """Text of a reply, with the citations that support all of it."""

    text: str
    citations: tuple[Citation, ...] = ()
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call; ``unparsed`` is the beginning of an input that was not a JSON object."""

    id: str
    name: str
    input: dict[str, Any]
    unparsed: str = ""
    type: Literal["tool_use"] = "tool_use"


Record = dict[str, Any]
"""A block that only its service understands, such as a thought; it is sent back unchanged."""

Block = Annotated[Text | ToolCall | Record, Field(union_mode="left_to_right")]


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A finished model call, as stored in the journal.

    ``stop_reason`` is "end_turn", "tool_use", "max_tokens", "model_context_window_exceeded",
    "refusal" or the service's own value. Token counts are the API's, summed over all attempts;
    ``hour_write_tokens`` is part of ``cache_write_tokens``. ``cut`` are the interrupted attempts
    before the successful one, counted separately because the price of a prompt may depend on its
    length. ``geo`` is the region reported by the API ("us", "global" or ""). ``plain`` is True if
    search results were sent as text, with marks instead of citations.
    """

    model: str
    content: tuple[Block, ...]
    stop_reason: str
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    stop_details: dict[str, Any] = field(default_factory=dict)
    hour_write_tokens: int = 0
    cut: tuple[Tokens, ...] = ()
    geo: str = ""
    plain: bool = False

    @property
    def attempts(self) -> tuple[Tokens, ...]:
        """The tokens of each attempt; the last attempt's are the totals minus the others."""
        cut = self.cut
        last = Tokens(
            self.input_tokens - sum(tokens.input for tokens in cut),
            self.output_tokens - sum(tokens.output for tokens in cut),
            self.cache_read_tokens - sum(tokens.cache_read for tokens in cut),
            self.cache_write_tokens - sum(tokens.cache_write for tokens in cut),
            self.hour_write_tokens - sum(tokens.hour_write for tokens in cut),
        )
        return (*cut, last)

    @classmethod
    def of(
        cls,
        model: str,
        content: Sequence[Block],
        stop_reason: str,
        attempts: Sequence[Tokens],
        **more: Any,
    ) -> ModelReply:
        """Build a reply with the tokens of all attempts, the last of which gave the reply."""
        return cls(
            model,
            tuple(content),
            stop_reason,
            sum(tokens.input for tokens in attempts),
            sum(tokens.output for tokens in attempts),
            sum(tokens.cache_read for tokens in attempts),
            sum(tokens.cache_write for tokens in attempts),
            hour_write_tokens=sum(tokens.hour_write for tokens in attempts),
            cut=tuple(attempts[:-1]),
            **more,
        )


WRITE, VERIFY, RESTATE = "write", "verify", "restate"
ANSWERING = frozenset((WRITE, VERIFY, RESTATE))
"""The kinds of calls that write the answer and verify it: they do not end with the run's budget,
however deep the research was. They come once an answer, or once a batch of its sentences."""


class ModelCalls(Protocol):
    """The interface by which a reasoner calls models: each call is a budgeted, recorded step of the
    run.

    ``request`` is the whole request as JSON; its hash is the step's key, so it must be the same on
    every attempt. A call already in the journal is not sent again. ``now`` is the time the run was
    accepted, fixed for all attempts.
    """

    now: datetime

    async def call(
        self,
        request: Mapping[str, Any],
        send: Callable[[], Awaitable[ModelReply]],
        *,
        kind: str,
        title: str,
    ) -> ModelReply: ...

    def stream(
        self,
        request: Mapping[str, Any],
        open: Callable[[], AsyncIterator[AnswerDelta | ModelReply]],
        *,
        kind: str,
        title: str,
    ) -> AsyncIterator[AnswerDelta]:
        """Yield and record the deltas of ``open()``, whose last item is the ModelReply.

        The answer is written and verified (``ANSWERING``) even if the run's budget is spent; other
        kinds raise ``BudgetSpent``.
        """
        ...

    def count_lost(self, reply: ModelReply) -> None:
        """Count the tokens of a call that failed or was stopped."""
        ...


LONGEST_UNPARSED = 500  # characters kept of a malformed tool input
NO_WORDS = "(no reply)"  # replaces a turn of the model without anything that can be sent back


@dataclass(frozen=True, slots=True)
class Words:
    """Text from us or from a person."""

    text: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Passages of a page that the model can cite individually.

    ``tag`` are the page's attributes if it is sent as text, to a service without citations.
    """

    source: str
    title: str
    passages: tuple[str, ...]
    tag: tuple[tuple[str, str | int], ...]

    def as_text(self) -> str:
        return element("page", "\n".join(self.passages), **dict(self.tag))


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of the model's tool call ``id``; ``failed`` if it was not carried out."""

    id: str
    blocks: tuple[Words | SearchResult, ...]
    failed: bool = False


@dataclass(frozen=True, slots=True)
class CachePoint:
    """The request up to here will be repeated: a service with a prompt cache may cache it."""


UserBlock = Words | SearchResult | ToolResult | CachePoint


@dataclass(frozen=True, slots=True)
class UserTurn:
    """A turn from us: the question, pages, tool results, remarks."""

    blocks: tuple[UserBlock, ...]


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """A turn of the model, to be sent back unchanged."""

    content: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool the model may call; ``schema`` is the JSON schema of its input."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """One call of a model.

    ``schema`` is the JSON schema of the reply, if it must be a JSON object. ``thinks`` says whether
    the model may think before it replies, and ``effort`` how hard. ``system_for_marks`` is the
    system prompt for a service without citations. ``pictures`` are shown before the first turn.
    """

    model: str
    max_tokens: int
    system: str
    turns: tuple[UserTurn | ModelTurn, ...]
    tools: tuple[Tool, ...] = ()
    schema: Mapping[str, Any] | None = None
    thinks: bool = False
    effort: str | None = None
    system_for_marks: str | None = None
    pictures: tuple[Picture, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the request as the journal's key, without the second system prompt and the
        content of pictures."""
        given = asdict(replace(self, pictures=()))
        del given["system_for_marks"], given["pictures"]
        if self.pictures:
            given["pictures"] = [
                {"sha256": hashlib.sha256(each.data).hexdigest(), "tokens": each.tokens}
                for each in self.pictures
            ]
        return given


def user_turn(text: str) -> tuple[UserTurn]:
    """Return a conversation of a single text."""
    return (UserTurn((Words(text),)),)


def with_schema_in_words(system: str, schema: Mapping[str, Any]) -> str:
    """Return a system prompt with the schema, for a model without structured output."""
    return (
        f"{system}\n\nReply with one JSON object and nothing else. It has to follow this JSON "
        f"schema:\n{json.dumps(schema)}"
    )


def sendable(content: tuple[Block, ...]) -> tuple[Block, ...]:
    """Return the part of a reply that can be sent back: never empty, never only thoughts."""
    blocks = [b for b in content if not isinstance(b, Text) or b.text.strip()]
    if not blocks or not isinstance(blocks[-1], Text | ToolCall):
        blocks.append(Text(NO_WORDS))
    return tuple(blocks)


# ---------------------------------------------------------------- replies


@dataclass(frozen=True, slots=True)
class Begins:
    """A block of the reply begins: a tool call, or text."""

    is_call: bool = False


@dataclass(frozen=True, slots=True)
class MoreText:
    """More text of the block."""

    text: str


@dataclass(frozen=True, slots=True)
class Ends:
    """The block is complete."""


@dataclass(frozen=True, slots=True)
class Again:
    """All parts so far are invalid: the request is being sent again."""


Part = Begins | MoreText | Citation | Ends | Again


def after(first: ModelReply | None, reply: ModelReply) -> ModelReply:
    """Return a reply with the tokens of a failed attempt before it added."""
    if first is None:
        return reply
    lost = [tokens for tokens in first.attempts if tokens != Tokens()]
    return replace(
        ModelReply.of(
            reply.model or first.model, reply.content, reply.stop_reason, (*lost, *reply.attempts)
        ),
        stop_details=reply.stop_details,
        geo=reply.geo,
        plain=reply.plain,
    )


def tool_input(written: str) -> tuple[dict[str, Any], str]:
    """Return the input of a tool call, or else the beginning of the malformed text."""
    try:
        value = json.loads(sendable_text(written))
    except (ValueError, RecursionError):  # not JSON, or nested deeper than any tool's input
        value = None
    return (value, "") if isinstance(value, dict) else ({}, written[:LONGEST_UNPARSED])


def sendable_text(text: str) -> str:
    """Return a text without lone surrogates, which could not be sent back."""
    return text.encode("utf-8", "replace").decode("utf-8")


@dataclass(frozen=True, slots=True)
class Unusable(Exception):
    """A malformed reply; ``problem`` tells the model what is wrong."""

    problem: str


def json_object(reply: ModelReply) -> dict[str, Any]:
    """Return the JSON object in a reply, ignoring text around it. Raises ``Unusable``."""
    if reply.stop_reason == "max_tokens":
        raise Unusable("Your reply was cut off at the output limit. Be much shorter.")
    words = "".join(b.text for b in reply.content if isinstance(b, Text))
    start, end = words.find("{"), words.rfind("}")
    try:
        value = json.loads(words[start : end + 1]) if start >= 0 else None
    except ValueError as error:
        raise Unusable(f"That was not valid JSON: {error}.") from None
    except RecursionError:
        raise Unusable("That was not valid JSON: it is nested too deeply.") from None
    if not isinstance(value, dict):
        raise Unusable("That was no JSON object.")
    return value


def numbered(
    reply: ModelReply, name: str, number: str, count: int
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of the list ``name`` in a JSON reply, each with the index (from 0) of the
    item it refers to by its field ``number``; there are ``count`` items. Raises ``Unusable``."""
    given = json_object(reply).get(name)
    if not isinstance(given, list):
        raise Unusable(f'"{name}" must be a list.')
    for item in given:
        said = item.get(number) if isinstance(item, dict) else None
        if type(said) is int and 1 <= said <= count:
            yield said - 1, item


def repair(first: Request, reply: ModelReply, problem: str) -> Request:
    """Return the request followed by the malformed reply and what was wrong with it."""
    words = f"{problem} Reply with the one JSON object described above and nothing else."
    said = ModelTurn(sendable(tuple(b for b in reply.content if isinstance(b, Text))))
    return replace(first, turns=(*first.turns, said, *user_turn(words)))


_COMMENT = re.compile(r"<!--(?:(?!<!--).)*?-->\s*", re.DOTALL)
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


def prompt(name: str, **values: str) -> str:
    """Return the prompt ``name.md`` without its opening comment, each ``{placeholder}`` replaced.

    Raises ``KeyError`` for a placeholder without a value.
    """
    return _PLACEHOLDER.sub(lambda match: values[match[1]], _prompt(name))


@functools.cache
def _prompt(name: str) -> str:
    text = files("bot.reasoning").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8")
    return _COMMENT.sub("", text).strip()


Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
BOOLEAN: Schema = {"type": "boolean"}


def one_of(*words: str) -> Schema:
    """Return the schema of one of these strings."""
    return {"type": "string", "enum": [*words]}


def list_of(items: Schema, **more: Any) -> Schema:
    """Return the schema of a list; ``more`` are further keywords."""
    return {"type": "array", "items": items, **more}


def object_of(**properties: Schema) -> Schema:
    """Return the schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


HEADING_PATH = 400
"""Characters shown of a passage's headings and column names."""

TAGS = (
    "conversation",
    "message",
    "new_message",
    "question",
    "older_sources",
    "operator",
    "earlier_answer",
    "answer",
    "expected_answer",
    "given_answer",
    "known",
    "suggested_queries",
    "results",
    "page",
    "picture",
    "findings",
    "concluded",
    "missing",
    "tried",
    "sub_question",
    "report",
    "draft",
    "to_come",
    "ask_next",
    "quote",
    "sentence",
    "pair",
    "before",
    "now",
)
"""The tags of our prompts."""

ENDPOINT_TAGS = (
    "system",
    "system_prompt",
    "system-reminder",
    "assistant",
    "search_result",
    "search_results",
    "tool_use",
    "tool_result",
    "tool_results",
    "function_calls",
    "function_results",
    "invoke",
    "document",
    "documents",
    "document_content",
    "instructions",
    "thinking",
)
"""Tags that models know from elsewhere: for blocks, tools and turns as rendered by endpoints."""

_OURS = re.compile(
    rf"<(?=\s*+/?+\s*+(?:(?:{'|'.join((*TAGS, *ENDPOINT_TAGS))})\b|antml:)"
    r"|\s*+\|\s*+\w++\s*+\|\s*+>|<\s*+/?+\s*+SYS)",  # <|im_start|>, <<SYS>>
    re.IGNORECASE,
)
# Characters invisible to readers of a page: controls other than tab and newline, zero-width and
# bidirectional controls, the tag block (used to smuggle instructions), and lone surrogates, which
# cannot be sent at all.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)
_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"[.!?] (?=\S)|[。！？](?=.)")
MARGIN = 12  # characters at the end of a snippet that may be part of a cut word


def clean(text: str) -> str:
    """Return text that is safe between our tags: without invisible characters and prompt tags."""
    visible = _UNSEEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _OURS.sub("&lt;", visible)


def line(text: str, limit: int) -> str:
    """Return cleaned text on one line, at most ``limit`` characters."""
    return shorten(_SPACE.sub(" ", clean(text)).strip(), limit)


def name(text: str, limit: int) -> str:
    """Return the cleaned label of a title, heading or name, at most ``limit`` characters."""
    return shorten(label(clean(text)), limit)


def title(url: str, text: str, limit: int) -> str:
    """Return the cleaned title of a page with the sign of its kind, or else its address."""
    return shorten(titled(url, clean(text)) or label(clean(url)), limit)


def person(called: str) -> str:
    """Return the name of a message's author, never that of Footnote itself."""
    shown = name(called, 200)
    return f"{shown} (a person)" if shown.casefold() == "footnote" else shown or "someone"


def cut_around(text: str, wanted: Mapping[str, float], limit: int) -> str:
    """Return at most ``limit`` characters of a text on one line: from its beginning, or from the
    sentence or word that is followed by the most wanted terms, by weight."""
    if len(text) <= limit:
        return text
    places = [
        (found.start() + (i if has_cjk(term) else 0), term)  # the terms of a CJK run are pairs
        for found in _WORD.finditer(text)
        for i, term in enumerate(terms(found.group()))
        if term in wanted
    ]

    def weight(start: int) -> float:
        there = {term for place, term in places if start <= place < start + limit - MARGIN}
        return sum(wanted[term] for term in there)

    sentences = [found.end() for found in _SENTENCE_END.finditer(text)]
    # The first of equals: the beginning, then the sentence nearest to the words.
    best = max([0, *reversed(sentences), *(place for place, _ in places)], key=weight)
    return shorten(f"…{text[best:]}" if best else text, limit)


def as_list(value: Any) -> list[Any]:
    """Return a value of a model's JSON as a list; a single value becomes a list of one."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def lines(value: Any, limit: int) -> tuple[str, ...]:
    """Return the strings of such a list, each on one line, without duplicates."""
    kept = (line(item, limit) for item in as_list(value) if isinstance(item, str))
    return tuple(dict.fromkeys(item for item in kept if item))


def attribute(text: str, limit: int = 200) -> str:
    """Return one line that can be used as an attribute value in double quotes."""
    kept = line(text, limit).replace('"', "'")
    return kept.replace("<", "‹").replace(">", "›")


def shorten(text: str, limit: int) -> str:
    """Return at most ``limit`` characters; an ellipsis marks a cut."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def middle_out(text: str, limit: int) -> str:
    """Return at most about ``limit`` characters: the beginning and the end, which usually contain
    the request."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half].rstrip()}\n[…]\n{text[-half:].lstrip()}"


def element(tag: str, body: str, **attributes: str | int) -> str:
    """Return ``<tag a="...">body</tag>``, with the (already cleaned) body on its own lines."""
    given = "".join(f' {name}="{attribute(str(value))}"' for name, value in attributes.items())
    return f"<{tag}{given}>\n{body}\n</{tag}>"


def site(url: str) -> str:
    """Return the host as people name it, or a local document's file name."""
    url = display_address(url)
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    return host or label(unquote(parts.path.rsplit("/", 1)[-1])) or url


def passage_lines(passages: Sequence[Passage]) -> str:
    """Render passages in page order: with headings where they change, and an ellipsis where text is
    omitted."""
    lines: list[str] = []
    heading, end = "", None
    for passage in passages:
        if passage.heading != heading:
            lines.append(f"§ {name(passage.heading, HEADING_PATH)}" if passage.heading else "§")
            heading = passage.heading
        elif end is not None and passage.start > end + 2:  # more than a line break is missing
            lines.append("[…]")
        lines.append(clean(passage.text).strip())
        end = passage.end
    return "\n".join(lines)
