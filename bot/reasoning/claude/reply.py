"""A streamed reply put together again: content blocks as JSON, stop reason, tokens."""

from __future__ import annotations

import json
import secrets
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bot.errors import ModelBroken
from bot.reasoning.calls import ModelReply, Tokens
from bot.reasoning.claude.messages import UNPARSED, Block

if TYPE_CHECKING:
    from anthropic.types import RawMessageStreamEvent

LONGEST_UNPARSED = 500  # characters of a malformed tool input that are kept for the record


class Collector:
    """Takes the events of one reply. ``after`` is the collector of an attempt that was cut off or
    came to nothing: what the API counted for it, and for those before it, is not forgotten."""

    def __init__(self, after: Collector | None = None) -> None:
        self._cut = after.counted if after is not None else ()
        self._tokens = Tokens()
        self._model = after.model if after is not None else ""
        self._geo = ""
        self._blocks: dict[int, Block] = {}
        self._parts: dict[int, list[str]] = {}
        self._stop_reason = ""
        self._stop_details: dict[str, Any] = {}

    @property
    def counted(self) -> tuple[Tokens, ...]:
        """The tokens counted so far, attempt by attempt; those that counted none are left out."""
        return (*self._cut, self._tokens) if self._tokens != Tokens() else self._cut

    @property
    def model(self) -> str:
        return self._model

    def add(self, event: RawMessageStreamEvent) -> None:
        """Take one event. Kinds of events and deltas that are not known are left out.

        Raises ``ModelBroken`` for an event that lacks what the API gives it.
        """
        try:
            self._add(event)
        except (AttributeError, KeyError, TypeError) as error:
            raise ModelBroken(
                "The endpoint sent a reply that cannot be read: try again, or check "
                "ANTHROPIC_BASE_URL.",
                detail=f"{event.type}: {error}",
            ) from error

    def _add(self, event: RawMessageStreamEvent) -> None:
        match event.type:
            case "message_start":
                self._model = event.message.model
                self._geo = event.message.usage.inference_geo or ""
                # Only here are cache writes told apart by how long they are kept.
                kept = event.message.usage.cache_creation
                if kept is not None:
                    hour = kept.ephemeral_1h_input_tokens or 0
                    self._tokens = replace(self._tokens, hour_write=hour)
                self._count(event.message.usage)
            case "content_block_start":
                block = {k: v for k, v in event.content_block.to_dict().items() if v is not None}
                if block["type"] == "tool_use":
                    # Not every endpoint names its calls; the answer has to.
                    block.setdefault("id", f"toolu_{secrets.token_hex(12)}")
                    block.setdefault("name", "")
                    block.setdefault("input", {})
                self._blocks[event.index] = block
                self._parts[event.index] = []
            case "content_block_delta":
                self._add_delta(event.index, event.delta)
            case "content_block_stop":
                self._close(event.index)
            case "message_delta":
                self._stop_reason = event.delta.stop_reason or ""
                if event.delta.stop_details is not None:
                    self._stop_details = event.delta.stop_details.to_dict()
                self._count(event.usage)
            case _:
                pass

    def reply(self) -> ModelReply:
        """The reply; a block that was never closed is closed now."""
        for index in list(self._parts):
            self._close(index)
        attempts = (*self._cut, self._tokens)
        return ModelReply(
            model=self._model,
            content=[self._blocks[index] for index in sorted(self._blocks)],
            stop_reason=self._stop_reason,
            input_tokens=sum(tokens.input for tokens in attempts),
            output_tokens=sum(tokens.output for tokens in attempts),
            cache_read_tokens=sum(tokens.cache_read for tokens in attempts),
            cache_write_tokens=sum(tokens.cache_write for tokens in attempts),
            stop_details=self._stop_details,
            hour_write_tokens=sum(tokens.hour_write for tokens in attempts),
            cut=self._cut,
            geo=self._geo,
        )

    def _add_delta(self, index: int, delta: Any) -> None:
        block = self._blocks.get(index)
        if block is None:
            return
        match delta.type:
            case "text_delta":
                self._parts[index].append(delta.text)
            case "thinking_delta":
                self._parts[index].append(delta.thinking)
            case "input_json_delta":
                self._parts[index].append(delta.partial_json)
            case "signature_delta":
                block["signature"] = delta.signature
            case "citations_delta":
                block.setdefault("citations", []).append(delta.citation.to_dict())
            case _:
                pass

    def _close(self, index: int) -> None:
        written = "".join(self._parts.pop(index, ()))
        block = self._blocks.get(index)
        if block is None or not written:
            return
        match block["type"]:
            case "text":
                block["text"] = _sendable(block.get("text", "") + written)
            case "thinking":
                block["thinking"] = block.get("thinking", "") + written
            case "tool_use":
                block |= _tool_input(written)
            case _:
                pass

    def _count(self, usage: Any) -> None:
        """Counts are cumulative: a later one replaces an earlier one; an absent one does not."""
        counted = {
            "input": usage.input_tokens,
            "output": usage.output_tokens,
            "cache_read": usage.cache_read_input_tokens,
            "cache_write": usage.cache_creation_input_tokens,
        }
        self._tokens = replace(
            self._tokens, **{name: n for name, n in counted.items() if n is not None}
        )


def _tool_input(written: str) -> Block:
    """The input of a call as far as it can be read; else it is kept aside, and empty."""
    try:
        value = json.loads(_sendable(written))
    except (ValueError, RecursionError):  # no JSON, or deeper than any tool's input
        value = None
    if isinstance(value, dict):
        return {"input": value}
    return {"input": {}, UNPARSED: written[:LONGEST_UNPARSED]}


def _sendable(text: str) -> str:
    """Without lone surrogates, which could not be sent back."""
    return text.encode("utf-8", "replace").decode("utf-8")
