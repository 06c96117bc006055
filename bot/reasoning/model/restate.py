"""Restating: the request that has sentences say only what their quotes say, and its reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot.reasoning.calls import ModelReply
from bot.reasoning.model.json_output import Unusable, json_object
from bot.reasoning.model.requests import Request, told
from bot.reasoning.model.text import clean, element, line, middle_out
from bot.reasoning.model.verify import SENTENCE, material
from bot.reasoning.prompts import load
from bot.reasoning.verdicts import Claim, Verdict

ANSWER = 6_000  # characters
TOKENS = 160  # of the reply for each sentence
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "sentences": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "sentence": {"type": "integer"},
                    "text": {"type": "string"},
                },
                "required": ["sentence", "text"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["sentences"],
    "additionalProperties": False,
}


def request(
    model: str, question: str, answer: str, claims: Sequence[Claim], verdicts: Sequence[Verdict]
) -> Request:
    """The request to restate claims of an answer (Markdown) that were not found supported, each
    with its verdict."""
    said = [
        {"verdict": verdict.judgement} | ({"words": verdict.words} if verdict.words else {})
        for verdict in verdicts
    ]
    context = element("answer", clean(middle_out(answer, ANSWER)).strip())
    asked = material(question, claims, said)
    return Request(
        model,
        200 + TOKENS * len(claims),
        load("restate"),
        told(f"{context}\n\n{asked}"),
        schema=SCHEMA,
    )


def restated(reply: ModelReply, claims: Sequence[Claim]) -> tuple[str, ...]:
    """Each claim in other words; "" where the quotes have none. Raises ``Unusable``."""
    given = json_object(reply).get("sentences")
    if not isinstance(given, list):
        raise Unusable('"sentences" must be a list.')
    found = [""] * len(claims)
    for item in given:
        number = item.get("sentence") if isinstance(item, dict) else None
        text = item.get("text") if isinstance(item, dict) else None
        if isinstance(number, int) and 1 <= number <= len(claims) and isinstance(text, str):
            found[number - 1] = line(text, SENTENCE)
    return tuple(found)
