"""Replies that must be one JSON object: reading them, and asking once more when they are none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.reasoning.claude.messages import Block, said


@dataclass(frozen=True, slots=True)
class Unusable(Exception):
    """A reply that is not what was asked for; ``problem`` tells the model what is wrong."""

    problem: str


def json_object(content: Sequence[Block], stop_reason: str) -> dict[str, Any]:
    """The JSON object in a reply, whatever stands around it. Raises ``Unusable``."""
    if stop_reason == "max_tokens":
        raise Unusable("Your reply was cut off at the output limit. Be much shorter.")
    words = "".join(b.get("text", "") for b in content if b["type"] == "text")
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


def repair(first: dict[str, Any], content: Sequence[Block], problem: str) -> dict[str, Any]:
    """The request once more, with the unusable reply and what was wrong with it."""
    words = f"{problem} Reply with the one JSON object described above and nothing else."
    turn: list[Block] = [
        {"role": "assistant", "content": said([b for b in content if b["type"] == "text"])},
        {"role": "user", "content": words},
    ]
    return {**first, "messages": [*first["messages"], *turn]}
