"""Prompt caching as the API documents it: exact prefixes, breakpoints, a minimum, a lookback.

https://platform.claude.com/docs/en/build-with-claude/prompt-caching: the prefix is tools, then
system, then messages; each ``cache_control`` is a breakpoint; a cached entry is found at a
breakpoint or up to 20 blocks before it; below a minimum length nothing is cached and nothing is
said; changes to ``tool_choice`` and ``thinking`` keep tools and system but lose the messages; an
entry lives five minutes from its last use.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.claude_models import minimum_cacheable, unmarked
from tests.fakes.claude_replies import estimate
from tests.fakes.pictures import check_image, tokens_of

LOOKBACK = 20  # content blocks
LIFETIME = 300.0  # seconds
PER_MESSAGE = 4  # tokens a message costs besides its content


@dataclass(frozen=True, slots=True)
class Counted:
    """Input tokens of one request by what is paid for them."""

    fresh: int
    written: int
    read: int

    @property
    def total(self) -> int:
        return self.fresh + self.written + self.read

    def usage(self) -> dict[str, Any]:
        return {
            "input_tokens": self.fresh,
            "cache_creation_input_tokens": self.written,
            "cache_read_input_tokens": self.read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.written,
                "ephemeral_1h_input_tokens": 0,
            },
            "service_tier": "standard",
        }


@dataclass(slots=True)
class PromptCache:
    """The cache of one organisation. ``minimum`` in tokens (None: by model).

    ``clock`` in seconds.
    """

    minimum: int | None = None
    clock: Callable[[], float] = time.monotonic
    _entries: dict[bytes, float] = field(default_factory=dict)  # digest of a prefix → last use

    def count(self, request: Mapping[str, Any]) -> Counted:
        """Count a request's tokens and remember the prefixes it marks."""
        now = self.clock()
        minimum = self.minimum
        if minimum is None:
            minimum = minimum_cacheable(request["model"])
        digests: list[bytes] = []
        sums: list[int] = []
        marked: list[int] = []
        hasher = hashlib.sha256(str(request.get("model")).encode())
        total = 0
        for at, (content, tokens, breakpoint_here) in enumerate(_blocks(request)):
            hasher.update(content)
            total += tokens
            digests.append(hasher.digest())
            sums.append(total)
            if breakpoint_here:
                marked.append(at)
        found = -1
        for mark in marked:
            for at in range(mark, max(-1, mark - LOOKBACK), -1):
                used = self._entries.get(digests[at])
                if used is not None and now - used <= LIFETIME:
                    found = max(found, at)
                    break
        read = sums[found] if found >= 0 else 0
        if found >= 0:
            self._entries[digests[found]] = now
        written_to = read
        for mark in marked:
            if sums[mark] >= minimum:
                self._entries[digests[mark]] = now
                written_to = max(written_to, sums[mark])
        return Counted(fresh=total - written_to, written=written_to - read, read=read)


def _blocks(request: Mapping[str, Any]) -> Iterator[tuple[bytes, int, bool]]:
    """Each cacheable piece of the prefix in order: its exact content, its tokens, if it is marked.

    The request's top-level ``cache_control`` marks the last block.
    """
    pieces = list(_pieces(request))
    automatic = bool(request.get("cache_control"))
    for at, (place, block) in enumerate(pieces):
        marked = _marked(block) or (automatic and at == len(pieces) - 1)
        plain = json.dumps(unmarked(block), ensure_ascii=False, sort_keys=True)
        tokens = _tokens_of_image(block) or estimate(plain)
        tokens += PER_MESSAGE if place.endswith("/0") else 0
        yield f"\0{place}\0{plain}".encode("utf-8", "surrogatepass"), tokens, marked


def _tokens_of_image(block: Any) -> int:
    if not isinstance(block, Mapping) or block.get("type") != "image":
        return 0
    source = block["source"]
    return tokens_of(*check_image("image", source["media_type"], source["data"], 1))


def _pieces(request: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for tool in request.get("tools") or ():
        yield "tool", tool
    system = request.get("system")
    for block in [system] if isinstance(system, str) else system or ():
        yield "system", block
    settings = json.dumps([request.get("thinking"), request.get("tool_choice")], sort_keys=True)
    for number, message in enumerate(request["messages"]):
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for at, block in enumerate(blocks):
            yield f"{settings}/{message['role']}/{number}/{at}", block


def _marked(block: Any) -> bool:
    """A block is marked by itself or by any block inside it (a tool result's last one)."""
    if not isinstance(block, Mapping):
        return False
    inner = block.get("content")
    return bool(block.get("cache_control")) or (
        isinstance(inner, list) and any(_marked(part) for part in inner)
    )
