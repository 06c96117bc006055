"""A streamed reply of the Messages API, put together again."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bot.errors import ModelBroken
from bot.reasoning.calls import Block, Citation, ModelReply, Text, Tokens, ToolCall
from bot.reasoning.model.requests import (
    Begins,
    Ends,
    Part,
    Said,
    sendable_text,
    tool_input,
)

if TYPE_CHECKING:
    from anthropic.types import RawMessageStreamEvent


class ClaudeCollector:
    """Takes the events of one reply. Implements ``model.service.Collector``."""

    def __init__(self) -> None:
        self.is_complete = False
        self._tokens = Tokens()
        self._model = ""
        self._geo = ""
        self._blocks: dict[int, dict[str, Any]] = {}
        self._citations: dict[int, list[Citation]] = {}
        self._written: dict[int, list[str]] = {}  # of blocks that are not closed yet
        self._stop_reason = ""
        self._stop_details: dict[str, Any] = {}

    def add(self, event: RawMessageStreamEvent) -> Iterator[Part]:
        """Take one event. Kinds of events and deltas that are not known are left out.

        Raises ``ModelBroken`` for an event that lacks what the API gives it.
        """
        try:
            yield from self._add(event)
        except (AttributeError, KeyError, TypeError) as error:
            raise ModelBroken(
                "The endpoint sent a reply that cannot be read: try again, or check "
                "ANTHROPIC_BASE_URL.",
                detail=f"{event.type}: {error}",
            ) from error

    def _add(self, event: RawMessageStreamEvent) -> Iterator[Part]:
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
                self._written[event.index] = []
                yield Begins(is_call=block["type"] == "tool_use")
                if block["type"] == "text" and block.get("text"):
                    yield Said(str(block["text"]))
            case "content_block_delta":
                yield from self._add_delta(event.index, event.delta)
            case "content_block_stop":
                self._close(event.index)
                yield Ends()
            case "message_delta":
                self._stop_reason = event.delta.stop_reason or ""
                if event.delta.stop_details is not None:
                    self._stop_details = event.delta.stop_details.to_dict()
                self._count(event.usage)
            case "message_stop":
                self.is_complete = True
            case _:
                pass

    def reply(self) -> ModelReply:
        """The reply; a block that was never closed is closed now."""
        for index in list(self._written):
            self._close(index)
        return ModelReply.of(
            self._model,
            [self._block(index) for index in sorted(self._blocks)],
            self._stop_reason,
            (self._tokens,),
            stop_details=self._stop_details,
            geo=self._geo,
        )

    def _add_delta(self, index: int, delta: Any) -> Iterator[Part]:
        block = self._blocks.get(index)
        if block is None:
            return
        match delta.type:
            case "text_delta":
                self._written[index].append(delta.text)
                yield Said(delta.text)
            case "thinking_delta":
                self._written[index].append(delta.thinking)
            case "input_json_delta":
                self._written[index].append(delta.partial_json)
            case "signature_delta":
                block["signature"] = delta.signature
            case "citations_delta":
                citation = _citation(delta.citation)
                if citation is not None:
                    self._citations.setdefault(index, []).append(citation)
                    yield citation
            case _:
                pass

    def _close(self, index: int) -> None:
        written = "".join(self._written.pop(index, ()))
        block = self._blocks.get(index)
        if block is None or not written:
            return
        match block["type"]:
            case "text":
                block["text"] = sendable_text(block.get("text", "") + written)
            case "thinking":
                block["thinking"] = block.get("thinking", "") + written
            case "tool_use":
                block["input"], block["unparsed"] = tool_input(written)
            case _:
                pass

    def _block(self, index: int) -> Block:
        block = self._blocks[index]
        match block["type"]:
            case "text":
                return Text(block.get("text", ""), tuple(self._citations.get(index, ())))
            case "tool_use":
                unparsed = block.get("unparsed", "")
                return ToolCall(block["id"], block["name"], block["input"], unparsed)
            case _:
                return block

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


def _citation(given: Any) -> Citation | None:
    """None for a kind that is not ours, or where an endpoint left something out."""
    try:
        return Citation(
            int(given.search_result_index),
            int(given.start_block_index),
            int(given.end_block_index),
            given.source or "",
            given.title,
            given.cited_text or "",
        )
    except (AttributeError, TypeError, ValueError):
        return None
