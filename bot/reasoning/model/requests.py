"""Requests to a model and its replies, as values independent of any SDK.

A request is written for a service with all features. Features that a service or a model lacks are
left out or put into words when the request is translated (``reasoning.claude``,
``reasoning.openai``), so that the request, which is the journal's key, does not depend on them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from bot.reasoning.calls import Block, Citation, ModelReply, Text, Tokens, ToolCall
from bot.reasoning.model.text import element

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
    system prompt for a service without citations.
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

    def as_json(self) -> dict[str, Any]:
        """Return the request as the journal's key, without the second system prompt."""
        given = asdict(self)
        del given["system_for_marks"]
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
