"""Comparing two versions of sentences, which differ in words only: the request and its reply."""

from __future__ import annotations

from typing import Any

from bot.reasoning.calls import ModelReply
from bot.reasoning.model.requests import Request, Unusable, json_object, told
from bot.reasoning.model.text import clean, element, middle_out
from bot.reasoning.prompts import load
from bot.reasoning.reasoner import Pairs

QUESTION = 2_000  # characters
SENTENCE = 2_000  # characters
TOKENS = 30  # of the reply for each pair
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "pairs": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"pair": {"type": "integer"}, "same": {"type": "boolean"}},
                "required": ["pair", "same"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["pairs"],
    "additionalProperties": False,
}


def request(model: str, question: str, pairs: Pairs) -> Request:
    """The request to compare an earlier and a present sentence of each pair."""
    parts = [element("question", clean(middle_out(question, QUESTION)).strip())]
    for number, versions in enumerate(pairs, start=1):
        before, now = (clean(middle_out(one, SENTENCE)).strip() for one in versions)
        both = f"{element('before', before)}\n{element('now', now)}"
        parts.append(element("pair", both, number=number))
    return Request(
        model,
        200 + TOKENS * len(pairs),
        load("compare"),
        told("\n\n".join(parts)),
        schema=SCHEMA,
    )


def same(reply: ModelReply, count: int) -> tuple[bool | None, ...]:
    """True for each of ``count`` pairs whose sentences say the same; None where the reply does not
    say, or says both."""
    said: list[set[bool]] = [set() for _ in range(count)]
    for item in _given(reply):
        number, verdict = item.get("pair"), item.get("same")
        if type(number) is int and 1 <= number <= count and isinstance(verdict, bool):
            said[number - 1].add(verdict)
    return tuple(one.pop() if len(one) == 1 else None for one in said)


def _given(reply: ModelReply) -> list[dict[str, Any]]:
    """The objects of the reply's list; none if it is not in the form asked for."""
    try:
        given = json_object(reply).get("pairs")
    except Unusable:
        return []
    return [item for item in given if isinstance(item, dict)] if isinstance(given, list) else []
