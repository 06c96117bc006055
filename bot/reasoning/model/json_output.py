"""Replies that must be one JSON object: reading them, and asking once more when they are none."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from bot.reasoning.calls import ModelReply, Text
from bot.reasoning.model.requests import ModelTurn, Request, sendable, told


@dataclass(frozen=True, slots=True)
class Unusable(Exception):
    """A reply that is not what was asked for; ``problem`` tells the model what is wrong."""

    problem: str


def json_object(reply: ModelReply) -> dict[str, Any]:
    """The JSON object in a reply, whatever stands around it. Raises ``Unusable``."""
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


def repair(first: Request, reply: ModelReply, problem: str) -> Request:
    """The request once more, with the unusable reply and what was wrong with it."""
    words = f"{problem} Reply with the one JSON object described above and nothing else."
    said = ModelTurn(sendable(tuple(b for b in reply.content if isinstance(b, Text))))
    return replace(first, turns=(*first.turns, said, *told(words)))
