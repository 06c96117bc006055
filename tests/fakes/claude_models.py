"""Requirements of single models, and the ties of their thinking blocks to a conversation.

From platform.claude.com/docs, November 2026: models/sonnet-5-5/whats-new-sonnet-5-5 (no forced
tools, no ``disabled`` thinking, thinking blocks tied to the conversation, 512 tokens to cache),
models/opus-5-5 and models/fable-5-1 (thinking always on), build-with-claude/thinking and
build-with-claude/effort (which models know them), build-with-claude/prompt-caching (minimums).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

ALWAYS_THINKING = ("claude-opus-5-5", "claude-fable-5", "claude-mythos-5")
NO_ADAPTIVE = ("claude-haiku-4-5", "claude-sonnet-4-5", "claude-opus-4-5")
NO_EFFORT = ("claude-haiku-4-5", "claude-sonnet-4-5")
NO_FORCED_TOOLS = ("claude-sonnet-5-5", "claude-opus-5-5", "claude-fable-5-1", "claude-mythos-5-1")


class Wrong(Exception):
    """The request is refused with 400 and these words."""


def minimum_cacheable(model: str) -> int:
    """Tokens below which a prefix is not cached."""
    if model in ("claude-sonnet-5", "claude-opus-4-8") or model.startswith("claude-sonnet-4"):
        return 1024
    if model.startswith("claude-opus-4-7"):
        return 2048
    if model.startswith(("claude-opus-4", "claude-haiku-4")):
        return 4096
    return 512


def check_model(request: Mapping[str, Any]) -> None:
    """Raise ``Wrong`` if this model does not take such a request."""
    model = request["model"]
    thinking = (request.get("thinking") or {}).get("type")
    effort = (request.get("output_config") or {}).get("effort")
    choice = (request.get("tool_choice") or {}).get("type")
    if model.startswith(NO_FORCED_TOOLS) and choice in ("any", "tool"):
        raise Wrong('tool_choice: type "tool" and "any" are not supported for this model.')
    if thinking == "disabled" and model == "claude-sonnet-5-5":
        raise Wrong(
            'thinking: "disabled" is not supported for this model. '
            'To turn off up-front thinking, use {"type": "between_tools"}.'
        )
    if thinking in ("disabled", "between_tools") and model.startswith(ALWAYS_THINKING):
        raise Wrong("thinking: thinking cannot be turned off for this model.")
    if thinking == "between_tools" and model != "claude-sonnet-5-5":
        raise Wrong('thinking: "between_tools" is not supported for this model.')
    if thinking == "between_tools" and effort in ("xhigh", "max"):
        raise Wrong(f'thinking: "between_tools" cannot be used at effort "{effort}".')
    if thinking == "adaptive" and model.startswith(NO_ADAPTIVE):
        raise Wrong("adaptive thinking is not supported on this model")
    if effort and model.startswith(NO_EFFORT):
        raise Wrong("This model does not support the effort parameter.")


@dataclass(slots=True)
class Bindings:
    """The history of each thinking block when it was produced; it may not change afterwards."""

    _prefixes: dict[str, set[str]] = field(default_factory=dict)  # signature → prefix digests

    def remember(self, request: Mapping[str, Any], content: Sequence[Mapping[str, Any]]) -> None:
        """Bind the thinking blocks of a reply to the whole request that it answers."""
        for block in content:
            if block["type"] == "thinking":
                digest = _digest(request, len(request["messages"]))
                self._prefixes.setdefault(block["signature"], set()).add(digest)

    def check(self, request: Mapping[str, Any]) -> None:
        """Raise ``Wrong`` if a known thinking block has another history than it was born with."""
        for at, block in _thinking(request["messages"]):
            born = self._prefixes.get(block["signature"])
            if born is not None and _digest(request, at) not in born:
                raise Wrong(
                    f"messages.{at}: a `thinking` block cannot be used after the system prompt, "
                    "the tools or an earlier message have changed"
                )


def _thinking(messages: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for at, message in enumerate(messages):
        if message["role"] == "assistant" and not isinstance(message["content"], str):
            for block in message["content"]:
                if block["type"] == "thinking":
                    yield at, block


def _digest(request: Mapping[str, Any], messages: int) -> str:
    before = [request.get("system"), request.get("tools"), request["messages"][:messages]]
    return hashlib.sha256(json.dumps(unmarked(before), sort_keys=True).encode()).hexdigest()


def unmarked(value: Any) -> Any:
    """A copy without any ``cache_control``, which is no part of what the model reads."""
    if isinstance(value, Mapping):
        return {k: unmarked(v) for k, v in value.items() if k != "cache_control"}
    if isinstance(value, list):
        return [unmarked(v) for v in value]
    return value
